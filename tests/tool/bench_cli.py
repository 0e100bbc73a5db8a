#!/usr/bin/env python3
"""The command `rouse bench` from outside: options, exit statuses, output, interruption.

usage: bench_cli.py ROUSE DEAF_LIBRARY|none DROPPING_LIBRARY|none Fast|Display
Exit status 77 where the group cannot run here.
"""
import glob
import json
import os
import re
import shutil
import signal
import socket
import struct
import subprocess
import sys
import time

import bench
import cli
from bench import MECHS, Log, run, start, start_watched
from cli import PATIENCE, Case, ServerCase, environment, preloaded, wait_for

DEAF = DROP = None


class Fast(Log, Case):
    def test_bad_values_are_one_clear_line(self):
        for args, word in [
                (["--on", "foo"], "foo"), (["--on", ""], "--on"), (["--on", "epoll,"], "--on"),
                (["--mech", "pipe,nope"], "nope"), (["--for", "0"], "--for"),
                (["--for", "-1"], "--for"), (["--for", "1.5"], "--for"),
                (["--for", "99999999999999999999"], "--for"), (["--rate", "1x"], "--rate"),
                (["--rate", "1001"], "--rate"), (["--fd-rate", "0"], "--fd-rate"),
                (["--busy", "x"], "--busy"), (["--load", "65"], "--load"),
                (["--rate", "1000", "--for", "86400"], "--rate"), (["--for"], "--for"),
                (["--nonsense"], "--nonsense"), (["-z"], "-z"), (["extra"], "extra"),
                (["--on", "epoll", "--mech", "clientmessage"], "epoll"),
                (["--on", "x11", "--mech", "sync"], "x11"),
                (["--on", "wayland", "--mech", "clientmessage"], "wayland"),
                (["--on", "epoll", "--load", "1"], "--load"),
                (["--on", "poll", "--display", ":0"], "--display"),
                (["--on", "wayland", "--display", ":0"], "--display"),
                (["--on", "glib", "--load", "1"], "--load"),
                (["--on", "glib", "--mech", "async"], "glib"),
                (["--on", "sdl", "--mech", "emptyevent"], "sdl"),
                (["--display", ""], "--display"),
                (["--log", "/nonexistent/l"], "/nonexistent/l"),
                (["--json", "/nonexistent/j"], "/nonexistent/j"),
                (["--json", "/tmp/x", "--log", "/tmp/x"], "/tmp/x")]:
            with self.subTest(args=args):
                status, out, err = run(*args)
                self.assertEqual(status, 2, err)
                self.assertEqual(out, "")
                self.assertEqual(err.count("\n"), 1, err)
                self.assertTrue(err.startswith("rouse: "), err)
                self.assertIn(word, err)

    def test_command_itself(self):
        def rouse(*args):
            done = subprocess.run([bench.ROUSE, *args], capture_output=True, text=True, check=False)
            return done.returncode, done.stdout, done.stderr

        self.assertEqual(rouse("--version")[0], 0)
        self.assertRegex(rouse("--version")[1], r"^rouse \d+\.\d+\.\d+ ")
        self.assertIn("bench", rouse("--help")[1])
        self.assertEqual(rouse()[0], 2)
        for args in (["nope"], ["--nope"]):
            status, out, err = rouse(*args)
            self.assertEqual((status, out, err.count("\n")), (2, "", 1))
            self.assertIn("nope", err)

    def test_help_and_list(self):
        status, out, _ = run("--help")
        self.assertEqual(status, 0)
        for option in ("on", "for", "rate", "fd-rate", "mech", "display", "log", "json", "list",
                       "busy", "load"):
            self.assertIn("--" + option, out)
        status, out, _ = run("--list", env=environment(PATH="/nonexistent"))
        self.assertEqual(status, 0)
        others = [*bench.OWN, *(name for own in bench.OWN.values() for name in own)]
        for name in MECHS + ["epoll", "poll", "clientmessage", "sync", *others]:
            self.assertRegex(out, r"(?m)^  %s " % name)
        for name in ("x11", "wayland", "glfw", "sdl", "appkit"):
            self.assertRegex(out, r"(?m)^  %s .*not available" % name)

    def test_everything_without_a_display(self):
        status, out, err = run("--for", "1", "--log", self.path("l"), "--json", self.path("j"),
                               env=environment(PATH="/nonexistent"))
        self.assertEqual((status, err), (0, ""))
        self.assertRegex(out, r"(?m)^SKIP: no X11 display: .*install")
        self.assertRegex(out, r"(?m)^SKIP: no Wayland compositor: .*install")
        self.assertRegex(out, r"(?m)^SKIP: no (\w+, )*glfw, sdl, appkit; ")
        self.assertEqual(max(len(line) for line in out.splitlines()[5:]) <= 100, True)
        loops = ["epoll", "poll", *bench.guests()]
        for name in MECHS:
            self.assertEqual(len(re.findall(r"(?m)^  %s +10 +0 +" % name, out)), len(loops), out)
        self.assertIn("█", out)

        document = self.load("j")
        self.assertEqual(document["schema"], 1)
        self.assertEqual(document["options"], {"rate": 10, "fd_rate": 7, "busy_us": 0, "load": 0})
        self.assertIsNone(document["machine"]["x_server"])
        self.assertIsNone(document["machine"]["compositor"])
        self.assertEqual([r["loop"] for r in document["runs"]], loops)
        for loop in document["runs"]:
            self.assertEqual(loop["seconds"], 1)
            self.assertEqual([m["name"] for m in loop["mechanisms"]],
                             bench.mechanisms(loop["loop"]))
            self.assertEqual(loop["ticks"]["hz"], 7)
            self.assertIsNone(loop["frames"])
            # More of them where the end was late.
            self.assertGreaterEqual(loop["ticks"]["n"] + loop["ticks"]["missed"], 6)
            for mech in loop["mechanisms"]:
                self.assertEqual((mech["n"], mech["lost"]), (10, 0))
                self.assertEqual(len(mech["samples_us"]), 9)
                ordered = sorted(mech["samples_us"])
                self.assertEqual((mech["min_us"], mech["p50_us"], mech["p90_us"], mech["max_us"]),
                                 (ordered[0], ordered[4], ordered[8], ordered[8]))
                self.assertGreater(mech["min_us"], 0)

        events = self.check_log("l")
        for loop in ("epoll", "poll"):
            mine = [(kind, fields) for _, where, kind, fields in events if where == loop]
            self.assertEqual(mine[0][0], "step")
            self.assertEqual(mine[-1][0], "teardown")
            wakeups = [fields for kind, fields in mine if kind == "wakeup"]
            self.assertEqual(len(wakeups), 10 * len(MECHS))
            # Interleaved: each mechanism once in each round, in orders that change.  In the
            # order of the calls: a late answer may come after a later call's.
            calls = [mech for _, mech in sorted(
                (us - float(fields["latency_us"]), fields["mech"])
                for us, where, kind, fields in events if (where, kind) == (loop, "wakeup"))]
            rounds = [calls[i:i + 5] for i in range(0, 50, 5)]
            self.assertEqual({tuple(sorted(r)) for r in rounds}, {tuple(sorted(MECHS))})
            self.assertGreater(len({tuple(r) for r in rounds}), 3)
            self.assertTrue(all(float(w["latency_us"]) > 0 for w in wakeups))
            self.assertIn("fd_tick", [kind for kind, _ in mine])

    def test_blocks_are_for_utf8_terminals_only(self):
        status, out, _ = run("--for", "1", "--on", "epoll", "--mech", "pipe",
                             env=environment(LC_ALL="C"))
        self.assertEqual(status, 0)
        self.assertTrue(out.isascii(), out)

    def test_a_display_by_name_says_what_to_install(self):
        for loop in ("x11", "wayland"):
            status, _, err = run("--on", loop, env=environment(PATH="/nonexistent"))
            self.assertEqual(status, 3)
            self.assertEqual(err.count("\n"), 1, err)
            self.assertIn("install", err)

    def test_load_wants_a_display(self):
        status, out, err = run("--load", "1", "--for", "1", env=environment(PATH="/nonexistent"))
        self.assertEqual((status, out, err.count("\n")), (3, "", 1), err)
        self.assertIn("--load", err)

    def test_rate_and_choice(self):
        status, out, err = run("--on", "poll", "--mech", "pipe,eventfd", "--rate", "100",
                               "--fd-rate", "50", "--for", "1", "--json", "-")
        self.assertEqual(status, 0)
        document = json.loads(out)
        self.assertIn("pipe", err)  # The table gives way to the document.
        self.assertEqual([(m["name"], m["n"]) for m in document["runs"][0]["mechanisms"]],
                         [("eventfd", 100), ("pipe", 100)])
        self.assertEqual(document["options"],
                         {"rate": 100, "fd_rate": 50, "busy_us": 0, "load": 0})
        self.assertGreaterEqual(document["runs"][0]["ticks"]["n"] +
                                document["runs"][0]["ticks"]["missed"], 49)

    def test_busy_callback_makes_the_tail(self):
        # 60 wakeups and 60 callbacks a second: they must not march together.
        status, out, _ = run("--on", "epoll", "--mech", "rouse-wake,eventfd,pipe", "--rate", "20",
                             "--for", "2", "--busy", "8000", "--json", "-")
        self.assertEqual(status, 0)
        for mech in json.loads(out)["runs"][0]["mechanisms"]:
            self.assertEqual((mech["n"], mech["lost"]), (40, 0))
            # Some 48 % of the time the loop is in that callback; a busy machine adds to that.
            late = sum(us > 1000 for us in mech["samples_us"]) / len(mech["samples_us"])
            self.assertGreater(late, 0.15, mech["name"])

    def test_interrupt_reports_what_was_measured(self):
        for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
            process = start_watched("--on", "epoll,poll", "--for", "600", "--rate", "50", "--log",
                                    self.path("l"), "--json", self.path("j"))
            process.send_signal(number)
            out, _ = process.communicate(timeout=PATIENCE)
            self.assertEqual(process.returncode, 130)
            self.assertIn("cut short", out)
            document = self.load("j")
            self.assertEqual([r["loop"] for r in document["runs"]], ["epoll"])
            self.assertLess(document["runs"][0]["seconds"], 600)
            for mech in document["runs"][0]["mechanisms"]:
                self.assertGreater(mech["n"], 0)
                self.assertEqual(mech["lost"], 0)
            self.assertEqual(self.check_log("l")[-1][2], "teardown")

    def test_a_lost_wakeup_is_said_and_is_status_1(self):
        if not os.path.exists(DEAF):
            self.skipTest("the library is static")
        status, out, _ = run("--on", "epoll", "--mech", "rouse-wake,eventfd", "--for", "1",
                             "--json", self.path("j"), env=preloaded(DEAF))
        self.assertEqual(status, 1)
        self.assertIn("LOST: 10 of 10 wakeups of rouse-wake were never answered", out)
        wake, eventfd = self.load("j")["runs"][0]["mechanisms"]
        self.assertEqual((wake["n"], wake["lost"], wake["p50_us"]), (0, 10, None))
        self.assertEqual((eventfd["n"], eventfd["lost"]), (10, 0))

    def test_wakeups_lost_in_the_middle_are_counted(self):
        if not os.path.exists(DROP):
            self.skipTest("the library is static")
        for loop in ("epoll", "poll"):
            # Where the machine stood still for a period or longer (50 ms), calls that were swallowed
            # and one that was not came to the loop together: then that one answers for them.
            for _ in range(10):
                status, out, err = run("--on", loop, "--mech", "rouse-wake,rouse-post,eventfd,pipe",
                                       "--rate", "20", "--for", "3", "--json", self.path("j"),
                                       env=preloaded(DROP))
                dropped = int(re.search(r"(?m)^dropped (\d+)$", err).group(1))
                self.assertGreater(dropped, 0)
                wake, *others = mechanisms = self.load("j")["runs"][0]["mechanisms"]
                self.assertEqual(wake["n"] + wake["lost"], 60)
                if max(m["max_us"] for m in mechanisms) < 50000:
                    break
            else:
                self.skipTest("the machine stands still again and again")
            self.assertEqual(status, 1, out + err)
            self.assertEqual((wake["n"], wake["lost"]), (60 - dropped, dropped), out)
            self.assertEqual(len(wake["samples_us"]), wake["n"] - 1)
            for mech in others:
                self.assertEqual((mech["n"], mech["lost"]), (60, 0), mech["name"])
            self.assertIn(f"LOST: {dropped} of 60 wakeups of rouse-wake woke nobody: "
                          "later ones of others were served before them\n", out)
            self.assertEqual(out.count("LOST"), 1, out)

    def test_files_outlive_a_run_that_cannot_be(self):
        for name in ("l", "j"):
            with open(self.path(name), "w", encoding="utf-8") as file:
                file.write("of an earlier run\n")
        files = ["--log", self.path("l"), "--json", self.path("j")]
        for args, status in ((["--on", "x11", *files], 3),
                             ([*files, "--json", "/nonexistent/j"], 2)):
            self.assertEqual(run(*args, env=environment(PATH="/nonexistent"))[0], status)
            for name in ("l", "j"):
                self.assertEqual(self.lines(name), ["of an earlier run"], args)
        # And are replaced as a whole by one that can.
        with open(self.path("j"), "a", encoding="utf-8") as file:
            file.write("x" * 1000000)
        self.assertEqual(run("--on", "epoll", "--mech", "pipe", "--for", "1", "--json",
                             self.path("j"))[0], 0)
        self.assertEqual(self.load("j")["schema"], 1)

    def test_closed_and_full_output(self):
        args = f"{bench.ROUSE} bench --on epoll --mech eventfd --for 1 --json {self.path('j')}"
        for command, status in ((f"{args} | head -c 1; exit ${{PIPESTATUS[0]}}", 0),
                                (f"{args} >&-", 0), (f"{args} >&- 2>&- <&-", 0),
                                (f"{args} >/dev/full", 3)):
            done = subprocess.run(["bash", "-c", command], env=environment(), check=False,
                                  stdout=subprocess.PIPE, stderr=subprocess.PIPE, timeout=PATIENCE)
            self.assertEqual(done.returncode, status, command)
            self.assertEqual(self.load("j")["runs"][0]["mechanisms"][0]["n"], 10, command)
        done = subprocess.run(["bash", "-c", f"{bench.ROUSE} bench --on epoll --for 1 --json - | true; "
                               "exit ${PIPESTATUS[0]}"], env=environment(), check=False,
                              stderr=subprocess.PIPE, text=True, timeout=PATIENCE)
        self.assertEqual(done.returncode, 0)
        self.assertNotIn("cannot", done.stderr)
        status, _, err = run("--on", "epoll", "--mech", "eventfd", "--for", "1", "--json",
                             "/dev/full")
        self.assertEqual(status, 3)
        self.assertIn("/dev/full", err)


class Display(Log, ServerCase):
    def running(self, *args):
        """A run on x11 that has begun to measure."""
        process = start_watched("--on", "x11", "--json", self.path("j"), *args, env=self.env)
        self.addCleanup(process.kill)
        return process, *self.server_of(process)

    def test_private_server(self):
        process = start("--on", "x11", "--for", "2", "--json", self.path("j"), "--log",
                        self.path("l"), env=self.env)
        self.addCleanup(process.kill)
        server, number = self.server_of(process)
        # Nobody without the cookie gets in.
        with socket.socket(socket.AF_UNIX) as client:
            client.connect(f"/tmp/.X11-unix/X{number}")
            client.sendall(struct.pack("<cxHHHHxx", b"l", 11, 0, 0, 0))
            self.assertEqual(client.recv(1), b"\0")
        with open(f"/proc/{server}/net/tcp", encoding="ascii") as file:
            self.assertNotIn(":%04X 00000000:0000 0A" % (6000 + number), file.read())
        out, err = process.communicate(timeout=PATIENCE)
        self.assertEqual((process.returncode, err), (0, ""))
        self.check_gone(server, number)

        document = self.load("j")
        self.assertTrue(document["machine"]["x_server"])
        mechs = document["runs"][0]["mechanisms"]
        self.assertEqual([m["name"] for m in mechs], MECHS[:4] + ["clientmessage", "floor"])
        self.assertEqual({(m["n"], m["lost"]) for m in mechs}, {(20, 0)})
        self.assertRegex(out, r"p50 of rouse-wake: [0-9.]+ of eventfd's, "
                              r"[0-9.]+ of clientmessage's")
        kinds = [kind for _, _, kind, _ in self.check_log("l")]
        self.assertEqual(kinds.count("window_created"), 1)
        # The first drawing, and one for each tick; ticks that are late may share one.
        self.assertGreater(kinds.count("expose"), 1)

    def test_signals_leave_no_server(self):
        for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
            process = start_watched("--on", "x11", "--rate", "50", "--json", self.path("j"),
                                    env=self.env)
            server, display = self.server_of(process)
            process.send_signal(number)
            process.communicate(timeout=PATIENCE)
            self.assertEqual(process.returncode, 130)
            self.check_gone(server, display)
            self.assertGreater(self.load("j")["runs"][0]["mechanisms"][0]["n"], 0)

    def test_ctrl_c_of_the_whole_group(self):
        process = start_watched("--on", "x11", env=self.env, start_new_session=True)
        server, display = self.server_of(process)
        os.killpg(process.pid, signal.SIGINT)
        out, _ = process.communicate(timeout=PATIENCE)
        self.assertEqual(process.returncode, 130)
        self.assertNotIn("rouse: ", process.said())
        self.assertIn("clientmessage", out)
        self.check_gone(server, display)

    def test_killed_tool_leaves_no_server(self):
        process, server, display = self.running()
        process.kill()
        process.communicate(timeout=PATIENCE)
        self.check_gone(server, display)

    def test_killed_while_the_server_starts(self):
        for delay in (0.0, 0.01, 0.03, 0.1):
            process = start("--on", "x11", env=self.env)
            time.sleep(delay)
            process.send_signal(signal.SIGINT if delay == 0.03 else signal.SIGKILL)
            process.communicate(timeout=PATIENCE)
        mine = f"TMPDIR={self.tmp}".encode()

        def left():
            found = []
            for path in glob.glob("/proc/[0-9]*/environ"):
                try:
                    with open(path, "rb") as file:
                        if mine in file.read().split(b"\0"):
                            found.append(path)
                except OSError:
                    pass
            return found

        wait_for(lambda: not left())
        self.assertEqual(left(), [])

    def test_server_killed_during_the_run(self):
        process = start_watched("--on", "x11", "--for", "600", "--json", self.path("j"),
                                env=self.env)
        server, display = self.server_of(process)
        os.kill(server, signal.SIGKILL)
        out, _ = process.communicate(timeout=PATIENCE)
        said = [line for line in re.split(r"[\r\n]+|\x1b\[K", process.said()) if "rouse:" in line]
        self.assertEqual(process.returncode, 3, said)
        self.assertEqual(len(said), 1, said)
        self.assertIn("the X server went away", said[0])
        self.assertIn("cut short", out)
        self.check_gone(server, display)
        for mech in self.load("j")["runs"][0]["mechanisms"]:
            self.assertGreater(mech["n"], 0)
            self.assertEqual(mech["lost"], 0)

    def test_stopped_server_is_ended_too(self):
        process, server, display = self.running()
        os.kill(server, signal.SIGSTOP)
        process.send_signal(signal.SIGINT)
        process.communicate(timeout=PATIENCE)
        self.assertEqual(process.returncode, 130)
        self.check_gone(server, display)

    def test_load_and_busy(self):
        status, out, err = run("--on", "x11", "--for", "1", "--load", "2", "--busy", "1000",
                               "--json", "-", env=self.env)
        self.assertEqual(status, 0, err)
        for mech in json.loads(out)["runs"][0]["mechanisms"]:
            self.assertEqual((mech["n"], mech["lost"]), (10, 0))

    def test_display_that_is_not_there(self):
        for args, env in ((["--display", ":4711"], self.env),
                          ([], dict(self.env, DISPLAY=":4711"))):
            status, out, err = run("--on", "x11", "--for", "1", *args, env=env)
            self.assertEqual(status, 3)
            self.assertEqual(err.count("\n"), 1, err)
            self.assertIn(":4711", err)

    def test_given_display(self):
        process, server, display = self.running()
        with open(f"/proc/{server}/cmdline", encoding="utf-8") as file:
            auth = [a for a in file.read().split("\0") if a.startswith("/proc/self/fd/")][0]
        with open(auth.replace("self", str(server)), "rb") as source, \
                open(self.path("auth"), "wb") as target:
            target.write(source.read())
        status, out, err = run("--on", "x11", "--for", "1", "--display", f":{display}",
                               env=dict(self.env, XAUTHORITY=self.path("auth")))
        self.assertEqual(status, 0, err)
        self.assertIn("clientmessage", out)
        process.send_signal(signal.SIGINT)
        process.communicate(timeout=PATIENCE)
        self.check_gone(server, display)


def main():
    global DEAF, DROP
    bench.ROUSE, DEAF, DROP, group = sys.argv[1:5]
    if group == "Display" and not shutil.which("Xvfb"):
        print("SKIP: Xvfb is not installed")
        return 77
    cases = {"Fast": Fast, "Display": Display}[group]
    # They mostly wait for runs of whole seconds.
    return cli.run_all(cases, 1 if group == "Display" else 4)


if __name__ == "__main__":
    sys.exit(main())
