# It answers in all formats, refuses what it does not know, and help, manual page and completion have it.
prints 'edge *4' cores edge --set cores=4
prints '"cores": 7' cores edge --set cores=7 --format json
prints '^edge,4$' cores edge --format csv
refuses 'sets' cores edge --sets cores=4
refuses "did you mean 'cores'" core edge
prints 'how many cores machines have' help
prints 'usage: npusim cores CONFIG' help cores
prints 'npusim cores' man
prints '^cores' completion query -- cor
prints '^--format' completion query -- cores --for
