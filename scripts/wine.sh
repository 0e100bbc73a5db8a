#!/bin/sh
# wine.sh PROGRAM [ARGUMENT...]: run a Windows program by wine, in a prefix of the build's own.
#
# The prefix is made by the first one that comes, once.  A first wine process starts services, and a
# reader of the pipe that they inherit as their standard output waits until they end: so a process
# without any goes first, and the services stay for a minute after the last one.  Windows are drawn nowhere (the null driver), unless
# ROUSE_WINE_DISPLAY names an X display.  A program that crashes ends; it asks nobody.  Without wine:
# 77, which ctest counts as skipped.
set -u
command -v wine >/dev/null 2>&1 || {
	echo "SKIP: no wine"
	exit 77
}

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

warm_up() {
	wineserver -k0 || { wineserver -p60 && wine cmd /c exit; }
}

# Who comes second waits for the first; what is started does not hold the lock.
mkdir -p "$(dirname "$WINEPREFIX")"
(
	flock 9
	{
		[ -f "$WINEPREFIX/rouse-made" ] || make_prefix
	} 9>&- && warm_up 9>&-
) 9>"$WINEPREFIX.lock" >"$WINEPREFIX.log" 2>&1 </dev/null || {
	echo "wine.sh: no prefix could be made, see $WINEPREFIX.log" >&2
	exit 1
}
exec wine "$@"
