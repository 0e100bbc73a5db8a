#!/usr/bin/env python3
"""Which cases of docs/cases.md a test of ours shows today.

A test shows case W4 when its name begins so: a function w4_... or test_w4_..., a program
test_w4_...; several ids may follow each other, as in l1_l4_....  cases.py checks that the marks in
docs/cases.md agree; --write sets them; --list prints what was found."""
import itertools
import re
import sys

from house import ROOT, fault, files, finish, read

DOC = "docs/cases.md"
CASE = re.compile(r"^- ([A-Z]\d+) ", re.M)
MARK = re.compile(r"^  \*(?:Shown by .*|Not yet\.)\*$")
NAME = re.compile(r"\bstatic void (\w+)\(void \*\*|\w*(?:test|TEST)\w*\(\s*(\w+)|\bdef (\w+)")
CMAKE_NAME = re.compile(r"(?:\(|\bNAME )\s*(\w+)")


def shown(known):
    """{case: [file, ...]} from the names of tests."""
    found = {}
    for path in files("tests/**/*.c", "tests/**/CMakeLists.txt", "tests/**/*.sh", "tests/**/*.py",
                      "tests/**/*.h", "tests/**/*.inc"):
        if path.match("tests/house/*"):
            continue
        pattern = CMAKE_NAME if path.name == "CMakeLists.txt" else NAME
        for groups in pattern.findall(read(path)):
            words = "".join(groups).upper().removeprefix("TEST_").split("_")
            for word in itertools.takewhile(known.__contains__, words):
                if str(path) not in found.setdefault(word, []):
                    found[word].append(str(path))
    return found


def marked(text, found):
    """The document with a mark after each case."""
    out, case = [], None

    def close():
        nonlocal case
        if case:
            where = found.get(case)
            # Keep the blank lines of a chapter's end behind the mark.
            blanks = 0
            while out and not out[-1].strip():
                out.pop()
                blanks += 1
            out.append("  *Shown by " + ", ".join(f"`{w}`" for w in sorted(where)) + ".*"
                       if where else "  *Not yet.*")
            out.extend([""] * blanks)
        case = None

    for line in text.splitlines():
        if MARK.match(line):
            continue
        m = CASE.match(line)
        if m or line.startswith("#"):
            close()
        if m:
            case = m[1]
        out.append(line)
    close()
    return "\n".join(out).rstrip("\n") + "\n"


text = read(DOC)
ids = CASE.findall(text)
for case in sorted(set(ids)):
    if ids.count(case) > 1:
        fault(f"{DOC}: {case} is there twice")
found = shown(set(ids))
if "--list" in sys.argv[1:]:
    for case in ids:
        print(f"{case:4}", ", ".join(found.get(case, [])) or "-")
    print(f"{len(found)} of {len(ids)} cases shown")
    sys.exit(0)
want = marked(text, found)
if "--write" in sys.argv[1:]:
    (ROOT / DOC).write_text(want, encoding="utf-8")
    text = want
for have, should in zip(text.splitlines(), want.splitlines()):
    if have != should:
        fault(f"{DOC}: has\n  {have}\nand should have\n  {should}\n(cases.py --write)")
        break
else:
    if text != want:
        fault(f"{DOC}: a mark is missing at the end (cases.py --write)")
finish(f"{len(found)} of {len(ids)} cases shown by tests, and {DOC} says which")
