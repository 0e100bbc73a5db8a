#!/bin/sh
# wine.sh PROGRAM [ARGUMENT...]: run a Windows program by wine, in a prefix of the build's own.
#
# The prefix is made by the first one that comes, once, and with all three standard streams
# redirected: a first wine process starts services, and those that inherit a pipe as their standard
# output keep its reader waiting for ever.  Windows are drawn nowhere (the null driver), unless
# ROUSE_WINE_DISPLAY names an X display.  A program that crashes ends; it asks nobody.
set -u

WINEPREFIX=${ROUSE_WINE_PREFIX-$(cd "$(dirname "$0")/.." && pwd)/build/wine}
export WINEPREFIX
export WINEDEBUG="${WINEDEBUG--all}" WINEDLLOVERRIDES="mscoree,mshtml=,winedbg.exe="
unset DISPLAY
graphics=null
if [ "${ROUSE_WINE_DISPLAY-}" ]; then
	DISPLAY=$ROUSE_WINE_DISPLAY
	WINEPREFIX=$WINEPREFIX-x11
	graphics=x11
	export DISPLAY
fi

make_prefix() {
	rm -rf "$WINEPREFIX"
	mkdir -p "$WINEPREFIX" &&
		wine reg add 'HKCU\Software\Wine\Drivers' /v Graphics /d "$graphics" /f &&
		wine reg add 'HKCU\Software\Wine\X11 Driver' /v Managed /d N /f &&
		wineserver -w && touch "$WINEPREFIX/rouse-made"
}

if [ ! -f "$WINEPREFIX/rouse-made" ]; then
	mkdir -p "$(dirname "$WINEPREFIX")"
	(
		flock 9
		[ -f "$WINEPREFIX/rouse-made" ] || make_prefix
	) 9>"$WINEPREFIX.lock" >"$WINEPREFIX.log" 2>&1 </dev/null || {
		echo "wine.sh: no prefix could be made, see $WINEPREFIX.log" >&2
		exit 1
	}
fi
exec wine "$@"
