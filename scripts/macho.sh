#!/bin/sh
# The libraries, the AppKit host and the examples as Mach-O, for both of Apple's processors: built and
# linked by clang and lld against the stubs of tests/macho, and not run.  Then a misspelt
# symbol, which the link must refuse.  Status 77: clang or lld is not here; in CI that fails.
set -eu
cd "$(dirname "$0")/.."

here() {
	command -v clang >/dev/null 2>&1 && [ -x "$(clang -print-prog-name=ld64.lld)" ]
}
if ! here; then
	echo "macho: needs clang and lld (ld64.lld)" >&2
	[ -n "${CI-}" ] && exit 1
	exit 77
fi

# What pkg-config finds is this system's, so it is shown nothing.
build() { # ARCHITECTURE
	dir=build/macho-$1
	PKG_CONFIG_LIBDIR=/nonexistent cmake -S . -B "$dir" -G Ninja -DMACHO_ARCH="$1" \
		-DCMAKE_TOOLCHAIN_FILE="$PWD/tests/macho/toolchain.cmake" -DROUSE_APPKIT=ON -DROUSE_TESTS=OFF \
		-DROUSE_TOOL=OFF -DROUSE_WERROR=ON >"$dir.log" 2>&1 &&
		cmake --build "$dir" >>"$dir.log" 2>&1 ||
		{ tail -n 100 "$dir.log"; return 1; }
	echo "macho: $1: $(find "$dir" -name '*.o' | wc -l) files compiled," \
		"$(find "$dir" -type f -name '*.dylib' | wc -l) libraries and" \
		"$(find "$dir/examples" -maxdepth 1 -type f -name 'example_*' | wc -l) programs linked"
}

# The same flags as in the build, on one file with one call in it.
links() { # FUNCTION
	printf 'void %s(void);\nint main(void) { %s(); return 0; }\n' "$1" "$1" |
		clang -target arm64-apple-macos11 -isysroot "$PWD/tests/macho/sysroot" -fuse-ld=lld \
			-framework CoreFoundation -x c - -o build/macho-links >build/macho-links.log 2>&1
}

mkdir -p build
build arm64
build x86_64
links CFRunLoopGetCurrent || { cat build/macho-links.log; exit 1; }
if links CFRunLoopGetCurrrent || ! grep -q 'undefined symbol: _CFRunLoopGetCurrrent' build/macho-links.log; then
	echo "macho: a misspelt symbol was linked" >&2
	exit 1
fi
echo "macho: a misspelt symbol is refused"
