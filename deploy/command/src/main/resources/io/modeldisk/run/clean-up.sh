#!/bin/sh
# Ends what `modeldisk run` has started, and removes its directory. Usage: clean-up DIRECTORY. Waits until the standard input ends,
# which is when `run` closes it or is killed. With the line "keep", ends only the learners.
directory=$1
trap '' INT TERM HUP
keep=
while read -r line; do
    [ "$line" != keep ] || keep=yes
done

# Prints the IDs of the processes that have this value of MODELDISK_RUN in their environment: also the children of learners.
members() {
    grep -lszxF "MODELDISK_RUN=$1" /proc/[0-9]*/environ | cut -d/ -f3
}

# Asks these processes to end, each once, and kills those that are left after this number of tenths of a second.
end() {
    tenths=$2 asked=' '
    while pids=$(members "$1") && [ -n "$pids" ] && [ "$tenths" -gt 0 ]; do
        for pid in $pids; do
            case $asked in
                *" $pid "*) ;;
                *) kill "$pid" 2>/dev/null; asked="$asked$pid " ;;
            esac
        done
        sleep 0.1
        tenths=$((tenths - 1))
    done
    [ -z "$pids" ] || kill -9 $pids 2>/dev/null
}

end "$directory" 50
[ -z "$keep" ] || exit 0
end "$directory/mounts" 100
for mount in "$directory"/mount-*; do
    fusermount3 -u -z "$mount" 2>/dev/null || umount -l "$mount" 2>/dev/null
done
# Learners that waited for a mount end only now.
end "$directory" 20
end "$directory/shards" 200
rm -rf --one-file-system "$directory"
