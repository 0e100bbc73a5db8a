"""What the checks in this folder share.  Each check prints one line per fault and exits 1
if there was any; 77 means "cannot be checked here".  ROUSE_ROOT names another tree."""
import os
import pathlib
import re
import subprocess
import sys

ROOT = pathlib.Path(os.environ.get("ROUSE_ROOT", pathlib.Path(__file__).parents[2])).resolve()

faults = []


def fault(text):
    faults.append(text)


def finish(ok):
    for text in faults:
        print(text)
    print(f"{len(faults)} faults" if faults else ok)
    sys.exit(1 if faults else 0)


def skip(why):
    print("SKIP:", why)
    sys.exit(77)


def files(*patterns):
    """The project's files, tracked or about to be, as paths relative to ROOT."""
    git = subprocess.run(["git", "-C", str(ROOT), "ls-files", "-co", "--exclude-standard", "-z"],
                         capture_output=True)
    if git.returncode == 0:
        names = [n.decode() for n in git.stdout.split(b"\0") if n]
    else:  # an unpacked archive
        names = []
        for folder, dirs, here in os.walk(ROOT):
            dirs[:] = [d for d in dirs if d not in (".git", "build", ".cache", "__pycache__")]
            names += [os.path.relpath(os.path.join(folder, n), ROOT) for n in here]
    paths = sorted(p for p in map(pathlib.PurePosixPath, set(names)) if (ROOT / p).is_file())
    return [p for p in paths if not patterns or any(p.match(x) for x in patterns)]


def read(path):
    return (ROOT / path).read_text(encoding="utf-8")


MARKS = ("ANY_THREAD", "SIGNAL_SAFE", "PURE")


class Function:
    """One ROUSE_API declaration: .name, .returns, .args, .marks (a set), .doc"""

    def __init__(self, text, doc):
        m = re.fullmatch(r"(.*?)\b(\w+)\s*\((.*)\)\s*", text, re.S)
        words = m[1].replace("*", " * ").split()
        self.name = m[2]
        self.args = " ".join(m[3].split())
        self.marks = {x for x in MARKS if "ROUSE_" + x in words}
        self.returns = " ".join(w for w in words
                                if w not in ("ROUSE_API", "ROUSE_MUST_USE", "ROUSE_ANY_THREAD",
                                             "ROUSE_SIGNAL_SAFE", "ROUSE_PURE"))
        self.doc = doc


def declarations(header):
    return re.sub(r"^[ \t]*#.*(?:\\\n.*)*", "", read(header), flags=re.M)


def variables(header):
    """The ROUSE_API variables of a header: what inlined functions share with the library."""
    return re.findall(r"ROUSE_API\s+extern\b[^;]*?(rouse__\w+)\s+ROUSE_POOL_TLS_MODEL;",
                      declarations(header))


def functions(header):
    """The ROUSE_API functions of a header, with the comment right before each."""
    text = declarations(header)
    found = []
    for m in re.finditer(r"(/\*(?:(?!\*/).)*\*/)?\s*(ROUSE_API\b(?!\s+extern\b)[^;{]*);", text, re.S):
        found.append(Function(m[2], m[1] or ""))
    return found
