#!/bin/sh
# mingw-cmocka.sh DIRECTORY [PROCESSOR]: cmocka for Windows, in DIRECTORY/include and DIRECTORY/lib.
#
# Debian has none to install, but it has the source: apt fetches and checks that, by lists of its
# own below DIRECTORY, so that it matters neither whether the system's lists name sources nor who
# runs this.  Built once.  Another one's source archive is taken where ROUSE_CMOCKA_SOURCE names it.
# 1: it cannot be had here, and says why.
set -eu
directory=$1
processor=${2-x86_64}
toolchain=$(cd "$(dirname "$0")/../cmake" && pwd)/mingw-$processor.cmake

[ ! -f "$directory/lib/libcmocka.a" ] || exit 0
mkdir -p "$directory"
directory=$(cd "$directory" && pwd)
work=$directory/work
log=$directory/log
rm -rf "$work"
: >"$log"

fail() {
	echo "mingw-cmocka.sh: $*; see $log, which ends with" >&2
	tail -n 5 "$log" >&2
	exit 1
}

apt() {
	DEBIAN_FRONTEND=noninteractive apt-get -q -o "Dir::Etc::SourceList=$work/sources/sources.list" \
		-o "Dir::Etc::SourceParts=$work/sources" -o "Dir::State::Lists=$work/lists" \
		-o "Dir::Cache=$work/cache" -o Acquire::Retries=2 -o Acquire::http::Timeout=20 \
		-o Acquire::https::Timeout=20 -o Acquire::Languages=none -o APT::Sandbox::User=root "$@" \
		>>"$log" 2>&1 </dev/null
}

fetch() {
	command -v apt-get >/dev/null 2>&1 ||
		fail "no apt-get to fetch cmocka's source with (ROUSE_CMOCKA_SOURCE=ARCHIVE brings one)"
	mkdir -p "$work/sources" "$work/lists/partial" "$work/cache/archives/partial"
	# Wherever packages come from here, their sources do, too.
	for list in /etc/apt/sources.list /etc/apt/sources.list.d/*.list; do
		[ ! -f "$list" ] || sed -n 's/^deb[[:space:]]/deb-src /p' "$list"
	done >"$work/sources/sources.list"
	for list in /etc/apt/sources.list.d/*.sources; do
		[ ! -f "$list" ] || sed 's/^Types:.*/Types: deb-src/' "$list" >"$work/sources/$(basename "$list")"
	done
	# Lists that cannot be had are no error of apt's; that no source is in them is one.
	apt update && (cd "$work" && apt source --download-only cmocka) ||
		fail "cmocka's source could not be fetched: no network, or no such package"
	find "$work" -maxdepth 1 -name 'cmocka_*.orig.tar.?z'
}

archive=${ROUSE_CMOCKA_SOURCE-}
mkdir -p "$work/source"
[ "$archive" ] || archive=$(fetch) || exit 1
tar -xf "$archive" -C "$work/source" --strip-components=1 >>"$log" 2>&1 || fail "$archive is no archive"
{
	cmake -S "$work/source" -B "$work/build" -G Ninja -DCMAKE_TOOLCHAIN_FILE="$toolchain" \
		-DCMAKE_BUILD_TYPE=Release -DWITH_STATIC_LIB=ON -DWITH_EXAMPLES=OFF -DUNIT_TESTING=OFF &&
		cmake --build "$work/build"
} >>"$log" 2>&1 || fail "cmocka could not be built"
mkdir -p "$directory/include" "$directory/lib"
cp "$work"/source/include/cmocka*.h "$directory/include"
cp "$(find "$work/build" -name "*cmocka*.a" ! -name "*.dll.a")" "$directory/lib/libcmocka.a"
rm -rf "$work"
