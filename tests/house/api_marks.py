#!/usr/bin/env python3
"""Every public function says what it must: what it returns, since when, and from which thread.

An unmarked function is for its loop's own thread, so a test must call it from another one.  The
marks in the headers' text are also compared with what clang sees, where clang is."""
import re
import shutil
import subprocess
import sys

from house import ROOT, fault, files, finish, functions, read

SIGNAL_SAFE = {"rouse_wake", "rouse_post_task", "rouse_remote_stop"}
# Where an unmarked function of a header meets the wrong thread.
TESTS = {f"{name}.h": "tests/display/*.c" for name in ("x11", "xcb", "wayland")}
TESTS |= {f"{name}.h": "tests/windows/*.c" for name in ("glfw", "sdl")}
TESTS |= {f"{name}.h": "tests/host/*.c" for name in ("glib", "uv")}
TESTS |= {"win32.h": "tests/win32/*.c", "appkit.h": "tests/appkit/*.c"}
TEST = "tests/unit/test_wrong_thread.c"
OWNED = re.compile(r"\brouse_(loop|waker|x11|xcb|wayland|glfw|sdl|glib|uv|win32|appkit) \*")


def without_comments(text):
    return re.sub(r"/\*.*?\*/|//[^\n]*", "", text, flags=re.S)


def wrong_thread_tests(header):
    pattern = TESTS.get(header)
    if pattern is None:
        return TEST, without_comments(read(TEST)) if (ROOT / TEST).is_file() else ""
    texts = [without_comments(read(p)) for p in files(pattern)]
    return pattern, "\n".join(t for t in texts if "ROUSE_EWRONGTHREAD" in t)


def annotations(header):
    """{function: marks} as clang sees them."""
    out = subprocess.run(["clang", "-fsyntax-only", "-fno-color-diagnostics", "-Xclang", "-ast-dump",
                          "-I", str(ROOT / "include"), "-x", "c", str(ROOT / header)],
                         check=True, capture_output=True, text=True).stdout
    seen, name = {}, None
    for line in out.splitlines():
        m = re.match(r"[|`]-(\w+) ", line)
        if m:
            f = re.search(r" (rouse_\w+) '", line) if m[1] == "FunctionDecl" else None
            name = f[1] if f else None
        elif name:
            m = re.search(r'AnnotateAttr .* "rouse:([a-z-]+)"', line)
            if m:
                seen.setdefault(name, set()).add(m[1].upper().replace("-", "_"))
    return seen


public = {}
for path in files("include/rouse/*.h"):
    header = path.name
    found = functions(path)
    tests, text = wrong_thread_tests(header)
    seen = annotations(path) if shutil.which("clang") else None
    for f in found:
        at = f"{header}: {f.name}"
        public[f.name] = f
        if not f.doc.startswith("/**"):
            fault(f"{at}: no doc comment")
        elif "@since" not in f.doc:
            fault(f"{at}: no @since")
        # A result that is an error code is spelled out; a plain answer is what the text is about.
        elif f.returns == "int" and f.args != "void" and "@return" not in f.doc:
            fault(f"{at}: no @return")
        elif f.returns == "void" and "nothing" not in f.doc:
            fault(f"{at}: returns nothing and does not say so")
        if "PURE" in f.marks and "*" in f.args:
            fault(f"{at}: ROUSE_PURE takes no pointer: it touches no shared state")
        if f.marks and "ANY_THREAD" not in f.marks:
            fault(f"{at}: marked, and not ROUSE_ANY_THREAD")
        if not f.marks:
            if not OWNED.search(f.args):
                fault(f"{at}: no thread mark, and nothing to tell the owner's thread by")
            if not re.search(rf"\b{f.name}\b", text):
                fault(f"{at}: not called from a wrong thread in {tests}")
            if f.returns == "int" and "ROUSE_EWRONGTHREAD" not in f.doc and \
                    "the errors of rouse_fd_add" not in f.doc:
                fault(f"{at}: does not name ROUSE_EWRONGTHREAD")
        if seen is not None and seen.get(f.name, set()) != f.marks:
            fault(f"{at}: {sorted(f.marks)} in the text, {sorted(seen.get(f.name, set()))} in clang's")

safe = {name for name, f in public.items() if "SIGNAL_SAFE" in f.marks}
if safe != SIGNAL_SAFE:
    fault(f"ROUSE_SIGNAL_SAFE: {sorted(safe)}, should be {sorted(SIGNAL_SAFE)}")
finish(f"{len(public)} public functions say what they must")
