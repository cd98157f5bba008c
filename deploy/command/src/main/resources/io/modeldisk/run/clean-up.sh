#!/bin/sh
# Ends what `modeldisk run` has started, and removes its directory. Usage: clean-up DIRECTORY SECONDS. Waits until the standard
# input ends, which is when `run` closes it or is killed. Its lines are: "KIND PID START", a process that runs in a session of its
# own, with its start time; "keep", after which only the learners are ended. SECONDS is how long a shard may take to stop, such as
# for its last checkpoint. Prints the last lines of the logs of shards with a state.
directory=$1
patience=$2
trap '' INT TERM HUP
keep=
sessions=
while read -r kind pid start; do
    case $kind in
        keep) keep=yes ;;
        *) sessions="$sessions$kind $pid $start
" ;;
    esac
done

# Prints the IDs of the processes of a kind: learners, mounts or shards, and their children. Most have MODELDISK_RUN in their
# environment. Some programs overwrite or drop their environment, so the sessions count too.
members() {
    case $1 in
        learners) value=$directory ;;
        *) value=$directory/$1 ;;
    esac
    {
        grep -lszxF "MODELDISK_RUN=$value" /proc/[0-9]*/environ | cut -d/ -f3
        # After the name in parentheses, a line of stat has the state, the parent, the group, the session; the 20th is the start.
        { printf '%s--\n' "$sessions"; cat /proc/[0-9]*/stat 2>/dev/null; } | awk -v kind="$1" '
            $1 == "--" { stats = 1; next }
            !stats { if ($1 == kind) start[$2] = $3; next }
            { pid = $1; sub(/.*\) /, ""); if ($1 != "Z") { session[pid] = $4; began[pid] = $20 } }
            END {
                for (pid in session) {
                    leader = session[pid]
                    if (leader in start && (!(leader in began) || began[leader] == start[leader])) print pid
                }
            }'
    } | sort -u
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

end learners 50
[ -z "$keep" ] || exit 0
end mounts 100
for mount in "$directory"/mount-*; do
    fusermount3 -u -z "$mount" 2>/dev/null || umount -l "$mount" 2>/dev/null
done
# Learners that were blocked in a call to their mount can end only now.
end learners 20
end shards "$((patience * 10))"
[ "$patience" -le 20 ] || tail -qn 3 "$directory"/shard-*.log | grep -v '^WARNING: Using incubator modules'
rm -rf --one-file-system "$directory"
