#!/bin/sh
# flakes.sh BUILD TIMES [LOAD]: the fast suite so many times, but for the checks of the source and of
# the installation, as many tests at a time as there are processors, beside LOAD processes that only
# burn time.  One line per failure; the status is 1 if there was any.
set -u
if [ $# -lt 2 ]; then
	sed -n '2,4s/^# //p' "$0" >&2
	exit 2
fi
build=$1
times=$2
load=${3:-0}
jobs=$(nproc 2>/dev/null || echo 2)
log=$(mktemp)
burners=
i=0
while [ "$i" -lt "$load" ]; do
	sh -c 'while :; do :; done' &
	burners="$burners $!"
	i=$((i + 1))
done
trap 'kill $burners 2>/dev/null; rm -f "$log"' EXIT
trap 'exit 130' INT TERM

failed=0
i=0
while [ "$i" -lt "$times" ]; do
	i=$((i + 1))
	if ! ctest --test-dir "$build" -L fast -LE 'house|consumer' -j "$jobs" --output-on-failure >"$log" 2>&1; then
		failed=$((failed + 1))
		sed -n "/tests FAILED/,/^Errors/{/([A-Z]/p;}" "$log" | sed "s/^/run $i: /"
		cp "$log" "$build/flake-$i.log"
	fi
done
echo "$times runs beside $load burners: $failed failed"
[ "$failed" -eq 0 ]
