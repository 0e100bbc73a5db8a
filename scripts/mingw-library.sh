#!/bin/sh
# mingw-library.sh NAME DIRECTORY [PROCESSOR]: a library for Windows, in DIRECTORY/include and
# DIRECTORY/lib, static:
#
#   cmocka    what the tests need
#   jansson   what the command needs
#
# Debian has neither to install, but it has the source: apt fetches and checks that, by lists of its
# own below DIRECTORY, so that it matters neither whether the system's lists name sources nor who
# runs this.  Built once.  Another one's source archive is taken where ROUSE_CMOCKA_SOURCE or
# ROUSE_JANSSON_SOURCE names it.  1: it cannot be had here, and says why.
set -eu
name=$1
directory=$2
processor=${3-x86_64}
toolchain=$(cd "$(dirname "$0")/../cmake" && pwd)/mingw-$processor.cmake

case $name in
cmocka)
	archive=${ROUSE_CMOCKA_SOURCE-} variable=ROUSE_CMOCKA_SOURCE
	options='-DWITH_STATIC_LIB=ON -DWITH_EXAMPLES=OFF -DUNIT_TESTING=OFF'
	;;
jansson)
	archive=${ROUSE_JANSSON_SOURCE-} variable=ROUSE_JANSSON_SOURCE
	options='-DJANSSON_BUILD_DOCS=OFF -DJANSSON_EXAMPLES=OFF -DJANSSON_WITHOUT_TESTS=ON'
	;;
*)
	echo "mingw-library.sh: no library named $name" >&2
	exit 1
	;;
esac
[ ! -f "$directory/lib/lib$name.a" ] || exit 0
mkdir -p "$directory"
directory=$(cd "$directory" && pwd)
work=$directory/work
log=$directory/log
rm -rf "$work"
: >"$log"

fail() {
	echo "mingw-library.sh: $*; see $log, which ends with" >&2
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
		fail "no apt-get to fetch the source of $name with ($variable=ARCHIVE brings it)"
	mkdir -p "$work/sources" "$work/lists/partial" "$work/cache/archives/partial"
	# Wherever packages come from here, their sources do, too.
	for list in /etc/apt/sources.list /etc/apt/sources.list.d/*.list; do
		[ ! -f "$list" ] || sed -n 's/^deb[[:space:]]/deb-src /p' "$list"
	done >"$work/sources/sources.list"
	for list in /etc/apt/sources.list.d/*.sources; do
		[ ! -f "$list" ] || sed 's/^Types:.*/Types: deb-src/' "$list" >"$work/sources/$(basename "$list")"
	done
	# Lists that cannot be had are no error of apt's; that no source is in them is one.
	apt update && (cd "$work" && apt source --download-only "$name") ||
		fail "the source of $name could not be fetched: no network, or no such package"
	find "$work" -maxdepth 1 -name "${name}_*.orig.tar.?z"
}

mkdir -p "$work/source"
[ "$archive" ] || archive=$(fetch) || exit 1
tar -xf "$archive" -C "$work/source" --strip-components=1 >>"$log" 2>&1 || fail "$archive is no archive"
{
	# shellcheck disable=SC2086 # a list of options
	cmake -S "$work/source" -B "$work/build" -G Ninja -DCMAKE_TOOLCHAIN_FILE="$toolchain" \
		-DCMAKE_BUILD_TYPE=Release $options && cmake --build "$work/build"
} >>"$log" 2>&1 || fail "$name could not be built"
mkdir -p "$directory/include" "$directory/lib"
# Some headers are made by the build.
find "$work/source/include" "$work/source/src" "$work/build/include" -maxdepth 1 -name "$name*.h" \
	! -name '*private*' -exec cp {} "$directory/include" \; 2>>"$log" || true
cp "$(find "$work/build" -name "*$name*.a" ! -name "*.dll.a")" "$directory/lib/lib$name.a"
rm -rf "$work"
