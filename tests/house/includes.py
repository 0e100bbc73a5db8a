#!/usr/bin/env python3
"""The include rules between rooms, from the include lines.

A room includes itself and the rooms above it in ROOMS, never one below.  A poller does not know
the loop's insides.  base knows C alone.  A display, a host and the tool see what a user sees.
"""
import posixpath
import re

from house import ROOT, fault, files, finish, read

ROOMS = ["include/rouse", "src/base", "src/os", "src/pool", "src/core", "src/poller", "src/host",
         "display", "host", "tool"]
DISPLAYS = {f"include/rouse/{name}.h" for name in ("x11", "xcb", "wayland", "glfw", "sdl", "glib",
                                                   "uv", "appkit")}
STANDARD_C = {"assert.h", "complex.h", "ctype.h", "errno.h", "fenv.h", "float.h", "inttypes.h",
              "iso646.h", "limits.h", "locale.h", "math.h", "setjmp.h", "signal.h", "stdalign.h",
              "stdarg.h", "stdatomic.h", "stdbool.h", "stddef.h", "stdint.h", "stdio.h", "stdlib.h",
              "stdnoreturn.h", "string.h", "tgmath.h", "threads.h", "time.h", "uchar.h", "wchar.h",
              "wctype.h"}
INCLUDE = re.compile(r'^\s*#\s*include\s*([<"])([^>"]+)[>"]', re.M)


def room_of(path):
    for room in ROOMS:
        if str(path).startswith(room + "/"):
            return room
    return None


def resolve(path, quote, name):
    """The file of ours that an include line names, or None: a header of the system."""
    tries = ["include/" + name]
    if quote == '"':
        tries = [posixpath.normpath(posixpath.join(posixpath.dirname(str(path)), name)),
                 "src/" + name, "display/" + name, "host/" + name, "tool/" + name] + tries
    return next((t for t in tries if (ROOT / t).is_file()), None)


count = 0
for path in files("*.c", "*.h"):
    room = room_of(path)
    if not room:
        continue
    for quote, name in INCLUDE.findall(read(path)):
        count += 1
        target = resolve(path, quote, name)
        if target is None:
            if quote == '"':
                fault(f'{path}: "{name}" is not there')
            elif room in ("include/rouse", "src/base") and name not in STANDARD_C:
                fault(f"{path}: <{name}>: {room} includes headers of standard C only")
            continue
        other = room_of(target)
        if other is None:
            fault(f"{path}: {target} is in no room")
        elif ROOMS.index(other) > ROOMS.index(room):
            fault(f"{path}: {target}: {room} is above {other}")
        elif room in ("display", "host", "tool") and other not in ("include/rouse", room):
            fault(f"{path}: {target}: {room} sees <rouse/*.h> and itself only")
        elif room.startswith("src/") and target in DISPLAYS:
            fault(f"{path}: {target}: the core knows no display and no host")
        elif room == "src/poller" and target == "src/core/loop.h":
            fault(f"{path}: {target}: a poller does not know the loop's insides")
        elif other == "include/rouse" and room != other and quote == '"':
            fault(f"{path}: write <{name}>")
if count == 0:
    fault("no include line found")
finish(f"{count} include lines keep the rules")
