#!/bin/sh
# consumer.sh STEP KIND: one step of a user's way to rouse; KIND is shared or static.
#
#   install       into a scratch prefix, which is then moved
#   pkg-config    build and run consumer.c with what pkg-config says
#   find_package  build and run project/ against the moved prefix
#   FetchContent  build and run project/ with this tree inside it
#
# From the environment: ROOT, BUILD (the tree that the tests belong to), BUILD_KIND, SCRATCH,
# CC, CXX, FLAGS (say, sanitizers), WITH_X11, WITH_XCB, WITH_WAYLAND, WITH_GLFW, WITH_SDL, WITH_GLIB,
# WITH_UV and WITH_QT (ON or OFF).
set -eu
step=$1 kind=$2
prefix=$SCRATCH/$kind/moved
shared=$([ "$kind" = static ] && echo OFF || echo ON)
unset DESTDIR

configure() { # SOURCE BINARY [OPTION...]
	source=$1 binary=$2
	shift 2
	rm -rf "$binary"
	cmake -S "$source" -B "$binary" -G "$GENERATOR" -DCMAKE_BUILD_TYPE=Debug \
		-DCMAKE_C_COMPILER="$CC" -DCMAKE_CXX_COMPILER="$CXX" -DCMAKE_C_FLAGS="$FLAGS" \
		-DCMAKE_CXX_FLAGS="$FLAGS" -DBUILD_SHARED_LIBS="$shared" -DROUSE_X11="$WITH_X11" \
		-DROUSE_XCB="$WITH_XCB" -DROUSE_WAYLAND="$WITH_WAYLAND" \
		-DROUSE_GLFW="$WITH_GLFW" -DROUSE_SDL="$WITH_SDL" \
		-DROUSE_GLIB="$WITH_GLIB" -DROUSE_UV="$WITH_UV" "$@"
	cmake --build "$binary"
}

install_and_move() {
	rm -rf "$SCRATCH/$kind"
	mkdir -p "$SCRATCH/$kind"
	from=$BUILD
	if [ "$kind" != "$BUILD_KIND" ]; then
		from=$SCRATCH/$kind/build
		configure "$ROOT" "$from" -DROUSE_TESTS=OFF -DROUSE_EXAMPLES=OFF -DROUSE_TOOL=OFF
	fi
	cmake --install "$from" --prefix "$SCRATCH/$kind/first"
	mv "$SCRATCH/$kind/first" "$prefix"
	# Nothing that was installed knows where it was.
	if grep -rIl -e "$SCRATCH" -e "$ROOT" "$prefix"; then
		echo "^ these name a folder of the build" >&2
		exit 1
	fi
	if [ -x "$prefix/bin/rouse" ]; then
		"$prefix/bin/rouse" --version
	fi
}

with_pkg_config() {
	PKG_CONFIG_PATH=$(dirname "$(find "$prefix" -name rouse.pc)")
	export PKG_CONFIG_PATH
	LD_LIBRARY_PATH=$(dirname "$PKG_CONFIG_PATH")
	export LD_LIBRARY_PATH
	packages=rouse defines=
	if [ "$WITH_X11" = ON ]; then
		packages="$packages rouse-x11" defines="$defines -DCONSUMER_X11"
	fi
	if [ "$WITH_XCB" = ON ]; then
		packages="$packages rouse-xcb" defines="$defines -DCONSUMER_XCB"
	fi
	if [ "$WITH_WAYLAND" = ON ]; then
		packages="$packages rouse-wayland" defines="$defines -DCONSUMER_WAYLAND"
	fi
	if [ "$WITH_GLFW" = ON ]; then
		packages="$packages rouse-glfw" defines="$defines -DCONSUMER_GLFW"
	fi
	if [ "$WITH_SDL" = ON ]; then
		packages="$packages rouse-sdl" defines="$defines -DCONSUMER_SDL"
	fi
	if [ "$WITH_GLIB" = ON ]; then
		packages="$packages rouse-glib" defines="$defines -DCONSUMER_GLIB"
	fi
	if [ "$WITH_UV" = ON ]; then
		packages="$packages rouse-uv" defines="$defines -DCONSUMER_UV"
	fi
	for package in $packages; do
		# An unmoved prefix in the answer would be found here.
		pkg-config --cflags --libs "$package" | grep -F "$prefix/"
		if [ "$kind" = static ]; then
			pkg-config --cflags "$package" | grep -e -DROUSE_STATIC
		fi
	done
	for std in c99 c11 c++11; do
		compile=$CC language=c
		if [ $std = c++11 ]; then compile=$CXX language=c++; fi
		program=$SCRATCH/$kind/pkg-config-$std
		# shellcheck disable=SC2046,SC2086 # lists of options
		$compile $FLAGS -std=$std -pedantic-errors -Wall -Werror $defines -o "$program" \
			$(pkg-config --cflags $packages) -x $language "$ROOT/tests/consumer/consumer.c" \
			-x none $(pkg-config --libs $packages)
		"$program"
		echo "$std: runs"
	done
	if [ "$WITH_QT" = ON ]; then
		# shellcheck disable=SC2046,SC2086
		$CXX $FLAGS -std=c++17 -pedantic-errors -Wall -Wextra -Werror -fPIC \
			-o "$SCRATCH/$kind/pkg-config-qt" $(pkg-config --cflags rouse Qt6Core) \
			"$ROOT/tests/consumer/consumer_qt.cpp" $(pkg-config --libs rouse Qt6Core)
		"$SCRATCH/$kind/pkg-config-qt"
		echo "qt: runs"
	fi
}

with_cmake() {
	binary=$SCRATCH/$kind/$step
	configure "$ROOT/tests/consumer/project" "$binary" -DHOW="$step" -DROUSE_ROOT="$ROOT" \
		-DWITH_X11="$WITH_X11" -DWITH_XCB="$WITH_XCB" -DWITH_WAYLAND="$WITH_WAYLAND" \
		-DWITH_GLFW="$WITH_GLFW" -DWITH_SDL="$WITH_SDL" \
		-DWITH_GLIB="$WITH_GLIB" -DWITH_UV="$WITH_UV" -DWITH_QT="$WITH_QT" \
		-DCMAKE_PREFIX_PATH="$prefix" \
		-DCMAKE_FIND_USE_PACKAGE_REGISTRY=OFF
	# Not `ctest`: its summary would be taken for ours.
	programs='c99 c11 cxx11'
	if [ "$WITH_QT" = ON ]; then programs="$programs qt"; fi
	for program in $programs; do
		"$binary/$program"
		echo "$program: runs"
	done
}

case $step in
install) install_and_move ;;
pkg-config) with_pkg_config ;;
find_package | FetchContent) with_cmake ;;
esac
