#!/bin/sh
# mingw-cmocka.sh DIRECTORY [PROCESSOR]: cmocka for Windows, in DIRECTORY/include and DIRECTORY/lib.
#
# Debian has none to install, but it has the source: apt fetches and checks that, by lists of its
# own below DIRECTORY, so the system's are left alone and no root is needed.  Built once.
set -eu
directory=$1
processor=${2-x86_64}
toolchain=$(cd "$(dirname "$0")/../cmake" && pwd)/mingw-$processor.cmake

[ ! -f "$directory/lib/libcmocka.a" ] || exit 0
mkdir -p "$directory"
directory=$(cd "$directory" && pwd)
work=$directory/work
rm -rf "$work"
mkdir -p "$work/sources" "$work/lists/partial" "$work/cache/archives/partial"

# Wherever packages come from here, their sources do, too.
for list in /etc/apt/sources.list /etc/apt/sources.list.d/*.list; do
	[ -f "$list" ] || continue
	sed -n 's/^deb[[:space:]]/deb-src /p' "$list" >>"$work/sources/sources.list"
done
for list in /etc/apt/sources.list.d/*.sources; do
	[ -f "$list" ] || continue
	sed 's/^Types:.*/Types: deb-src/' "$list" >"$work/sources/$(basename "$list")"
done

apt() {
	DEBIAN_FRONTEND=noninteractive apt-get -q -o "Dir::Etc::SourceList=$work/sources/sources.list" \
		-o "Dir::Etc::SourceParts=$work/sources" -o "Dir::State::Lists=$work/lists" \
		-o "Dir::Cache=$work/cache" -o Acquire::Retries=3 -o APT::Sandbox::User=root "$@"
}
touch "$work/sources/sources.list"
apt update
(cd "$work" && apt source --download-only cmocka)

mkdir "$work/source"
tar -xf "$(find "$work" -maxdepth 1 -name 'cmocka_*.orig.tar.?z')" -C "$work/source" --strip-components=1
cmake -S "$work/source" -B "$work/build" -DCMAKE_TOOLCHAIN_FILE="$toolchain" \
	-DCMAKE_BUILD_TYPE=Release -DWITH_STATIC_LIB=ON -DWITH_EXAMPLES=OFF -DUNIT_TESTING=OFF
cmake --build "$work/build"
mkdir -p "$directory/include" "$directory/lib"
cp "$work"/source/include/cmocka*.h "$directory/include"
cp "$(find "$work/build" -name "*cmocka*.a" ! -name "*.dll.a")" "$directory/lib/libcmocka.a"
rm -rf "$work"
