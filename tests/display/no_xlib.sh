#!/bin/sh
# no_xlib.sh CORE ADAPTER: the core, and so a wake, calls no function of Xlib or XCB.  The adapter
# does: that proves that this looks in the right place.
command -v nm >/dev/null || { echo "SKIP: no nm"; exit 77; }
calls() {
	nm -u "$1" | grep -E '^ +U (_?X[A-Z]|xcb_)'
}
if calls "$1"; then
	echo "$1 calls these"
	exit 1
fi
calls "$2" >/dev/null || { echo "$2 should call Xlib and does not"; exit 1; }
