# tier: nightly
# The commands of README.md as they stand.
README=whole
. validate/tests/golden/readme.sh
