#!/bin/sh
# no_xlib.sh CORE ADAPTER...: the core, and so a wake, calls no function of Xlib or XCB.  The
# adapters do: that proves that this looks in the right place.
command -v nm >/dev/null || { echo "SKIP: no nm"; exit 77; }
calls() {
	nm -u "$1" | grep -E '^ +U (_?X[A-Z]|xcb_)'
}
core=$1
shift
if calls "$core"; then
	echo "$core calls these"
	exit 1
fi
for adapter; do
	calls "$adapter" >/dev/null || { echo "$adapter should call X and does not"; exit 1; }
	# rouse-xcb needs no Xlib.
	case ${adapter##*/} in *xcb*)
		if nm -u "$adapter" | grep -E '^ +U _?X[A-Z]'; then
			echo "$adapter calls these"
			exit 1
		fi
		;;
	esac
done
