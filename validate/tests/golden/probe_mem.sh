# npusim probe l2, latency, stream: over a memory of fixed latency, so that the numbers are those of the configuration.
. validate/tests/golden/common
fixed="dram.kind=fixed"
small="l2.size=1 MiB"
try probe latency -c $CONFIG --set $fixed --set "$small" --set l2.victim=256KiB --largest 4MiB --samples 500
try probe l2 -c $CONFIG --set $fixed --set "$small" --set l2.policy=drrip --largest 2MiB --format csv
try probe stream -c $CONFIG --set $fixed --set "$small" --largest 16MiB --format json
try probe l2 -c $CONFIG --set l2.size=0
try probe latency -c $CONFIG --tile 3000B
try probe stream -c $CONFIG --largest 12
try probe latency
