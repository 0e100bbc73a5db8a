#!/usr/bin/env python3
"""`rouse bench` on the loops of other libraries, and with their windows.

usage: bench_cli_hosts.py ROUSE WAKES_LIBRARY Guests|Windows LOOP...
Exit status 77 where it cannot run here.
"""
import functools
import json
import os
import re
import shutil
import signal
import subprocess
import sys

import bench
import cli
from bench import Log, mechanisms, run, start, start_watched
from cli import PATIENCE, Case, ServerCase, environment, preloading

WAKES = None
LOOPS = []


def each_loop(test):
    @functools.wraps(test)
    def on_all(self):
        for loop in LOOPS:
            with self.subTest(loop=loop):
                test(self, loop)

    return on_all


class Common(Log):
    """What holds for both kinds.  self.env is the environment of each run."""

    def check_whole(self, document, loop, fires):
        (measured,) = document["runs"]
        self.assertEqual(measured["loop"], loop)
        self.assertRegex(measured["library"], r"^\w+ \d+\.\d+\.\d+$")
        self.assertEqual([m["name"] for m in measured["mechanisms"]], mechanisms(loop))
        for mech in measured["mechanisms"]:
            self.assertEqual((mech["n"], mech["lost"], mech["coalesced"] < fires),
                             (fires, 0, True), mech["name"])
            self.assertEqual(len(mech["samples_us"]), fires - 1)
            self.assertGreater(mech["min_us"], 0)
        self.assertGreaterEqual(measured["ticks"]["n"] + measured["ticks"]["missed"], 6)

    def altered(self, how, loop, mech, *args):
        """A run in which some of the library's own wakes are not as they should be: how many of
        them, what the mechanism in question came to, the status, and what was said."""
        env = dict(self.env, ROUSE_TEST_WAKES=how, **preloading(WAKES))
        # Others beside it, for evidence.
        status, out, err = run("--on", loop, "--mech", f"rouse-wake,rouse-post,eventfd,{mech}",
                               "--for", "1", "--rate", "20", "--json", self.path("j"), *args,
                               env=env)
        count = int(re.search(r"(?m)^altered (\d+)$", err).group(1))
        if count == 0:
            self.skipTest(f"{loop} calls something else")
        found = {m["name"]: m for m in self.load("j")["runs"][0]["mechanisms"]}
        for name, other in found.items():
            if name != mech:
                self.assertEqual((other["n"], other["lost"]), (20, 0), name)
        self.longest = max(m["max_us"] for m in found.values())
        return count, found[mech], status, out

    def check_interrupted(self, loop, number):
        process = start_watched("--on", loop, "--for", "600", "--rate", "20", "--json",
                                self.path("j"), "--log", self.path("l"), env=self.env)
        self.addCleanup(process.kill)
        process.send_signal(number)
        out, _ = process.communicate(timeout=PATIENCE)
        self.assertEqual(process.returncode, 130)
        self.assertIn("cut short", out)
        for mech in self.load("j")["runs"][0]["mechanisms"]:
            self.assertGreater(mech["n"], 0, mech["name"])
            self.assertEqual(mech["lost"], 0, mech["name"])
        self.assertEqual(self.check_log("l")[-1][2], "teardown")


class Guests(Common, Case):
    def setUp(self):
        super().setUp()
        self.env = environment()

    @each_loop
    def test_whole_run(self, loop):
        status, out, err = run("--on", loop, "--for", "1", "--json", self.path("j"), "--log",
                               self.path("l"), env=self.env)
        self.assertEqual((status, err), (0, ""))
        self.check_whole(self.load("j"), loop, 10)
        for own in bench.OWN[loop]:
            self.assertRegex(out, rf"p50 of rouse-wake: .*[0-9.]+ of {own}'s")
        self.assertNotIn("LOST", out)
        events = self.check_log("l")
        self.assertEqual({where for _, where, _, _ in events}, {loop})
        wakeups = [fields["mech"] for _, _, kind, fields in events if kind == "wakeup"]
        self.assertEqual(sorted(wakeups), sorted(mechanisms(loop) * 10))

    def test_one_after_the_other(self):
        status, out, err = run("--on", ",".join(LOOPS), "--for", "1", "--busy", "1000", "--rate",
                               "100", "--json", "-", env=self.env)
        self.assertEqual(status, 0, err)
        document = json.loads(out)
        self.assertEqual([r["loop"] for r in document["runs"]], LOOPS)
        for measured in document["runs"]:
            self.assertEqual({(m["n"], m["lost"]) for m in measured["mechanisms"]}, {(100, 0)})
        # Numbers keep their point whatever a library makes of the locale.
        self.assertRegex(err, r"p50 of rouse-wake: \d+\.\d\d of")

    @each_loop
    def test_signals(self, loop):
        for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
            self.check_interrupted(loop, number)

    @each_loop
    def test_calls_that_come_to_nothing_are_lost(self, loop):
        mech = bench.OWN[loop][-1]
        # An async coalesces, so the next one answers for one just before it; and for all of them
        # where the machine stood still for a period (50 ms).
        for _ in range(10):
            count, found, status, out = self.altered("drop 3", loop, mech)
            if mech != "async" or self.longest < 50000:
                break
        else:
            self.skipTest("the machine stands still again and again")
        self.assertEqual((count, status), (3, 1), out)
        self.assertEqual(found["n"] + found["lost"], 20)
        self.assertIn(found["lost"], (1, 2, 3) if mech == "async" else (3,))
        self.assertRegex(out, rf"LOST: \d of 20 wakeups of {mech} ")
        self.assertEqual(out.count("LOST"), 1, out)

    def test_answers_that_come_twice_are_said(self):
        if "glib" not in LOOPS:
            self.skipTest("without GLib")
        _, found, _, out = self.altered("twice 2", "glib", "idle")
        self.assertEqual((found["n"], found["lost"]), (20, 0))
        self.assertIn("2 answers of idle had a stamp that was not sent", out)

    def alone(self, other=None):
        """The command in a folder where there is no other one, or this instead."""
        folder = self.path("bin")
        os.makedirs(folder, exist_ok=True)
        shutil.copy(bench.ROUSE, folder)
        if other:
            with open(os.path.join(folder, "rouse-hosts"), "w", encoding="utf-8") as file:
                file.write(other)
            os.chmod(file.name, 0o755)

        def command(*args, env=self.env):
            done = subprocess.run([os.path.join(folder, "rouse"), "bench", *args], env=env,
                                  capture_output=True, text=True, check=False, timeout=PATIENCE)
            return done.returncode, done.stdout, done.stderr

        return command

    def test_without_the_libraries(self):
        for other, word in ((None, "install"), ("#!/bin/sh\nexit 127\n", "does not start"),
                            ("#!/nonexistent\n", "does not start")):
            command = self.alone(other)
            for loop in bench.OWN:
                status, out, err = command("--on", f"epoll,{loop}")
                self.assertEqual((status, out, err.count("\n")), (3, "", 1), err)
                self.assertRegex(err, rf"^rouse: {loop} is not available: .*{word}")
            out = command("--list")[1]
            for loop, own in bench.OWN.items():
                self.assertRegex(out, rf"(?m)^  {loop} .*; not available: .*{word}")
                for mech in own:
                    self.assertRegex(out, rf"(?m)^  {mech} .*; not available, as {loop} is not")
            status, out, err = command("--for", "1", "--mech", "floor",
                                       env=environment(PATH="/nonexistent"))
            self.assertEqual((status, err), (0, ""))
            self.assertIn("SKIP: no glib, uv, qt, glfw, sdl, appkit; ", out)
            self.assertEqual(len(re.findall(r"(?m)^  floor +10 +0 ", out)), 2, out)

    def test_the_command_itself_loads_none_of_them(self):
        done = subprocess.run([bench.ROUSE], env=environment(LD_TRACE_LOADED_OBJECTS="1"),
                              capture_output=True, text=True, check=False)
        self.assertIn("jansson", done.stdout)
        self.assertNotRegex(done.stdout, r"libglib|libuv\.|Qt6|libglfw|libSDL|gnustep")


class Windows(Common, ServerCase):
    def running(self, loop, *args):
        """A run that has begun to measure."""
        process = start_watched("--on", loop, "--for", "600", "--json", self.path("j"), *args,
                                env=self.env)
        self.addCleanup(process.kill)
        return process, *self.server_of(process)

    @each_loop
    def test_whole_run(self, loop):
        process = start("--on", loop, "--for", "2", "--json", self.path("j"), "--log",
                        self.path("l"), env=self.env)
        self.addCleanup(process.kill)
        server, display = self.server_of(process)
        out, err = process.communicate(timeout=PATIENCE)
        self.assertEqual((process.returncode, err), (0, ""))
        self.check_gone(server, display)
        self.check_whole(self.load("j"), loop, 20)
        self.assertTrue(self.load("j")["machine"]["x_server"])
        self.assertRegex(out, rf"p50 of rouse-wake: .*[0-9.]+ of {bench.OWN[loop][0]}'s")
        self.assertNotIn("LOST", out)
        kinds = [kind for _, _, kind, _ in self.check_log("l")]
        self.assertEqual(kinds.count("window_created"), 1)
        self.assertGreater(kinds.count("expose"), 1)

    @each_loop
    def test_choice(self, loop):
        """Also with nothing but the library's own wait, and without it."""
        own = bench.OWN[loop][0]
        for choice in (own, "rouse-wake", f"rouse-wake,{own}"):
            status, out, err = run("--on", loop, "--for", "1", "--rate", "50", "--mech", choice,
                                   "--json", "-", env=self.env)
            self.assertEqual(status, 0, err)
            found = json.loads(out)["runs"][0]["mechanisms"]
            self.assertEqual([(m["name"], m["n"], m["lost"]) for m in found],
                             [(name, 50, 0) for name in choice.split(",")])

    def test_one_after_the_other(self):
        status, out, err = run("--on", ",".join(["x11", *LOOPS]), "--for", "1", "--busy", "1000",
                               "--load", "2", "--json", "-", env=self.env)
        self.assertEqual(status, 0, err)
        document = json.loads(out)
        self.assertEqual([r["loop"] for r in document["runs"]], ["x11", *LOOPS])
        for measured in document["runs"]:
            self.assertEqual({(m["n"], m["lost"]) for m in measured["mechanisms"]}, {(10, 0)})

    @each_loop
    def test_signals_leave_no_server(self, loop):
        for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
            self.check_interrupted(loop, number)
            self.assertEqual(os.listdir(self.tmp), [])
        process, server, display = self.running(loop)
        process.kill()
        process.communicate(timeout=PATIENCE)
        self.check_gone(server, display)

    @each_loop
    def test_server_killed_in_either_wait(self, loop):
        own = bench.OWN[loop][0]
        for choice in ("rouse-wake", f"rouse-wake,{own}", own):
            process, server, display = self.running(loop, "--rate", "10", "--mech", choice)
            os.kill(server, signal.SIGKILL)
            out, _ = process.communicate(timeout=PATIENCE)
            said = [line for line in re.split(r"[\r\n]+|\x1b\[K", process.said())
                    if "rouse:" in line]
            self.assertEqual(process.returncode, 3, said)
            self.assertEqual(len(said), 1, said)
            self.assertIn("the X server went away", said[0])
            self.assertIn("cut short", out)
            self.check_gone(server, display)
            for mech in self.load("j")["runs"][0]["mechanisms"]:
                self.assertGreater(mech["n"], 0, mech["name"])
                self.assertEqual(mech["lost"], 0, mech["name"])

    @each_loop
    def test_stopped_server_is_ended_too(self, loop):
        process, server, display = self.running(loop)
        os.kill(server, signal.SIGSTOP)
        process.send_signal(signal.SIGINT)
        process.communicate(timeout=PATIENCE)
        self.assertEqual(process.returncode, 130)
        self.check_gone(server, display)

    @each_loop
    def test_calls_that_come_to_nothing_are_lost(self, loop):
        """The library's own wait does not end for them, and is given up."""
        mech = bench.OWN[loop][0]
        count, found, status, out = self.altered("drop 1", loop, mech)
        self.assertEqual((count, status), (1, 1), out)
        self.assertEqual((found["n"], found["lost"]), (19, 1))
        self.assertEqual(out.count("LOST"), 1, out)

    def test_calls_that_come_too_late_are_lost(self):
        if "sdl" not in LOOPS:
            self.skipTest("without SDL")
        # In the library's wait, that is to say in the next one; and in the loop's.
        for how in ("later 1", "after 1"):
            _, found, status, out = self.altered(how, "sdl", "pushevent")
            self.assertEqual((found["n"], found["lost"], status), (19, 1, 1), out)

    def test_answers_that_come_twice_are_said(self):
        if "sdl" not in LOOPS:
            self.skipTest("without SDL")
        for mech in bench.OWN["sdl"]:
            _, found, _, out = self.altered("twice 2", "sdl", mech)
            self.assertEqual((found["n"], found["lost"]), (20, 0))
            self.assertIn(f"2 answers of {mech} had a stamp that was not sent", out)

    @each_loop
    def test_display_that_is_not_there(self, loop):
        for args, env in ((["--display", ":4711"], self.env),
                          ([], dict(self.env, DISPLAY=":4711"))):
            status, _, err = run("--on", loop, "--for", "1", *args, env=env)
            self.assertEqual(status, 3)
            self.assertEqual(err.count("\n"), 1, err)
            self.assertIn(":4711", err)
        status, _, err = run("--on", loop, env=environment(PATH="/nonexistent"))
        self.assertEqual((status, err.count("\n")), (3, 1), err)
        self.assertIn("install", err)


def main():
    global WAKES, LOOPS
    bench.ROUSE, WAKES, group, *LOOPS = sys.argv[1:]
    if group == "Windows" and not shutil.which("Xvfb"):
        print("SKIP: Xvfb is not installed")
        return 77
    cases = {"Guests": Guests, "Windows": Windows}[group]
    # They mostly wait for runs of whole seconds.
    return cli.run_all(cases, 1 if group == "Windows" else 4)


if __name__ == "__main__":
    sys.exit(main())
