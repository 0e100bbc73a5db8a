#!/usr/bin/env python3
"""`rouse bench --on wayland` from outside, with weston.

usage: bench_cli_wayland.py ROUSE HOLDING_LIBRARY Wayland|Calls
Exit status 77 where it cannot run here.
"""
import glob
import json
import os
import re
import resource
import shutil
import signal
import stat
import subprocess
import sys
import time
from collections import Counter

import bench
import cli
from bench import MECHS, Log, run, start, start_watched
from cli import PATIENCE, Case, environment, preloading, wait_for

LATE = None


def traced(case):
    """Skips where nothing can be."""
    probe = subprocess.run(["strace", "-o", "/dev/null", "true"], check=False,
                           capture_output=True) if shutil.which("strace") else None
    if probe is None or probe.returncode:
        case.skipTest("strace cannot trace here")


def processes():
    for path in glob.glob("/proc/[0-9]*"):
        try:
            with open(path + "/stat", encoding="utf-8") as file:
                name, rest = file.read().split("(", 1)[1].rsplit(")", 1)
            yield int(path[6:]), name, int(rest.split()[1])
        except (OSError, ValueError):
            continue


class Wayland(Log, Case):
    def setUp(self):
        super().setUp()
        self.tmp = self.path("tmp")
        os.mkdir(self.tmp)
        self.env = environment(TMPDIR=self.tmp)

    def compositor_of(self, process):
        """Process id and socket of the private compositor, once there is one."""
        def find():
            mine = [pid for pid, name, parent in processes()
                    if (name, parent) == ("weston", process.pid)]
            sockets = glob.glob(self.tmp + "/*/wayland")
            return (mine[0], sockets[0]) if mine and sockets else None

        found = wait_for(find)
        self.assertTrue(found, "no private compositor")
        return found

    def check_gone(self):
        """No process that was started with this folder for its files, and none of these."""
        mark = f"TMPDIR={self.tmp}".encode()

        def left():
            found = os.listdir(self.tmp)
            for pid, name, _ in processes():
                try:
                    with open(f"/proc/{pid}/environ", "rb") as file:
                        if mark in file.read().split(b"\0"):
                            found.append(name)
                except OSError:
                    pass
            return found

        wait_for(lambda: not left())
        self.assertEqual(left(), [])

    def running(self, *args):
        """A run that has begun to measure."""
        process = start_watched("--on", "wayland", "--json", self.path("j"), *args, env=self.env)
        self.addCleanup(process.kill)
        return process, *self.compositor_of(process)

    def test_private_compositor(self):
        process = start("--on", "wayland", "--for", "2", "--json", self.path("j"), "--log",
                        self.path("l"), env=self.env)
        _, address = self.compositor_of(process)
        folder = os.stat(os.path.dirname(address))
        self.assertEqual((stat.S_IMODE(folder.st_mode), folder.st_uid), (0o700, os.getuid()))
        out, err = process.communicate(timeout=PATIENCE)
        self.assertEqual((process.returncode, err), (0, ""))
        self.check_gone()

        document = self.load("j")
        self.assertRegex(document["machine"]["compositor"], r"^weston \d")
        self.assertIsNone(document["machine"]["x_server"])
        loop = document["runs"][0]
        self.assertEqual(loop["loop"], "wayland")
        self.assertEqual([m["name"] for m in loop["mechanisms"]], MECHS[:4] + ["sync", "floor"])
        self.assertEqual({(m["n"], m["lost"]) for m in loop["mechanisms"]}, {(20, 0)})
        self.assertRegex(out, r"p50 of rouse-wake: [0-9.]+ of eventfd's, [0-9.]+ of sync's")
        self.assertRegex(out, r"(?m)^  frame callbacks: \d+, ")

        kinds = [kind for _, _, kind, _ in self.check_log("l")]
        self.assertEqual(kinds.count("window_created"), 1)
        # Interleaved with the wakeups: between most of them there is one.
        inside = kinds[kinds.index("wakeup"):]
        between = re.findall(r"w+", "".join(
            {"wakeup": "w", "frame_callback": "f"}.get(kind, "") for kind in inside))
        self.assertGreater(len(between), 20)
        self.assertGreater(loop["frames"], 20)
        # One more shows that the window is there, before anything is measured.
        self.assertLess(loop["frames"], kinds.count("frame_callback"))

    def test_signals_leave_nothing(self):
        for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
            process, _, _ = self.running("--rate", "50", "--for", "600")
            process.send_signal(number)
            process.communicate(timeout=PATIENCE)
            self.assertEqual(process.returncode, 130)
            self.check_gone()
            for mech in self.load("j")["runs"][0]["mechanisms"]:
                self.assertGreater(mech["n"], 0)
                self.assertEqual(mech["lost"], 0, mech["name"])

    def test_ctrl_c_of_the_whole_group(self):
        process = start("--on", "wayland", env=self.env, start_new_session=True)
        compositor, _ = self.compositor_of(process)
        self.assertNotEqual(os.getpgid(compositor), process.pid)
        time.sleep(0.8)
        os.killpg(process.pid, signal.SIGINT)
        _, err = process.communicate(timeout=PATIENCE)
        self.assertEqual((process.returncode, err), (130, ""))
        self.check_gone()

    def test_killed_command_leaves_nothing(self):
        process, _, _ = self.running()
        process.kill()
        process.communicate(timeout=PATIENCE)
        self.check_gone()

    def test_killed_with_its_whole_group(self):
        process = start("--on", "wayland", env=self.env, start_new_session=True)
        self.compositor_of(process)
        os.killpg(process.pid, signal.SIGKILL)
        process.communicate(timeout=PATIENCE)
        self.check_gone()

    def test_ended_while_the_compositor_starts(self):
        for delay in (0.0, 0.01, 0.03, 0.1):
            process = start("--on", "wayland", env=self.env)
            time.sleep(delay)
            process.send_signal(signal.SIGINT if delay == 0.03 else signal.SIGKILL)
            process.communicate(timeout=PATIENCE)
            self.check_gone()

    def test_killed_as_the_folder_is_made(self):
        traced(self)
        for call in ("mkdir", "fork,clone,clone3", "recvfrom"):
            kill = f"inject={call}:signal=SIGKILL:when=1"
            subprocess.run(["strace", "-qq", "-o", "/dev/null", "-e", kill, bench.ROUSE, "bench",
                            "--on", "wayland", "--mech", "rouse-wake", "--for", "1"], env=self.env,
                           check=False, capture_output=True, timeout=PATIENCE)
            self.check_gone()

    def test_compositor_killed_during_the_run(self):
        process, compositor, _ = self.running("--mech", "rouse-wake,sync", "--for", "600")
        os.kill(compositor, signal.SIGKILL)
        out, _ = process.communicate(timeout=PATIENCE)
        said = [line for line in re.split(r"[\r\n]+|\x1b\[K", process.said()) if "rouse:" in line]
        self.assertEqual(process.returncode, 3, said)
        self.assertEqual(len(said), 1, said)
        self.assertIn("the compositor went away after", said[0])
        self.assertIn("cut short", out)
        self.check_gone()
        for mech in self.load("j")["runs"][0]["mechanisms"]:
            self.assertGreater(mech["n"], 0)
            self.assertEqual(mech["lost"], 0, mech["name"])

    def test_compositor_killed_under_load(self):
        process, compositor, address = self.running("--load", "2", "--for", "600")
        # The window's connection, and one of each client.
        with open("/proc/net/unix", encoding="utf-8") as file:
            ends = [line.split() for line in file if line.rstrip("\n").endswith(" " + address)]
        self.assertEqual(len([end for end in ends if end[5] == "03"]), 3, ends)
        os.kill(compositor, signal.SIGKILL)
        process.communicate(timeout=PATIENCE)
        self.assertEqual(process.returncode, 3)
        self.check_gone()

    def test_stopped_compositor_is_ended_too(self):
        process, compositor, _ = self.running("--load", "1", "--for", "600")
        os.kill(compositor, signal.SIGSTOP)
        process.send_signal(signal.SIGINT)
        process.communicate(timeout=PATIENCE)
        self.assertEqual(process.returncode, 130)
        self.check_gone()

    def test_load(self):
        status, out, err = run("--on", "wayland", "--for", "1", "--load", "2", "--busy", "1000",
                               "--json", "-", env=self.env)
        self.assertEqual(status, 0, err)
        document = json.loads(out)
        self.assertEqual(document["options"]["load"], 2)
        for mech in document["runs"][0]["mechanisms"]:
            self.assertEqual((mech["n"], mech["lost"]), (10, 0))
        self.check_gone()

    def test_the_tail_is_the_callback(self):
        status, out, err = run("--on", "wayland", "--mech", "rouse-wake,eventfd,pipe", "--rate",
                               "20", "--for", "2", "--busy", "8000", "--json", "-", env=self.env)
        self.assertEqual(status, 0, err)
        for mech in json.loads(out)["runs"][0]["mechanisms"]:
            self.assertEqual((mech["n"], mech["lost"]), (40, 0))
            # Some 48 % of the time the loop is in that callback; a busy machine adds to that.
            late = sum(us > 1000 for us in mech["samples_us"]) / len(mech["samples_us"])
            self.assertGreater(late, 0.15, mech["name"])

    def test_compositor_that_is_not_there(self):
        self.env.pop("XDG_RUNTIME_DIR", None)
        for name, why in (("/nonexistent/wayland", "No such file"),
                          ("wayland-4711", "XDG_RUNTIME_DIR is not set")):
            status, _, err = run("--on", "wayland", "--for", "1",
                                 env=dict(self.env, WAYLAND_DISPLAY=name))
            self.assertEqual((status, err.count("\n")), (3, 1), err)
            self.assertIn(f"'{name}': {why}", err)

    def test_an_answer_that_is_faster_than_its_listener(self):
        status, out, err = run("--on", "wayland", "--mech", "rouse-wake,sync", "--for", "1",
                               "--json", "-", env=dict(self.env, **preloading(LATE)))
        self.assertEqual(status, 0, err)
        for mech in json.loads(out)["runs"][0]["mechanisms"]:
            self.assertEqual((mech["n"], mech["lost"]), (10, 0), mech["name"])

    def test_given_compositor(self):
        process, _, address = self.running("--for", "600")
        status, _, err = run("--on", "wayland", "--for", "1", "--json", self.path("other"),
                             env=dict(self.env, WAYLAND_DISPLAY=address, WAYLAND_SOCKET="0"))
        self.assertEqual(status, 0, err)
        document = self.load("other")
        self.assertEqual(document["machine"]["compositor"], "weston")
        self.assertEqual({(m["n"], m["lost"]) for m in document["runs"][0]["mechanisms"]},
                         {(10, 0)})
        process.send_signal(signal.SIGINT)
        process.communicate(timeout=PATIENCE)
        self.check_gone()

    def in_place_of_weston(self, script):
        """An environment in which weston is this."""
        os.mkdir(self.path("bin"))
        with open(self.path("bin/weston"), "w", encoding="utf-8") as file:
            file.write("#!/bin/sh\n" + script)
        os.chmod(self.path("bin/weston"), 0o755)
        return dict(self.env, PATH=self.path("bin") + ":" + self.env["PATH"])

    def test_compositor_that_does_not_start(self):
        env = self.in_place_of_weston("echo first; echo fatal: no seat >&2; exit 1\n")
        status, out, err = run("--on", "epoll,wayland", "--mech", "pipe", "--for", "1", env=env)
        self.assertEqual((status, err), (3, "rouse: weston does not start: fatal: no seat\n"))
        self.assertIn("epoll, 1 s", out)
        self.check_gone()
        env = dict(self.env, TMPDIR=self.path("nonexistent"))
        status, _, err = run("--on", "wayland", "--for", "1", env=env)
        self.assertEqual((status, err.count("\n")), (3, 1), err)
        self.assertIn("folder", err)

    def test_few_descriptors(self):
        for limit in range(4, 20, 3):
            process = start("--on", "wayland", "--for", "1", env=self.env,
                            preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_NOFILE,
                                                                  (limit, limit)))
            _, err = process.communicate(timeout=PATIENCE)
            self.assertEqual(process.returncode, 3, (limit, err))
            self.assertRegex(err, r"^(rouse: .+\n){1,2}$")
            self.check_gone()

    def test_compositor_that_never_answers(self):
        process = start("--on", "wayland", env=self.in_place_of_weston("exec sleep 600\n"))
        wait_for(lambda: os.listdir(self.tmp))
        time.sleep(0.2)
        process.send_signal(signal.SIGINT)
        _, err = process.communicate(timeout=PATIENCE)
        self.assertEqual((process.returncode, err), (130, ""))
        self.check_gone()


def calls_of(lines, thread):
    """Of one thread: names of its calls in their order, each once."""
    return [re.match(r"\w+", call)[0] for pid, call in lines
            if pid == thread and re.match(r"\w+\(", call)]


class Calls(Case):
    def test_a_wake_costs_two_system_calls(self):
        """The write and the wait, beside a window that draws."""
        traced(self)
        trace = self.path("trace")
        done = subprocess.run(
            ["strace", "-f", "-qq", "-o", trace, bench.ROUSE, "bench", "--on", "wayland", "--mech",
             "rouse-wake", "--rate", "100", "--for", "2"],
            env=environment(TMPDIR=self.dir), check=False, capture_output=True, text=True,
            timeout=PATIENCE)
        self.assertEqual(done.returncode, 0, done.stderr)
        with open(trace, encoding="utf-8", errors="replace") as file:
            lines = [line.split(None, 1) for line in file]
        loop = lines[0][0]
        # Of the worker each sleep but the first and the last, and the call that follows.
        sleeps = [i for i, (pid, call) in enumerate(lines)
                  if pid != loop and call.startswith("clock_nanosleep(CLOCK_MONOTONIC")]
        window = lines[sleeps[1]:sleeps[-1]]
        worker = Counter(calls_of(window, lines[sleeps[0]][0]))
        wakes = worker.pop("clock_nanosleep")
        self.assertEqual(wakes, 199)
        rings = worker.pop("write")
        self.assertLessEqual(rings, wakes)
        # The loop mostly sleeps: else this would show nothing.
        self.assertGreater(rings, wakes // 2)
        self.assertFalse(worker)
        # One wait for each wake; beside them frames, read and answered, and ticks.
        turns = Counter(calls_of(window, loop))
        print(f"{rings} rings for {wakes} wakes; the loop: {dict(turns)}")
        others = turns["recvmsg"] + turns.pop("read")
        self.assertLessEqual(turns.pop("epoll_wait"), wakes + others + 2)
        self.assertLessEqual(turns.pop("sendmsg"), turns.pop("recvmsg") + 1)
        # Now and then the poller asks about a descriptor that is ready in every wait.
        self.assertLessEqual(turns.pop("epoll_ctl", 0), others // 16)
        self.assertFalse(turns)


def main():
    global LATE
    bench.ROUSE, LATE, group = sys.argv[1:4]
    if not shutil.which("weston"):
        print("SKIP: weston is not installed")
        return 77
    return cli.run_all({"Wayland": Wayland, "Calls": Calls}[group], 3)


if __name__ == "__main__":
    sys.exit(main())
