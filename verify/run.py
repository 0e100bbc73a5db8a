#!/usr/bin/env python3
"""Verify the model in each configuration, and see every mutant of it fail.

    run.py [--quick] [-j N] [--list] [--trail NAME] [NAME...]

--quick leaves out what takes more than seconds or more than a few hundred megabytes.  NAMEs
choose configurations and mutants.  --trail shows the shortest way to one's failure.  Seconds are
the search's, of processor time.  Exit status: 0 each came out as expected; 1 not; 77 there is no
spin or no C compiler."""
import argparse
import concurrent.futures
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

sys.dont_write_bytecode = True
from configurations import CONFIGURATIONS, MUTANTS  # noqa: E402

HERE = pathlib.Path(__file__).resolve().parent
CC = os.environ.get("CC", "cc")
PASS, FAIL = "pass", "fail"


# What an assertion of the model says, by what spin prints of it.
MEANINGS = [
    (r"node\[n\]!=1", "asleep on queued work"),
    (r"wake_owed", "asleep, a wake unanswered"),
    (r"stop_owed", "asleep, what a stop was to show unseen"),
    (r"waker_users>0", "asleep, a waker without users not freed"),
    (r"node\[p\]", "accepted, and neither run nor cancelled"),
    (r"node\[\d\]==0", "queued while queued"),
    (r"node\[\S+\]==1", "taken twice"),
    (r"may_ring", "a ring too many"),
    (r"closing", "accepted after closing"),
    (r"!\(closed\)", "called after closing or inside itself"),
    (r"waker_refs>0", "a freed waker touched"),
    (r"remote_refs>0", "the freed shared part touched"),
    (r"_refs==0", "not freed at the end"),
    (r"mem\[", "data of a post not visible"),
    (r"invalid end state", "stuck"),
]


def meaning(text):
    return next((words for pattern, words in MEANINGS if re.search(pattern, text)), text)


class Run:
    def __init__(self, name, flags, expect, quick, bits=0, megabytes=900, why=""):
        self.name, self.flags, self.expect, self.quick = name, flags, expect, quick
        self.bits = bits  # bitstate: log2 of the hash array's bits; 0: exhaustive
        self.megabytes = megabytes
        self.why = why
        self.result = "broken"
        self.output = ""
        self.states = self.depth = self.memory = self.seconds = 0
        self.failed = ""
        self.coverage = ""

    def as_expected(self):
        return self.result == self.expect


def everything():
    runs = []
    for c in CONFIGURATIONS:
        runs.append(Run(c["name"], c["flags"], PASS, c.get("quick", False), c.get("bits", 0),
                        c.get("megabytes", 900)))
    for name, flags, why in MUTANTS:
        runs.append(Run(f"mutant-{name.lower().replace('_', '-')}", f"{flags} -DMUTANT_{name}",
                        FAIL, True, why=why))
    return runs


def call(argv, folder, output):
    done = subprocess.run(argv, cwd=folder, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                          text=True, check=False)
    output.append(done.stdout)
    return done.returncode


def build(run, folder, extra=()):
    output = []
    storage = ["-DBITSTATE"] if run.bits else ["-DCOLLAPSE"]
    ok = call(["spin", *run.flags.split(), "-a", str(HERE / "model.pml")], folder, output) == 0 and \
        call([*CC.split(), "-O0" if run.expect == FAIL else "-O1", "-w", "-DSAFETY", "-DVECTORSZ=1024", f"-DMEMLIM={run.megabytes}",
              *storage, *extra, "-o", "pan", "pan.c"], folder, output) == 0
    run.output = "".join(output)
    return ok


def number(pattern, text):
    m = re.search(pattern, text)
    return float(m[1]) if m else 0


def verify(run):
    with tempfile.TemporaryDirectory(prefix="rouse-verify-") as folder:
        if not build(run, folder):
            return run
        wide = 22 if run.quick else 26
        table = [f"-w{run.bits}", "-k3"] if run.bits else [f"-w{wide}"]
        with subprocess.Popen(["./pan", "-m20000", *table], cwd=folder, stdout=subprocess.PIPE,
                              stderr=subprocess.STDOUT, text=True) as pan:
            text = run.output = pan.stdout.read()
            _, pan.returncode, usage = os.wait4(pan.pid, 0)
        run.seconds = usage.ru_utime + usage.ru_stime
    run.states = int(number(r"([\d.e+]+) states, stored", text))
    run.depth = int(number(r"depth reached (\d+)", text))
    run.memory = number(r"([\d.]+)\s+total actual memory usage", text)
    m = re.search(r"hash factor: ([\d.]+)", text)
    if m:
        run.coverage = f", bitstate, hash factor {m[1]}"
    if re.search(r"errors: [1-9]", text):
        run.result = FAIL
        m = re.search(r"pan:1: (.*?) \(at depth", text)
        run.failed = meaning(m[1]) if m else "?"
    elif "errors: 0" in text and not re.search(r"out of memory|max search depth too small|"
                                               r"Search not completed|truncated", text):
        run.result = PASS
    return run


def line(run):
    verdict = "ok" if run.as_expected() else "NOT AS EXPECTED"
    what = {PASS: "holds", FAIL: f"fails: {run.failed}", "broken": "did not finish"}[run.result]
    return (f"{run.name:32} {run.states:>11} states {run.depth:>6} deep {run.memory:>5.0f} MB "
            f"{run.seconds:>6.1f} s  {what}{run.coverage}  [{verdict}]")


def trail(run):
    run.flags += " -Dhidden="  # a search by breadth, for the shortest way, knows no hidden variables
    run.megabytes = 8000
    with tempfile.TemporaryDirectory(prefix="rouse-verify-") as folder:
        if not build(run, folder, ["-DBFS"]):
            print(run.output)
            return 1
        output = []
        call(["./pan", "-w22"], folder, output)
        if not re.search(r"errors: [1-9]", output[0]):
            print(f"{run.name} does not fail")
            return 1
        # spin looks for the trail beside the model, where we do not write.
        shutil.copy(pathlib.Path(folder) / "model.pml.trail", pathlib.Path(folder) / "trail")
        call(["spin", *run.flags.split(), "-k", "trail", "-p", "-g", "-l", str(HERE / "model.pml")],
             folder, output)
        print(output[1])
    return 0


def main():
    runs = everything()
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--quick", action="store_true")
    parser.add_argument("-j", type=int, default=min(2, os.cpu_count() or 1))
    parser.add_argument("--list", action="store_true")
    parser.add_argument("--trail", metavar="NAME")
    parser.add_argument("names", nargs="*", metavar="NAME")
    args = parser.parse_args()

    known = {r.name: r for r in runs}
    for name in [*args.names, *([args.trail] if args.trail else [])]:
        if name not in known:
            parser.error(f"no configuration {name}; --list shows them")
    if args.list:
        for run in runs:
            print(f"{run.name:32} {run.expect:5} {run.flags}{'  ' + run.why if run.why else ''}")
        return 0
    for tool in ("spin", CC.split()[0]):
        if not shutil.which(tool):
            print(f"SKIP: no {tool}")
            return 77
    if args.trail:
        return trail(known[args.trail])
    if args.names:
        runs = [known[n] for n in args.names]
    elif args.quick:
        runs = [r for r in runs if r.quick]

    bad = 0
    with concurrent.futures.ThreadPoolExecutor(args.j) as pool:
        for run in pool.map(verify, runs):
            print(line(run), flush=True)
            if not run.as_expected():
                bad += 1
                if run.result == "broken":
                    print(run.output[-2000:])
    print(f"{len(runs)} configurations, {bad} not as expected")
    return 1 if bad else 0


if __name__ == "__main__":
    sys.exit(main())
