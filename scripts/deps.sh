#!/bin/sh
# deps.sh TIER: install what a tier needs and is not there yet.
#
#   build   the libraries, the command rouse, and what `rouse bench` runs on
#   test    + the tests of the core and the displays
#   all     + sanitizers' compilers, lld, valgrind, gcovr, spin, the format and lint tools, GNUstep, the
#           window libraries, the loops that ours is a guest of, and mingw-w64 and wine
#
# Each need is "package|probe": what answers the probe is not installed again, so a compiler or
# a CMake of your own is as good as the distribution's.  Nothing missing: apt is not called.
set -eu

build_needs='
gcc|command cc
libc6-dev|header stdio.h
cmake|command cmake
ninja-build|command ninja
pkg-config|command pkg-config
libx11-dev|module x11
libx11-xcb-dev|module x11-xcb
libxcb1-dev|module xcb
libxtst-dev|module xtst
libwayland-dev|module wayland-client
wayland-protocols|module wayland-protocols
libjansson-dev|module jansson
xvfb|command Xvfb
weston|command weston
'
test_needs='
g++|command c++
libcmocka-dev|module cmocka
python3|command python3
procps|command ps
strace|command strace
'
all_needs='
clang|command clang
lld|command ld.lld
clang-format|command clang-format
clang-tidy|command clang-tidy
gcovr|command gcovr
spin|command spin
valgrind|command valgrind
libc6-dbg|package libc6-dbg
gobjc|package gobjc
libgnustep-base-dev|package libgnustep-base-dev
libgnustep-gui-dev|package libgnustep-gui-dev
gnustep-back0.29-cairo|package gnustep-back0.29-cairo
libgtk-4-dev|module gtk4
libglfw3-dev|module glfw3
libsdl2-dev|module sdl2
sway|command sway
libuv1-dev|module libuv
qt6-base-dev|module Qt6Widgets
qt6-wayland|package qt6-wayland
libev-dev|header ev.h
libevent-dev|module libevent
libsystemd-dev|module libsystemd
libapr1-dev|module apr-1
libtalloc-dev|module talloc
libglib2.0-dev|module glib-2.0
gcc-mingw-w64-x86-64|command x86_64-w64-mingw32-gcc
gcc-mingw-w64-i686|command i686-w64-mingw32-gcc
wine|command wine
wine64|package wine64
'

have() {
	case $1 in
	command) command -v "$2" >/dev/null 2>&1 ;;
	header) echo "#include <$2>" | cc -E - >/dev/null 2>&1 ;;
	module) pkg-config --exists "$2" 2>/dev/null ;;
	# What only Debian needs apart: elsewhere it comes with the C library.
	package)
		! command -v dpkg-query >/dev/null 2>&1 ||
			dpkg-query -W -f '${Status}' "$2" 2>/dev/null | grep -q 'ok installed'
		;;
	esac
}

case ${1-} in
build) needs=$build_needs ;;
test) needs=$build_needs$test_needs ;;
all) needs=$build_needs$test_needs$all_needs ;;
*)
	echo "usage: $0 build|test|all" >&2
	exit 2
	;;
esac

missing=
for need in $(echo "$needs" | tr ' ' :); do
	probe=${need#*|}
	have "${probe%%:*}" "${probe#*:}" || missing="$missing ${need%%|*}"
done
[ "$missing" ] || exit 0

system=$(. /etc/os-release 2>/dev/null && echo "${ID-} ${ID_LIKE-}" || uname -s)
case " $system " in
*" debian "* | *" ubuntu "*) ;;
*)
	cat >&2 <<-EOF
		rouse: something is missing, and this script knows Debian and Ubuntu only.
		Please install what these Debian packages hold, and try again:
		$(printf '  %s\n' $missing)
	EOF
	exit 1
	;;
esac

as_root=
if [ "$(id -u)" -ne 0 ]; then
	if [ -t 0 ]; then as_root='sudo'; else as_root='sudo -n'; fi
	if ! command -v sudo >/dev/null 2>&1; then
		echo "rouse: neither root nor sudo.  As root, please run:" >&2
		echo "  apt-get install --no-install-recommends$missing" >&2
		exit 1
	fi
fi

run() {
	echo "+ $*"
	"$@" </dev/null
}
apt='env DEBIAN_FRONTEND=noninteractive apt-get -q'
install() {
	run $as_root $apt install -y --no-install-recommends $missing
}

update() {
	run $as_root $apt update
}

# Lists may be missing (a fresh image) or too old to find the files that they name.
if ! ls /var/lib/apt/lists/*_Packages* >/dev/null 2>&1; then
	update
	install
else
	install || { update && install; }
fi
