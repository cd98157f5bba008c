#!/bin/sh
# The smallest learner in shell. Each iteration reads the weights, writes a gradient of ones, and calls fsync.
# Usage: learner.sh DIR/model ITERATIONS
set -eu
[ $# = 2 ] && [ "$2" -ge 1 ] || { echo "usage: $0 DIR/model ITERATIONS" >&2; exit 2; }

size=$(stat -c %s "$1")
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
printf '\000\000\200\077' >"$work/gradient" # the float32 1, little endian
while [ "$(stat -c %s "$work/gradient")" -lt "$size" ]; do
    cat "$work/gradient" "$work/gradient" >"$work/twice"
    mv "$work/twice" "$work/gradient"
done
truncate -s "$size" "$work/gradient"

# A learner takes part in the training as long as it has the model open for writing, so descriptor 3 stays open.
exec 3<>"$1"
iteration=1
while [ $iteration -le "$2" ]; do
    dd if="$1" of="$work/weights" bs=1M status=none
    dd if="$work/gradient" of="$1" bs=1M conv=fsync,notrunc status=none
    echo "$iteration: the first weight was $(od -An -tf4 -N4 "$work/weights" | tr -d ' ')"
    iteration=$((iteration + 1))
done
