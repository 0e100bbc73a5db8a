#!/usr/bin/env python3
"""No path of somebody's machine in any text, no number of an issue in a comment."""
import re

from house import ROOT, fault, files, finish

# Spelled so that this file does not find itself.
PATHS = re.compile(r"(?<![\w.$}])/(?:wo" r"rk|ro" r"ot|ho" r"me/\w+|tmp/bu" r"ild)(?:/|\b)")
ISSUES = re.compile(r"(?:\bissue\s+#?\d+|(?<![\w&#])#\d+\b)", re.I)
C_COMMENT = re.compile(r"/\*.*?\*/|//[^\n]*", re.S)
HASH_COMMENT = re.compile(r"(?:^|(?<=\s))#(?!!).*$", re.M)


def comments(path, text):
    if path.suffix in (".c", ".h", ".cpp"):
        return C_COMMENT
    if path.suffix in (".py", ".sh", ".cmake", ".yml") or path.name in (
            "CMakeLists.txt", "GNUmakefile", "run"):
        return HASH_COMMENT
    return None


count = 0
for path in files():
    data = (ROOT / path).read_bytes()
    if b"\0" in data:
        continue
    text = data.decode("utf-8", "replace")
    count += 1

    def line(at):
        return text.count("\n", 0, at) + 1

    for m in PATHS.finditer(text):
        fault(f"{path}:{line(m.start())}: a path of one machine: {m[0]}")
    comment = comments(path, text)
    for c in comment.finditer(text) if comment else ():
        for m in ISSUES.finditer(c[0].lstrip("#")):
            fault(f"{path}:{line(c.start() + m.start())}: a comment that names an issue: {m[0]}")
finish(f"{count} files")
