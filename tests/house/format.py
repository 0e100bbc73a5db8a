#!/usr/bin/env python3
"""The C files are as clang-format would write them.  --fix writes them so.

Versions differ in taste, so the check asks one alone: the one of Debian 12."""
import re
import shutil
import subprocess
import sys

from house import ROOT, files, skip

if not shutil.which("clang-format"):
    skip("no clang-format")
version = subprocess.run(["clang-format", "--version"], capture_output=True, text=True).stdout
if "--fix" not in sys.argv[1:] and not re.search(r"version 14\.", version):
    skip("clang-format 14 decides, and this is " + version.strip())
how = ["-i"] if "--fix" in sys.argv[1:] else ["--dry-run", "-Werror"]
names = [str(p) for p in files("*.c", "*.h")]
sys.exit(subprocess.run(["clang-format", *how, *names], cwd=ROOT).returncode)
