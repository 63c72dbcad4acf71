# Kernels whose ids are no operators' (Kineto of 2022 and 2023): said at the import, linked by nesting, each link shown.
# figures: shown
. validate/tests/golden/common
try trace import validate/tests/data/kineto/old_ids.json -o "$TMP/t.db"
try trace ops "$TMP/t.db" --all
"$NPUSIM" trace ops "$TMP/t.db" --all --format json | sed -n '/kernel_links/,/}/p; /"link":/p'
