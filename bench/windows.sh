#!/bin/sh
# windows.sh BENCH_WINDOWS: the system calls that one wake costs in the process, by strace: 300 wakes
# more, and what they made more.  The bench's own sleeps and semaphores are left out.
set -eu
log=$(mktemp)
trap 'rm -f "$log"' EXIT

calls() { # ROW COUNT
	strace -f -qq -e signal=none -o "$log" "$1" "$2" "$3"
	grep -vc -e 'resumed>' -e 'nanosleep(' -e 'futex(' -e '+++' "$log"
}

for row in rouse glfw-rouse glfw-own sdl-rouse sdl-push sdl-own sdl-no-window; do
	few=$(calls "$1" $row 100)
	many=$(calls "$1" $row 400)
	awk -v row=$row -v few="$few" -v many="$many" \
		'BEGIN { printf "%-16s %6.1f\n", row, (many - few) / 300 }'
done
