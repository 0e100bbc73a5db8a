#!/bin/sh
# mingw.sh: build for Windows by mingw-w64, run the tests by wine.
#
#   x86-64  DLL, static library, command, tests and examples, warnings as errors; everything runs
#   i686    DLL, static library and examples: built only
#
# What is missing is named, and the status is 77, which means skipped, or 1 where CI is set.  The
# tests themselves are skipped, each one, where there is no wine.
set -eu
cd "$(dirname "$0")/.."
jobs=$(nproc 2>/dev/null || echo 2)
mkdir -p build

missing() {
	if [ "${CI-}" ]; then
		echo "FAILED: $*" >&2
		exit 1
	fi
	echo "SKIP: $*"
	exit 77
}

quietly() { # LOG COMMAND...
	log=$1
	shift
	"$@" >>"$log" 2>&1 </dev/null || {
		tail -n 100 "$log"
		exit 1
	}
}

build() { # PRESET DIRECTORY [OPTION...]
	preset=$1 dir=build/$2
	shift 2
	: >"$dir.log"
	quietly "$dir.log" cmake --preset "$preset" -B "$dir" "$@"
	quietly "$dir.log" cmake --build "$dir" -j "$jobs"
}

# A user's way to it: installed, and found by pkg-config.
consume() { # DIRECTORY PROCESSOR
	prefix=build/$1/prefix
	rm -rf "$prefix"
	quietly "build/$1.log" cmake --install "build/$1" --prefix "$prefix"
	mkdir -p "$prefix/bin"
	PKG_CONFIG_LIBDIR=$prefix/lib/pkgconfig
	export PKG_CONFIG_LIBDIR
	# shellcheck disable=SC2046 # lists of options
	$2-w64-mingw32-gcc -std=c99 -pedantic-errors -Wall -Werror -o "$prefix/bin/consumer.exe" \
		$(pkg-config --cflags rouse) tests/consumer/consumer.c $(pkg-config --libs rouse)
}

for processor in x86_64 i686; do
	command -v $processor-w64-mingw32-gcc >/dev/null 2>&1 ||
		missing "no $processor-w64-mingw32-gcc (scripts/deps.sh all installs it)"
done
[ -z "${CI-}" ] || command -v wine >/dev/null 2>&1 || missing "no wine"
scripts/mingw-library.sh cmocka build/mingw-cmocka || missing "no cmocka for Windows, so no tests"
scripts/mingw-library.sh jansson build/mingw-jansson || missing "no jansson for Windows, so no command"

build mingw mingw
build mingw mingw-static -DBUILD_SHARED_LIBS=OFF -DROUSE_TESTS=OFF
for kind in "" -static; do
	shared=$([ "$kind" ] && echo OFF || echo ON)
	build mingw-i686 "mingw-i686$kind" -DBUILD_SHARED_LIBS="$shared"
	consume "mingw$kind" x86_64
	consume "mingw-i686$kind" i686
	scripts/wine.sh "build/mingw$kind/prefix/bin/consumer.exe" || [ $? -eq 77 ]
done
if command -v python3 >/dev/null 2>&1; then
	tests/house/imports.py i686-w64-mingw32-objdump build/mingw-i686/bin/librouse-0.dll
fi
# The command finds its library where an installation has it, or in itself.
for kind in "" -static; do
	scripts/wine.sh "build/mingw$kind/prefix/bin/rouse.exe" --version || [ $? -eq 77 ]
done
for program in wake readme; do
	scripts/wine.sh "build/mingw-static/bin/example_$program.exe" || [ $? -eq 77 ]
done
cd build/mingw
# Most tests wait most of the time, and the counts in full are for the system that is at home here.
ROUSE_TEST_DIVISOR=${ROUSE_TEST_DIVISOR-10} ctest --output-on-failure -j $((2 * jobs))
command -v wine >/dev/null 2>&1 || missing "no wine: everything was built, and nothing was run"
