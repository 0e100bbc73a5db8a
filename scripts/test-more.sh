#!/bin/sh
# What `make test-all` does after `make test`: the same tests where they see more.  Every leg
# runs even when an earlier one failed; the status is 1 if any did.  Names on the command
# line choose legs:
#
#   format    the C files are formatted
#   tidy      clang-tidy finds nothing in the libraries, the tool and the examples
#   clang     clang, optimized, warnings as errors; three seconds of each storm, too
#   asan      address and undefined behaviour; hosts, windows and the storms of tests/stress, too
#   tsan      data races; the hosts and the storms too
#   core-only a build without displays
#   objc      pools as Objective-C sees them, and the bridge to its own (GNUstep)
#   windows   GLFW and SDL 2 windows in the loop
#   hosts     the loop as a guest of GLib, GTK, libuv, Qt, libev, libevent and sd-event
#   appkit    the loop as a guest of an AppKit application (GNUstep)
#   macho     macOS: built and linked by clang and lld, not run
#   mingw     Windows: built by mingw-w64, the tests by wine
#   valgrind  the fast tests under memcheck
#   coverage  the tests run 95 % of the lines of src/ or more
#   verify    the protocol's model holds, and each of its mutants fails
#   fuzz      random calls against the reference model, 30 s
#   cost      what does not depend on how much there is, in instructions
set -u
cd "$(dirname "$0")/.." || exit 1

jobs=$(nproc 2>/dev/null || echo 2)
# Most tests wait most of the time.
many=$((2 * jobs))

targets=all
build() { # PRESET DIRECTORY [OPTION...]
	preset=$1
	dir=build/$2
	shift 2
	{ cmake --preset "$preset" -B "$dir" "$@" && cmake --build "$dir" -j "$jobs" --target $targets; } \
		>"$dir.log" 2>&1 || { tail -n 100 "$dir.log"; return 1; }
}

# What `make test` built, and with it what the packages of this tier add.
build_whole() { # [OPTION...]
	{ cmake -S . -B build/make-test -G Ninja -DCMAKE_BUILD_TYPE=Debug -DROUSE_TESTS=ON \
		-DROUSE_GLIB=ON -DROUSE_UV=ON -DROUSE_QT=ON -DROUSE_GLFW=ON -DROUSE_SDL=ON -DROUSE_APPKIT=ON \
		-DCMAKE_CROSSCOMPILING_EMULATOR= "$@" && cmake --build build/make-test -j "$jobs"; } \
		>build/make-test.log 2>&1 || { tail -n 100 build/make-test.log; return 1; }
}

# Under valgrind everything is much slower: tests that count rounds divide them.  (Sanitized
# builds know by themselves.)
divisor=1
run() { # DIRECTORY [CTEST-OPTION...]
	dir=$1
	shift
	(cd "build/$dir" && ROUSE_TEST_DIVISOR=$divisor ctest --output-on-failure "$@")
}

# Where that cannot be had its tests are skipped.
glfw_on_wayland() { # DIRECTORY
	scripts/glfw-wayland.sh "$1/glfw-wayland" || [ $? -eq 77 ]
}

leg() {
	echo "== $1"
	case $1 in
	format) tests/house/format.py || [ $? -eq 77 ] ;;
	tidy)
		# What is built here, but for the tests, some of which build the same files in gcc's own ways.
		{ cmake --preset dev -B build/tidy -DROUSE_TESTS=OFF &&
			cmake --build build/tidy --target rouse_protocol_xdg_shell; } >build/tidy-setup.log 2>&1 &&
			sed -n "s|.*\"file\": \"$PWD/\(.*\.c\)\".*|\1|p" build/tidy/compile_commands.json | sort -u |
			grep -E '^(src|display|host|tool|examples)/' |
			xargs -n 8 -P "$jobs" clang-tidy -p build/tidy --quiet --warnings-as-errors='*' \
				2>build/tidy.log
		;;
	clang)
		# The contracts in full take minutes each, and two threads that meet a million times want a
		# processor each: both are there on demand (ctest -L stress).
		build clang clang && ROUSE_STRESS_SECONDS=3 \
			run clang -LE 'consumer|house|cost|objc|host|window|appkit' -E 'stress_(contract|w2|posts|protocol|rebirths|storms)|w13_ping_pong' -j "$many"
		;;
	asan)
		# Leaks of others are told by the library in the middle of a stack.
		build asan asan -DROUSE_APPKIT=OFF && glfw_on_wayland build/asan &&
			run asan -L 'fast|display' -LE 'consumer|house' -E "$counts" -j "$many" &&
			ASAN_OPTIONS=fast_unwind_on_malloc=0 LSAN_OPTIONS="suppressions=$PWD/scripts/lsan.supp" \
				run asan -L 'host|window' -LE consumer -E "$counts|$unseen" -j "$many" &&
			run asan -R "$storms" -j "$many"
		;;
	tsan)
		export TSAN_OPTIONS="suppressions=$PWD/scripts/tsan.supp"
		# GLib's and Qt's locks are not to be seen, so what they do with memory says nothing.
		# (A suppression by library would leave out whatever runs in their loops.)
		build tsan tsan $windowless &&
			run tsan -L 'fast|display' -LE 'consumer|house' -E "$counts" -j "$many" &&
			TSAN_OPTIONS="$TSAN_OPTIONS ignore_noninstrumented_modules=1" \
				run tsan -L host -LE consumer -E "$counts|$unseen" -j "$many" &&
			run tsan -R "$storms" -j "$many"
		;;
	core-only)
		# The core's own files are the same as ever: what knows of displays is the tool.
		build core-only core-only -DROUSE_APPKIT=OFF && run core-only -L fast -R '_cli$' -j "$many"
		;;
	objc) build_whole && run make-test -L objc -j "$jobs" ;;
	windows)
		build_whole && glfw_on_wayland build/make-test && run make-test -L window -j "$many"
		;;
	hosts) build_whole && run make-test -L host -j "$jobs" ;;
	appkit) build_whole && run make-test -L appkit -j "$jobs" ;;
	macho) scripts/macho.sh || { [ $? -eq 77 ] && echo macho >>build/skipped; } ;;
	mingw) scripts/mingw.sh || { [ $? -eq 77 ] && echo mingw >>build/skipped; } ;;
	valgrind)
		# add_test() puts the emulator before each program that is a target: our C tests,
		# and not the scripts.  It runs one thread at a time, so the litmus shows nothing; it
		# knows no pidfds, and gives children an exit status of its own.
		build_whole -DCMAKE_CROSSCOMPILING_EMULATOR="$valgrind" &&
			divisor=50 &&
			run make-test -L fast -LE 'consumer|house' -E "$counts|w2_litmus|bench_cli|contract_children" -j "$jobs"
		;;
	coverage)
		divisor=10
		build coverage coverage $lean && run coverage -L 'fast|objc' -LE 'consumer|house' -E "$counts" -Q -j "$many" &&
			gcovr -r . --filter src/ --exclude '.*/fault\.c' --object-directory build/coverage \
				--fail-under-line 95 --print-summary build/coverage
		;;
	verify) verify/run.py --quick ;;
	fuzz)
		targets='rouse_fuzz fuzz_corpus'
		build fuzz fuzz $lean && fuzz/run.sh build/fuzz 30
		;;
	cost)
		targets=cost_workload
		build release cost $lean -DROUSE_TESTS=ON && run cost -L cost
		;;
	*) echo "no leg named $1" >&2; return 1 ;;
	esac
}
# Without the adapters to other libraries, whose tests these legs do not run.
windowless='-DROUSE_GLFW=OFF -DROUSE_SDL=OFF -DROUSE_APPKIT=OFF'
lean='-DROUSE_GLIB=OFF -DROUSE_UV=OFF -DROUSE_QT=OFF -DROUSE_GLFW=OFF -DROUSE_SDL=OFF -DROUSE_APPKIT=OFF'
# Tests that count system calls with strace: the sanitizers make calls of their own, and the
# leak check cannot run below ptrace.
counts='syscall|w20_idle|^host_.*_idle'
# Of the windows: what draws by a driver, whose threads and memory are its own; counts; and the tool,
# most of which `rouse bench` on a display has shown.
unseen='calls|picture|example|bench_cli'
# 20 s each, unless ROUSE_STRESS_SECONDS says otherwise.
storms='^stress_(producers|destroyers|removers|forkers|signals|callers)/'
valgrind="valgrind;-q;--suppressions=$PWD/scripts/valgrind.supp;--error-exitcode=99;--leak-check=full;--errors-for-leak-kinds=definite,indirect;--fair-sched=yes"

mkdir -p build
[ $# -gt 0 ] || set -- format tidy clang asan tsan core-only objc windows hosts appkit macho mingw valgrind coverage verify fuzz cost
: >build/failed
: >build/skipped
timed() { # LEG
	started=$(date +%s)
	(leg "$1") || echo "$1" >>build/failed
	echo "== $1: $(($(date +%s) - started)) s"
}

# Two lanes: while the tests of one wait, which is what they mostly do, the other builds.
# Legs that share a build directory are in one lane, in their order; the others even the two out.
lane() { # LEG...
	for name; do
		timed "$name" >"build/leg-$name.out" 2>&1
		flock build/failed cat "build/leg-$name.out"
	done
}
if [ $# -eq 1 ]; then
	timed "$1"
else
	sanitized= other=
	for name; do
		case $name in
		format | tidy | clang | asan | tsan | coverage) sanitized="$sanitized $name" ;;
		*) other="$other $name" ;;
		esac
	done
	trap 'trap - INT TERM; kill 0' INT TERM
	lane $sanitized &
	lane $other
	wait
fi
if [ -s build/failed ]; then
	echo "FAILED: $(tr '\n' ' ' <build/failed)"
	exit 1
fi
echo "passed: $*"
[ ! -s build/skipped ] || echo "SKIPPED, though: $(tr '\n' ' ' <build/skipped)"
