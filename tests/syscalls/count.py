"""Count a workload's system calls with strace: count.py WORKLOAD MODE ROUNDS POLLER...

The pollers are traced side by side.  Exit status 77 where strace cannot run."""
import os
import re
import shutil
import subprocess
import sys
import tempfile
from collections import Counter


def calls_between_marks(text):
    """The calls between the two getppid(), each as its name."""
    calls, inside = [], False
    for line in text.splitlines():
        match = re.match(r"(?:\d+ +)?(\w+)\(", line)
        if not match:
            continue
        if match[1] == "getppid":
            inside = not inside
        elif inside:
            calls.append(match[1])
    return calls


def judge(poller, mode, rounds, status, calls):
    counts = Counter(calls)
    print(f"{poller} {mode} {rounds}: exit {status}, {dict(counts)}")
    if mode == "wakes":
        per_wake = {"epoll": 2, "poll": 3}[poller]
        # The thread's own start, the wait that stop ends, a ring that came late.
        few = 20
        assert status == 0
        # The loop mostly sleeps: else the count of writes would show nothing.
        assert rounds // 2 <= counts["write"], "the loop was not asleep"
        waits = counts["epoll_wait"] + counts["ppoll"]
        assert counts["write"] <= waits, "more than one doorbell write a sleep"
        assert len(calls) <= per_wake * rounds + few, f"over {per_wake} system calls a wake"
    elif mode == "awake":
        assert status == 0
        assert not calls, "a loop that is awake is not rung for"
    else:
        wait = {"epoll": "epoll_wait", "poll": "ppoll"}[poller]
        assert calls == ["alarm", wait], "an idle loop makes no system call but its wait"


def main():
    workload, mode, rounds, *pollers = sys.argv[1:]
    if not shutil.which("strace"):
        print("strace is not installed")
        sys.exit(77)
    with tempfile.TemporaryDirectory() as folder:
        def log(name):
            return os.path.join(folder, name)

        if subprocess.run(["strace", "-o", log("probe"), "true"], capture_output=True).returncode:
            print("strace cannot trace here")
            sys.exit(77)
        traces = {poller: subprocess.Popen(["strace", "-f", "-qq", "-o", log(poller), workload,
                                            poller, mode, rounds])
                  for poller in pollers}
        for poller, trace in traces.items():
            status = trace.wait()
            with open(log(poller)) as lines:
                judge(poller, mode, int(rounds), status, calls_between_marks(lines.read()))


main()
