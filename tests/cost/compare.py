"""Whether an operation costs the same among few as among many, in instructions.

    compare.py WORKLOAD OPERATION FEW MANY

Callgrind counts the instructions of the program, the library and the C library; what the
kernel does for a system call is in no count of it.  One operation is a long run less a short one,
so that beginning and end drop out.  Exit status 77 where that cannot be counted."""
import re
import resource
import shutil
import subprocess
import sys

SHORT, LONG = 1000, 5000
# The same code on the same path costs the same; this much is for the dynamic linker.
TOLERANCE = 0.02


def skip(why):
    print(why)
    sys.exit(77)


def callgrind(*command):
    return subprocess.run(["valgrind", "--tool=callgrind", "--callgrind-out-file=/dev/null",
                           *command], capture_output=True, text=True, check=False)


def instructions(command):
    run = callgrind(*command)
    if run.returncode == 77:
        skip("".join(line for line in run.stderr.splitlines() if not line.startswith("==")))
    counted = re.search(r"Collected : (\d+)", run.stderr)
    if run.returncode or not counted:
        sys.exit(f"{' '.join(command)}: exit {run.returncode}\n{run.stderr}")
    return int(counted[1])


def cost(workload, operation, population):
    short, long = (instructions([workload, operation, population, str(rounds)])
                   for rounds in (SHORT, LONG))
    return (long - short) / (LONG - SHORT)


def allow_descriptors(count):
    """As far as the hard limit lets: a program under valgrind cannot raise it by itself."""
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    if hard != resource.RLIM_INFINITY:
        count = min(count, hard)
    if soft != resource.RLIM_INFINITY and soft < count:
        resource.setrlimit(resource.RLIMIT_NOFILE, (count, hard))


def main():
    workload, operation, few, many = sys.argv[1:]
    if not shutil.which("valgrind"):
        skip("valgrind is not installed")
    if callgrind("true").returncode:
        skip("valgrind cannot count here")
    allow_descriptors(int(many) + 1000)
    among_few, among_many = (cost(workload, operation, n) for n in (few, many))
    print(f"{operation}: {among_few:.1f} instructions among {few}, {among_many:.1f} among {many}")
    # A turn is some hundreds: a count near nothing has not counted it.
    if among_few < 100:
        sys.exit("that is no count of a turn")
    if abs(among_many - among_few) > TOLERANCE * among_few:
        sys.exit(f"more than {TOLERANCE:.0%} apart")


main()
