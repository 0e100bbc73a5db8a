#!/bin/sh
# Instructions per operation: a counted run of many less one of few, by valgrind's callgrind.
#   instructions.sh path/to/operations
set -eu

program=$1
few=1000
many=11000

command -v valgrind >/dev/null || { echo "instructions.sh: install valgrind" >&2; exit 1; }

count() {
	valgrind --tool=callgrind --callgrind-out-file=/dev/null "$program" "$1" "$2" 2>&1 |
		sed -n 's/.*Collected : \([0-9]*\).*/\1/p'
}

printf '%-14s %s\n' operation instructions
for operation in $("$program" --list); do
	a=$(count "$operation" $few)
	b=$(count "$operation" $many)
	n=$(((b - a) / (many - few)))
	case $operation in
	timer-insert | timer-cancel) printf '%-14s %6d   inserted and removed\n' "$operation" "$n" ;;
	*) printf '%-14s %6d\n' "$operation" "$n" ;;
	esac
done
