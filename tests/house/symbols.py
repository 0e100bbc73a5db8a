#!/usr/bin/env python3
"""symbols.py MAP,... HEADER,... [LIBRARY [OBJDUMP]]: headers, map and library export the same functions.

A DLL's exports are read by OBJDUMP."""
import re
import subprocess
import sys

from house import fault, finish, functions, read, variables

maps, headers = sys.argv[1], sys.argv[2].split(",")
library = sys.argv[3] if len(sys.argv) > 3 else None
objdump = sys.argv[4] if len(sys.argv) > 4 else None

declared = [f.name for h in headers for f in functions(h)]
for name in sorted(set(declared)):
    if declared.count(name) > 1:
        fault(f"{name}: declared more than once")
declared = set(declared)
inlined_on = {v for h in headers for v in variables(h)}

listed = []
for map_file in maps.split(","):
    text = re.sub(r"/\*.*?\*/", "", read(map_file), flags=re.S)
    m = re.fullmatch(r"\s*ROUSE_0\s*\{\s*global:(.*?)local:\s*\*;\s*\};\s*", text, re.S)
    if not m:
        fault(f"{map_file}: is not ROUSE_0 {{ global: ...; local: *; }};")
        finish("")
    names = [name.strip() for name in m[1].split(";") if name.strip()]
    if names != sorted(set(names)):
        fault(f"{map_file}: not sorted, or a name twice")
    listed += names


def compare(what, names):
    names = set(names)
    # A library that is called only keeps the variable to itself.
    for name in sorted(declared - names | (inlined_on - names if what == maps else set())):
        fault(f"{name}: declared in {', '.join(headers)} and not in {what}")
    for name in sorted(names - declared - inlined_on):
        fault(f"{name}: in {what} and not declared in {', '.join(headers)}")


compare(maps, listed)
if objdump:
    out = subprocess.run([objdump, "-p", library], check=True, capture_output=True,
                         text=True).stdout
    table = out.partition("[Ordinal/Name Pointer] Table")[2]
    # Where pools are only called.
    compare(library, re.findall(r"^\t\[ *\d+\].*\b(\w+)$", table.partition("\n\n")[0], re.M))
elif library:
    out = subprocess.run(["nm", "-D", "--defined-only", library], check=True,
                         capture_output=True, text=True).stdout
    symbols = [line.split()[-2:] for line in out.splitlines()]
    # A: the version's own name.
    compare(library, [name.split("@")[0] for kind, name in symbols if kind != "A"])
finish(f"{len(declared)} functions, the same everywhere")
