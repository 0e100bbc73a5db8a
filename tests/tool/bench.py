"""What the tests of `rouse bench` share: how it is run, and the grammar of its log."""
import re
import subprocess

import cli
from cli import PATIENCE, environment

ROUSE = None  # Set by main().
LOG_LINE = re.compile(r"^\d+ (epoll|poll|x11|wayland|glib|uv|qt|glfw|sdl|appkit) (step|window_created|wakeup|fd_tick|expose|"
                      r"frame_callback|stats|teardown)( [a-z0-9_]+=\S+)*$")
MECHS = ["rouse-wake", "rouse-post", "eventfd", "pipe", "floor"]
# What the loops of other libraries have of their own, and those of them that need no display.
OWN = {"glib": ["wakeup", "idle"], "uv": ["async"], "qt": ["invoke"], "glfw": ["emptyevent"],
       "sdl": ["pushevent", "pushevent-loop"],
       "appkit": ["postevent", "performselector", "descriptor"]}
GUESTS = ["glib", "uv", "qt"]


def mechanisms(loop):
    return MECHS[:4] + OWN.get(loop, []) + MECHS[4:]


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


def guests():
    """Those of GUESTS that the command was built with."""
    out = run("--list")[1]
    return [name for name in GUESTS
            if "not available" not in re.search(rf"(?m)^  {name} .*$", out)[0]]


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
