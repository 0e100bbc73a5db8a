#!/usr/bin/env python3
"""Each relative link of a document leads somewhere."""
import posixpath
import re

from house import ROOT, fault, files, finish, read

count = 0
for path in files("*.md"):
    text = re.sub(r"```.*?```", "", read(path), flags=re.S)
    for target in re.findall(r"\]\(([^)\s]+)\)", text):
        if re.match(r"[a-z]+:|#", target):
            continue
        count += 1
        name = posixpath.normpath(posixpath.join(posixpath.dirname(str(path)), target.split("#")[0]))
        if not (ROOT / name).exists():
            fault(f"{path}: {target} is not there")
finish(f"{count} links")
