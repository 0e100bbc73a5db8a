"""What the tests of `rouse bench` share: how it is run, and the grammar of its log."""
import re
import subprocess

import cli
from cli import PATIENCE, environment

ROUSE = None  # Set by main().
LOG_LINE = re.compile(r"^\d+ (epoll|poll|x11|wayland) (step|window_created|wakeup|fd_tick|expose|"
                      r"frame_callback|stats|teardown)( [a-z0-9_]+=\S+)*$")
MECHS = ["rouse-wake", "rouse-post", "eventfd", "pipe", "floor"]


def start(*args, env=None, stderr=subprocess.PIPE, **more):
    return subprocess.Popen([ROUSE, "bench", *args], env=env or environment(), text=True,
                            stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=stderr,
                            **more)


def run(*args, env=None, timeout=PATIENCE):
    process = start(*args, env=env)
    try:
        out, err = process.communicate(timeout=timeout)
    except subprocess.TimeoutExpired:
        process.kill()
        raise
    return process.returncode, out, err


def start_watched(*args, **how):
    """As start(), and returns once the first second of wakeups was fired."""
    return cli.start_watched(lambda **more: start(*args, **how, **more),
                             rb"[1-9][0-9]* of [0-9]+ s")


class Log:
    def check_log(self, name):
        """Grammar and order; returns (us, loop, kind, fields) of each line."""
        events, before = [], 0
        for line in self.lines(name):
            self.assertRegex(line, LOG_LINE)
            us, loop, kind, *fields = line.split(" ")
            self.assertGreaterEqual(int(us), before, line)
            before = int(us)
            events.append((before, loop, kind, dict(f.split("=", 1) for f in fields)))
        return events
