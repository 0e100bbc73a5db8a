#!/bin/sh
# with_display.sh MODE PROGRAM...: every contract on one mode, beside a compositor that is running.
mode=$1
shift
failed=
for program; do
	"$program" "$mode" >/dev/null 2>"${TMPDIR:-/tmp}/rouse-contract-$$" || {
		failed="$failed ${program##*/}"
		cat "${TMPDIR:-/tmp}/rouse-contract-$$"
	}
	rm -f "${TMPDIR:-/tmp}/rouse-contract-$$"
done
[ -z "$failed" ] || echo "on $mode:$failed"
[ -z "$failed" ]
