#!/bin/sh
# glfw-wayland.sh FOLDER: put there the libglfw.so.3 that Debian and Ubuntu build for Wayland.
#
# GLFW 3.3 is built for one platform, and the packages for the two conflict.  The tests need both:
# one is installed, the other one unpacked here, and found by LD_LIBRARY_PATH.  Exits with 77 where
# there is no such package.
set -eu
folder=$1

[ ! -e "$folder/libglfw.so.3" ] || exit 0
if pkg-config --atleast-version=3.4 glfw3; then
	echo "glfw-wayland.sh: this GLFW has both platforms"
	exit 0
fi
if ! command -v apt-get >/dev/null 2>&1 || ! command -v dpkg-deb >/dev/null 2>&1; then
	echo "glfw-wayland.sh: SKIP: this script knows Debian and Ubuntu only" >&2
	exit 77
fi

mkdir -p "$folder"
folder=$(cd "$folder" && pwd)
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
# apt fetches as a user of its own, where it may write.
chmod 755 "$work"
if [ "$(id -u)" -eq 0 ]; then chown _apt "$work" 2>/dev/null || true; fi
cd "$work"
fetch() {
	apt-get -q download libglfw3-wayland </dev/null
}
fetch || { [ "$(id -u)" -eq 0 ] && apt-get -q update </dev/null && fetch; }
dpkg-deb -x libglfw3-wayland_*.deb .
cp -P usr/lib/*/libglfw.so.3* "$folder"
