#!/bin/sh
# Runs 'mqttv5 bench' for a time, which is all that can be asked of it: it knows no number of
# messages. Says how many it published, or received if it counts more of those, and fails if that is
# more than so many: ours then did less than it.
#
#   mqttv5.sh MESSAGES HOST PORT SECONDS
set -eu

said=$(mqttv5 bench --mode throughput --warmup 0 --duration "$4" --publishers 1 --subscribers 1 \
    --payload-size 16 --qos 0 --host "$2" --port "$3" 2>/dev/null)
most=$(echo "$said" |
    sed -nE 's/^ *"(published|received)": *([0-9]+),*$/\2/p' | sort -n | tail -n 1)
echo "${most:?mqttv5 did not say how many it published}"
[ "$most" -le "$1" ]
