#!/usr/bin/env python3
"""The command `rouse pool` from outside: options, exit statuses, output, interruption.

usage: pool_cli.py ROUSE LEAKING_LIBRARY|none Fast|Display
Exit status 77 where the group cannot run here.
"""
import json
import os
import re
import shutil
import signal
import subprocess
import sys

import cli
from cli import PATIENCE, Case, ServerCase, environment, preloaded

ROUSE = LEAK = None
BATCHES = [1, 8, 64, 512, 1024, 4096]
# The least that means something.
SHORT = ["--posts", "4096", "--rounds", "1"]
NO_SERVER = {"PATH": "/nonexistent"}


def start(*args, env=None, stderr=subprocess.PIPE):
    return subprocess.Popen([ROUSE, "pool", *args], env=env or environment(**NO_SERVER), text=True,
                            stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=stderr)


def run(*args, env=None):
    process = start(*args, env=env)
    try:
        out, err = process.communicate(timeout=PATIENCE)
    except subprocess.TimeoutExpired:
        process.kill()
        raise
    return process.returncode, out, err


def start_watched(*args, env=None):
    """As start(), and returns once a round is over."""
    return cli.start_watched(lambda **more: start(*args, env=env, **more),
                             rb"round [2-9][0-9]* of [0-9]+")


class Checks:
    def check_figure(self, figure):
        self.assertEqual(set(figure), {"median", "quartiles"})
        low, high = figure["quartiles"]
        self.assertTrue(low <= figure["median"] <= high, figure)

    def check_document(self, document, posts, rounds, emits):
        """All of the schema; the machine's speed is no matter of a test."""
        self.assertEqual((document["schema"], document["command"]), (1, "pool"))
        self.assertEqual(document["options"], {"posts": posts, "rounds": rounds})
        self.assertEqual(document["no_pool"], {
            "autoreleases": 20000,
            "running_thread": {"live": 20000, "live_after_empty_pop": 20000,
                               "live_after_drain": 0, "missing": 20000, "theirs_nodes": 20050},
            "ended_thread": {"live_before_end": 20000, "live": 0, "missing": 20000,
                             "theirs_nodes": 5}})
        self.assertEqual(document["outlived"], 0)
        self.assertEqual([b["posts_per_pool"] for b in document["posts"]], BATCHES)
        self.assertEqual([b["theirs_ns"] for b in document["posts"]],
                         [62.3, 70.0, 66.4, 71.5, 71.2, 70.8])
        for batch in document["posts"]:
            self.assertEqual(batch["garbage_bytes"], 574 * batch["posts_per_pool"])
            self.assertAlmostEqual(batch["garbage_bytes"] / 1024, batch["theirs_garbage_kib"], 1)
            # Two entries of 16 bytes a post, and a chunk more.
            self.assertGreaterEqual(batch["own_bytes"], 32 * batch["posts_per_pool"])
            self.assertLessEqual(batch["own_bytes"], 32 * batch["posts_per_pool"] + 65536 + 4096)
        inlined = document["empty"]["inlined_ns"] is not None
        self.check_figure(document["empty"]["called_ns"])
        self.assertGreater(document["empty"]["called_ns"]["median"], 0)
        self.assertEqual(document["empty"]["theirs_ns"], 5.2)
        for batch in document["posts"]:
            for name in ("array", "called", "called_over_array", "inlined", "inlined_over_array"):
                if inlined or not name.startswith("inlined"):
                    self.check_figure(batch[name + "_ns"])
                else:
                    self.assertIsNone(batch[name + "_ns"])
            self.assertGreater(batch["array_ns"]["median"], 0)
        emit = document["emit"]
        self.assertEqual((emit["n"], emit["theirs_ns"]), (emits, [5000, 10000]))
        for name in ("flushed_ns", "answered_ns"):
            if emits:
                self.check_figure(emit[name])
                self.assertGreater(emit[name]["median"], 0)
            else:
                self.assertIsNone(emit[name])
        self.assertEqual(emit["left_out"] is None, bool(emits))
        self.assertEqual(document["theirs"], "Autorelease Pools")

    def check_text(self, out):
        self.assertLessEqual(max(len(line) for line in out.splitlines()[3:]), 80, out)
        self.assertRegex(out, r"(?m)^  main thread, which keeps running +\+20000 +\+20050$")
        self.assertRegex(out, r"(?m)^    an empty push and pop later +\+20000$")
        self.assertRegex(out, r"(?m)^    after rouse_pool_drain_thread\(\) +\+0$")
        self.assertRegex(out, r"(?m)^    after it has ended +\+0 +\+5$")
        for batch in BATCHES:
            self.assertEqual(len(re.findall(r"(?m)^ +%d posts? " % batch, out)), 2, out)
        self.assertIn('"Autorelease Pools"', out)
        self.assertNotIn("LOST", out)


class Fast(Checks, Case):
    def test_bad_values_are_one_clear_line(self):
        for args, word in [
                (["--posts", "0"], "--posts"), (["--posts", "4095"], "--posts"),
                (["--posts", "10000001"], "--posts"), (["--posts", "1e6"], "--posts"),
                (["--posts"], "--posts"), (["--rounds", "0"], "--rounds"),
                (["--rounds", "1002"], "--rounds"), (["--rounds", "-1"], "--rounds"),
                (["--nonsense"], "--nonsense"), (["-z"], "-z"), (["extra"], "extra"),
                (["--json"], "--json"), (["--json", "/nonexistent/j"], "/nonexistent/j")]:
            with self.subTest(args=args):
                status, out, err = run(*args)
                self.assertEqual(status, 2, err)
                self.assertEqual(out, "")
                self.assertEqual(err.count("\n"), 1, err)
                self.assertTrue(err.startswith("rouse: "), err)
                self.assertIn(word, err)

    def test_help(self):
        status, out, err = run("--help")
        self.assertEqual((status, err), (0, ""))
        for option in ("posts", "rounds", "json", "help"):
            self.assertIn("--" + option, out)
        done = subprocess.run([ROUSE, "--help"], capture_output=True, text=True, check=True)
        self.assertRegex(done.stdout, r"(?m)^  pool ")

    def test_without_a_server(self):
        status, out, err = run("--posts", "5000", "--rounds", "3", "--json", self.path("j"))
        self.assertEqual((status, err), (0, ""))
        self.check_text(out)
        self.assertRegex(out, r"(?m)^  left out: .*install")
        document = self.load("j")
        self.check_document(document, 5000, 3, 0)
        self.assertEqual(document["rounds"], 3)
        self.assertIn("install", document["emit"]["left_out"])
        self.assertIsNone(document["machine"]["x_server"])

    def test_json_to_standard_output(self):
        status, out, err = run(*SHORT, "--json", "-")
        self.assertEqual(status, 0)
        self.check_document(json.loads(out), 4096, 1, 0)
        self.check_text(err)  # The tables give way to the document.

    def test_ascii_where_the_terminal_is_not_utf8(self):
        status, out, _ = run(*SHORT, env=environment(LC_ALL="C", **NO_SERVER))
        self.assertEqual(status, 0)
        self.assertTrue(out.isascii(), out)

    def test_policy_of_the_environment_is_for_others(self):
        for policy in ("warn", "abort"):
            status, out, err = run(*SHORT, env=environment(ROUSE_MISSING_POOLS=policy, **NO_SERVER))
            self.assertEqual((status, err), (0, ""), policy)
            self.check_text(out)

    def test_interrupt_reports_what_was_measured(self):
        for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
            process = start_watched("--posts", "10000", "--rounds", "1001", "--json",
                                    self.path("j"))
            process.send_signal(number)
            out, _ = process.communicate(timeout=PATIENCE)
            self.assertEqual(process.returncode, 130)
            self.assertRegex(out, r"cut short: \d+ of 1001 rounds")
            document = self.load("j")
            self.assertTrue(0 < document["rounds"] < 1001)
            self.check_document(document, 10000, 1001, 0)

    def test_lost_objects_are_said_and_are_status_1(self):
        if not os.path.exists(LEAK):
            self.skipTest("the library is static")
        env = dict(preloaded(LEAK), **NO_SERVER)
        env["ASAN_OPTIONS"] += ":detect_leaks=0"
        status, out, err = run(*SHORT, "--json", self.path("j"), env=env)
        self.assertEqual((status, err), (1, ""), out)
        self.assertIn("LOST: 20 objects are live where 0 should be: after it has ended", out)
        self.assertIn("LOST: 19980 of 20000 autoreleases were counted", out)
        self.assertRegex(out, r"LOST: \d+ objects outlived the pools that were to release them")
        document = self.load("j")
        self.assertEqual(document["no_pool"]["ended_thread"]["live"], 20)
        self.assertGreater(document["outlived"], 0)

    def test_file_is_replaced_as_a_whole(self):
        with open(self.path("j"), "w", encoding="utf-8") as file:
            file.write("x" * 1000000)
        self.assertEqual(run("--rounds", "0", "--json", self.path("j"))[0], 2)
        self.assertEqual(len(self.lines("j")[0]), 1000000)
        self.assertEqual(run(*SHORT, "--json", self.path("j"))[0], 0)
        self.check_document(self.load("j"), 4096, 1, 0)

    def test_closed_and_full_output(self):
        pool = f"{ROUSE} pool {' '.join(SHORT)}"
        args = f"{pool} --json {self.path('j')}"
        env = environment()
        # Without a server, and with the programs of the shell line.
        os.mkdir(self.path("bin"))
        for name in ("head", "true"):
            os.symlink(shutil.which(name), self.path(f"bin/{name}"))
        env["PATH"] = self.path("bin")
        bash = shutil.which("bash")
        for command, status in ((f"{args} | head -c 1; exit ${{PIPESTATUS[0]}}", 0),
                                (f"{args} >&-", 0), (f"{args} >&- 2>&- <&-", 0),
                                (f"{args} >/dev/full", 3),
                                (f"{pool} --json /dev/full", 3),
                                (f"{pool} --json - | true; exit ${{PIPESTATUS[0]}}", 0)):
            if os.path.exists(self.path("j")):
                os.remove(self.path("j"))
            done = subprocess.run([bash, "-c", command], env=env, check=False, text=True,
                                  stdout=subprocess.PIPE, stderr=subprocess.PIPE, timeout=PATIENCE)
            self.assertEqual(done.returncode, status, command)
            self.assertEqual(done.stderr.count("cannot write"), 1 if status == 3 else 0, command)
            if args in command:
                self.check_document(self.load("j"), 4096, 1, 0)


class Display(Checks, ServerCase):
    def test_private_server(self):
        # Not the display that the user looks at.
        status, out, err = run("--posts", "4096", "--rounds", "2", "--json", self.path("j"),
                               env=dict(self.env, DISPLAY=":4711"))
        self.assertEqual((status, err), (0, ""))
        self.check_text(out)
        self.assertRegex(out, r"(?m)^  XTestFakeKeyEvent, XFlush +\d")
        self.assertRegex(out, r"A pool around each post takes -?[0-9.]+ ns")
        document = self.load("j")
        self.check_document(document, 4096, 2, 200)
        self.assertTrue(document["machine"]["x_server"])
        self.assertEqual(os.listdir(self.tmp), [])

    def test_signals_leave_no_server(self):
        for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
            process = start_watched("--posts", "4096", "--rounds", "1001", "--json",
                                    self.path("j"), env=self.env)
            server, display = self.server_of(process)
            process.send_signal(number)
            process.communicate(timeout=PATIENCE)
            self.assertEqual(process.returncode, 130)
            self.check_gone(server, display)
            document = self.load("j")
            self.check_document(document, 4096, 1001, 100 * document["rounds"])

    def test_killed_tool_leaves_no_server(self):
        process = start_watched("--posts", "4096", "--rounds", "1001", env=self.env)
        self.addCleanup(process.kill)
        server, display = self.server_of(process)
        process.kill()
        process.communicate(timeout=PATIENCE)
        self.check_gone(server, display)

    def test_server_killed_during_the_run(self):
        process = start_watched("--posts", "4096", "--rounds", "1001", "--json", self.path("j"),
                                env=self.env)
        server, display = self.server_of(process)
        os.kill(server, signal.SIGKILL)
        out, _ = process.communicate(timeout=PATIENCE)
        self.assertEqual(process.returncode, 3, out)
        said = process.said()
        self.assertEqual(said.count("rouse: "), 1, said)
        self.assertIn("rouse: the X server went away", said)
        self.assertRegex(out, r"cut short: \d+ of 1001 rounds")
        self.check_gone(server, display)
        document = self.load("j")
        self.check_document(document, 4096, 1001, 100 * document["rounds"])

    def test_server_that_does_not_start(self):
        os.mkdir(self.path("bin"))
        with open(self.path("bin/Xvfb"), "w", encoding="utf-8") as file:
            file.write("#!/bin/sh\necho no screen >&2\nexit 1\n")
        os.chmod(self.path("bin/Xvfb"), 0o755)
        status, out, err = run(*SHORT, "--json", self.path("j"),
                               env=dict(self.env, PATH=self.path("bin")))
        self.assertEqual((status, err), (3, "rouse: Xvfb does not start: no screen\n"))
        self.assertRegex(out, r"(?m)^  left out: the private X server did not start$")
        self.check_document(self.load("j"), 4096, 1, 0)


def main():
    global ROUSE, LEAK
    ROUSE, LEAK, group = sys.argv[1:4]
    if group == "Display" and not shutil.which("Xvfb"):
        print("SKIP: Xvfb is not installed")
        return 77
    return cli.run_all({"Fast": Fast, "Display": Display}[group], 1)


if __name__ == "__main__":
    sys.exit(main())
