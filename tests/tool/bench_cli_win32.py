#!/usr/bin/env python3
"""The command for Windows from outside: options, exit statuses, the loop win32, its output.

usage: bench_cli_win32.py COMMAND...    for example: scripts/wine.sh rouse.exe
Exit status 77 where there is nothing that runs it.
"""
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
import unittest
from concurrent.futures import ThreadPoolExecutor

COMMAND = sys.argv[1:]
PATIENCE = 120
GUEST = ["rouse-wake", "rouse-post", "handle", "postmessage", "threadmessage", "setevent", "floor"]
ALONE = ["rouse-wake", "rouse-post", "handle", "floor"]
ELSEWHERE = ["epoll", "poll", "x11", "wayland", "glib", "uv", "qt", "glfw", "sdl"]
LOG_LINE = re.compile(r"^\d+ (win32|win32-poller) (step|window_created|wakeup|fd_tick|wm_paint|stats|"
                      r"teardown)( [a-z0-9_]+=\S+)*$")
WINE = os.name != "nt"


def rouse(*args):
    done = subprocess.run([*COMMAND, *args], stdin=subprocess.DEVNULL, capture_output=True,
                          text=True, timeout=PATIENCE, check=False)
    return done.returncode, done.stdout, done.stderr


def every(cases):
    """What each of several command lines comes to, four at a time."""
    with ThreadPoolExecutor(4) as pool:
        return zip(cases, pool.map(lambda case: rouse(*case[0]), cases))


class Command(unittest.TestCase):
    maxDiff = None

    def setUp(self):
        self.dir = tempfile.mkdtemp(prefix="rouse-cli-")
        self.addCleanup(shutil.rmtree, self.dir)

    def path(self, name):
        return os.path.join(self.dir, name)

    def test_bad_values_are_one_clear_line(self):
        cases = [
            (["bench", "--on", "foo"], 2, "foo"), (["bench", "--on", "win32,"], 2, "--on"),
            (["bench", "--mech", "pipe"], 2, "pipe"), (["bench", "--for", "0"], 2, "--for"),
            (["bench", "--rate", "1x"], 2, "--rate"), (["bench", "--for"], 2, "--for"),
            (["bench", "--nonsense"], 2, "--nonsense"), (["bench", "extra"], 2, "extra"),
            (["bench", "--load", "1"], 2, "--load"), (["bench", "--display", ":0"], 2, "--display"),
            (["bench", "--on", "win32-poller", "--mech", "setevent"], 2, "win32-poller"),
            (["bench", "--json", self.path("no/j")], 2, "no/j"),
            (["bench", "--json", "same", "--log", "same"], 2, "same"),
            (["bench", "--on", "epoll"], 3, "epoll"), (["bench", "--on", "win32,x11"], 3, "x11"),
            (["pool"], 3, "pool"), (["nope"], 2, "nope"), (["--nope"], 2, "nope")]
        for (args, wanted, word), (status, out, err) in every(cases):
            with self.subTest(args=args):
                self.assertEqual((status, out, err.count("\n")), (wanted, "", 1), err)
                self.assertTrue(err.startswith("rouse: "), err)
                self.assertIn(word, err)

    def test_help_and_list(self):
        status, out, err = rouse("--version")
        self.assertEqual((status, err), (0, ""))
        self.assertRegex(out, r"^rouse \d+\.\d+\.\d+ ")
        self.assertIn("bench", rouse("--help")[1])
        out = rouse("bench", "--help")[1]
        for option in ("on", "mech", "for", "rate", "fd-rate", "busy", "log", "json", "list"):
            self.assertIn("--" + option, out)
        status, out, err = rouse("bench", "--list")
        self.assertEqual((status, err), (0, ""))
        for name in ("win32", "win32-poller", *GUEST):
            self.assertRegex(out, rf"(?m)^  {name} ")
            self.assertNotRegex(out, rf"(?m)^  {name} .*not available")
        for name in ELSEWHERE:
            self.assertRegex(out, rf"(?m)^  {name} .*; not available: ")
        self.assertRegex(out, r"(?m)^  MsgWaitForMultipleObjectsEx\(\) takes 63 handles; "
                              r"64 are refused \(error 87\)$")

    def test_every_wakeup_is_answered(self):
        status, out, err = rouse("bench", "--for", "5", "--rate", "20", "--log", self.path("l"),
                                 "--json", self.path("j"))
        self.assertEqual((status, err), (0, ""), out)
        for name in GUEST:
            self.assertEqual(len(re.findall(rf"(?m)^  {name} +100 +0 +", out)),
                             2 if name in ALONE else 1, out)
        self.assertLessEqual(max(map(len, out.splitlines()[3:])), 110)
        self.assertRegex(out, r"(?m)^  waitable_timer at 7 Hz: \d+ ticks")
        self.assertRegex(out, r"(?m)^  WM_PAINT: \d+, ")
        # Whoever is second waits for the first one's handler too, on whatever machine.
        first, second = re.search(r"at once the first waited (\d+) us, the second (\d+) us",
                                  out).groups()
        self.assertGreaterEqual(int(second), int(first) + 999)
        with open(self.path("j"), encoding="utf-8") as file:
            self.check_document(json.load(file), out)
        self.check_log()

    def check_document(self, document, out):
        self.assertEqual(document["schema"], 1)
        self.assertEqual(document["options"], {"rate": 20, "fd_rate": 7, "busy_us": 0, "load": 0})
        machine = document["machine"]
        self.assertEqual(set(machine), {"kernel", "processor", "clock_source", "cpus", "load",
                                        "x_server", "compositor"})
        self.assertRegex(machine["kernel"], r"^Windows \d+\.\d+\.\d+ \w+" +
                         (r", which is wine \d" if WINE else r"$"))
        self.assertIn(machine["kernel"], out)
        self.assertEqual((machine["load"], machine["x_server"], machine["compositor"]),
                         (None, None, None))
        self.assertGreater(machine["cpus"], 0)
        self.assertEqual([r["loop"] for r in document["runs"]], ["win32", "win32-poller"])
        for run, mechs in zip(document["runs"], (GUEST, ALONE)):
            self.assertEqual(set(run), {"loop", "library", "seconds", "mechanisms", "ticks",
                                        "frames"})
            self.assertEqual((run["seconds"], run["library"]), (5, None))
            self.assertEqual([m["name"] for m in run["mechanisms"]], mechs)
            # 35 of them, and fewer where the last ones were late.
            self.assertEqual(run["ticks"]["hz"], 7)
            self.assertGreaterEqual(run["ticks"]["n"] + run["ticks"]["missed"], 30)
            for mech in run["mechanisms"]:
                self.assertEqual((mech["n"], mech["lost"], len(mech["samples_us"])), (100, 0, 99))
                ordered = sorted(mech["samples_us"])
                self.assertEqual((mech["min_us"], mech["p50_us"], mech["p90_us"], mech["max_us"]),
                                 (ordered[0], ordered[49], ordered[89], ordered[98]))
                self.assertGreater(mech["min_us"], 0)
        self.assertGreater(document["runs"][0]["frames"], 0)
        self.assertIsNone(document["runs"][1]["frames"])

    def check_log(self):
        with open(self.path("l"), encoding="utf-8") as file:
            lines = file.read().splitlines()
        events, before = [], 0
        for line in lines:
            self.assertRegex(line, LOG_LINE)
            us, loop, kind, *fields = line.split(" ")
            self.assertGreaterEqual(int(us), before, line)
            before = int(us)
            events.append((before, loop, kind, dict(f.split("=", 1) for f in fields)))
        for loop, mechs in (("win32", GUEST), ("win32-poller", ALONE)):
            mine = [(us, kind, fields) for us, where, kind, fields in events if where == loop]
            kinds = [kind for _, kind, _ in mine]
            self.assertEqual((kinds[0], kinds[-1]), ("step", "teardown"))
            self.assertIn("fd_tick", kinds)
            # In the order of the calls: each mechanism once in each round, in orders that change.
            calls = [mech for _, mech in sorted(
                (us - float(fields["latency_us"]), fields["mech"])
                for us, kind, fields in mine if kind == "wakeup")]
            rounds = [calls[i:i + len(mechs)] for i in range(0, len(calls), len(mechs))]
            self.assertEqual(len(rounds), 100)
            self.assertEqual({tuple(sorted(r)) for r in rounds}, {tuple(sorted(mechs))})
            self.assertGreater(len({tuple(r) for r in rounds}), 10)
        # The window draws meanwhile: between one wakeup and another, and again.
        kinds = [kind for _, where, kind, _ in events
                 if where == "win32" and kind in ("wakeup", "wm_paint")]
        turns = sum(a != b for a, b in zip(kinds, kinds[1:]))
        self.assertIn("window_created", [kind for _, _, kind, _ in events])
        self.assertGreater(turns, 20)

    def test_json_alone_on_standard_output(self):
        status, out, err = rouse("bench", "--on", "win32", "--for", "1", "--busy", "2000", "--mech",
                                 "threadmessage,rouse-wake", "--json", "-")
        self.assertEqual(status, 0, err)
        run = json.loads(out)["runs"][0]
        self.assertEqual([m["name"] for m in run["mechanisms"]], ["rouse-wake", "threadmessage"])
        self.assertIn("busy 2000 us", err)


if __name__ == "__main__":
    if subprocess.run([*COMMAND, "--version"], stdin=subprocess.DEVNULL, check=False,
                      timeout=PATIENCE).returncode == 77:
        sys.exit(77)
    unittest.main(argv=sys.argv[:1], verbosity=2)
