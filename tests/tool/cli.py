"""What the tests of the command share: how it is started, and what it must not leave behind."""
import glob
import io
import json
import os
import pty
import re
import shutil
import tempfile
import threading
import time
import unittest
from concurrent.futures import ThreadPoolExecutor

# Seconds after which something hangs: how fast anything is, no test asks.
PATIENCE = 200


def environment(**more):
    displays = ("DISPLAY", "XAUTHORITY", "WAYLAND_DISPLAY", "WAYLAND_SOCKET")
    env = {k: v for k, v in os.environ.items() if k not in displays}
    env["LC_ALL"] = "C.UTF-8"
    # Xlib unlocks a display once too often after its server died.
    env["TSAN_OPTIONS"] = env.get("TSAN_OPTIONS", "") + ":report_mutex_bugs=0"
    env.update(more)
    return env


def preloading(library):
    options = os.environ.get("ASAN_OPTIONS", "") + ":verify_asan_link_order=0"
    return {"LD_PRELOAD": library, "ASAN_OPTIONS": options}


def preloaded(library):
    return environment(**preloading(library))


def start_watched(start, said):
    """What start(stderr=...) returns, once `said` (bytes, a pattern) stands on its terminal.
    Its said() has everything, once it has ended."""
    terminal, other = pty.openpty()
    process = start(stderr=other)
    os.close(other)

    def drain():
        try:
            while True:
                text.extend(os.read(terminal, 4096))
                if re.search(said, text):
                    seen.set()
        except OSError:  # The other end is closed.
            pass
        finally:
            seen.set()
            os.close(terminal)

    def everything():
        thread.join(PATIENCE)
        return text.decode()

    text = bytearray()
    seen = threading.Event()
    thread = threading.Thread(target=drain, daemon=True)
    thread.start()
    seen.wait(PATIENCE)
    process.said = everything
    return process


def wait_for(condition, seconds=PATIENCE):
    give_up = time.monotonic() + seconds
    while time.monotonic() < give_up:
        value = condition()
        if value:
            return value
        time.sleep(0.01)
    return condition()


class Case(unittest.TestCase):
    # What a sanitizer says is in the difference.
    maxDiff = None

    def setUp(self):
        self.dir = tempfile.mkdtemp(prefix="rouse-cli-")
        self.addCleanup(shutil.rmtree, self.dir)

    def path(self, name):
        return os.path.join(self.dir, name)

    def load(self, name):
        with open(self.path(name), encoding="utf-8") as file:
            return json.load(file)

    def lines(self, name):
        with open(self.path(name), encoding="utf-8") as file:
            return file.read().splitlines()


class ServerCase(Case):
    """With a private server.  These look for theirs among all processes: one at a time."""

    def setUp(self):
        super().setUp()
        self.tmp = self.path("tmp")
        os.mkdir(self.tmp)
        self.env = environment(TMPDIR=self.tmp)

    def server_of(self, process):
        """Process id and display number of the private server, once it answers."""
        def find():
            for path in glob.glob("/proc/[0-9]*/stat"):
                try:
                    with open(path, encoding="utf-8") as file:
                        text = file.read()
                    pid = int(text.split()[0])
                    if "(Xvfb)" in text and int(text.rsplit(")", 1)[1].split()[1]) == process.pid:
                        links = {os.readlink(fd) for fd in glob.glob(f"/proc/{pid}/fd/*")}
                        with open("/proc/net/unix", encoding="utf-8") as file:
                            for line in file:
                                # Bound, and listening: the fourth column.
                                at = re.match(r"(?:\S+ ){3}00010000 (?:\S+ ){2}\s*(\d+) "
                                              r"/tmp/.X11-unix/X(\d+)$", line)
                                if at and f"socket:[{at.group(1)}]" in links:
                                    return pid, int(at.group(2))
                except (OSError, ValueError):
                    continue
            return None

        found = wait_for(find)
        self.assertTrue(found, "no private server")
        return found

    def check_gone(self, server, number):
        def left():
            paths = [f"/proc/{server}", f"/tmp/.X{number}-lock", f"/tmp/.X11-unix/X{number}"]
            return [p for p in paths if os.path.exists(p)]

        wait_for(lambda: not left())
        self.assertEqual(left(), [])
        self.assertEqual(os.listdir(self.tmp), [])


def run_one(test):
    """A test with a report of its own, so that several can run at once."""
    report = io.StringIO()
    result = unittest.TextTestRunner(stream=report, verbosity=2).run(test)
    return result.wasSuccessful(), report.getvalue()


def run_all(case, workers):
    """All tests of a class, so many at once; returns an exit status."""
    tests = unittest.defaultTestLoader.loadTestsFromTestCase(case)
    with ThreadPoolExecutor(workers) as pool:
        results = list(pool.map(run_one, tests))
    for _, report in results:
        print(report)
    return 0 if all(success for success, _ in results) else 1
