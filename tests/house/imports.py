#!/usr/bin/env python3
"""imports.py OBJDUMP DLL: the DLL needs nothing that Windows does not have."""
import re
import subprocess
import sys

from house import fault, finish

# msvcrt is mingw-w64's older C library, and the other two are the newer one.
SYSTEM = re.compile(r"(kernel32|user32|ws2_32|ntdll|msvcrt|ucrtbase|api-ms-win-crt-[a-z0-9-]+)\.dll",
                    re.I)

objdump, dll = sys.argv[1:]
text = subprocess.run([objdump, "-p", dll], check=True, capture_output=True, text=True).stdout
needs = re.findall(r"DLL Name:\s*(\S+)", text)
if not needs:
    fault(f"{dll}: has no import table")
for name in needs:
    if not SYSTEM.fullmatch(name):
        fault(f"{dll}: needs {name}")
finish(" ".join(needs))
