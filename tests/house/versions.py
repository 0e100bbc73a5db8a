#!/usr/bin/env python3
"""CMake, version.h and the top of the change log say the same version."""
import re

from house import fault, finish, read

cmake = re.search(r"project\(rouse VERSION ([0-9.]+)", read("CMakeLists.txt"))[1]
header = read("include/rouse/version.h")
parts = [re.search(rf"ROUSE_VERSION_{p} (\d+)", header)[1] for p in ("MAJOR", "MINOR", "PATCH")]
found = {
    "version.h": ".".join(parts),
    "ROUSE_VERSION_STRING": re.search(r'ROUSE_VERSION_STRING "(.*)"', header)[1],
    "CHANGELOG.md": re.search(r"^## ([0-9.]+)", read("CHANGELOG.md"), re.M)[1],
}
for where, version in found.items():
    if version != cmake:
        fault(f"{where}: {version}, and CMakeLists.txt says {cmake}")
finish(f"{cmake} everywhere")
