#!/usr/bin/env python3
"""Runs commands interleaved and prints the medians of their cost as a Markdown table.

    python3 benches/interleave.py -n 5 'cutaway=cutaway report oci:DIR -o /dev/null' 'gzip=gzip -dc a.gz b.gz'

Each argument is NAME=COMMAND (runs in no shell; write `sh -c '...'` for one).
Output of the commands is dropped. One warm-up round, then N rounds of all commands in turn, so that
noise meets all alike. Ratios are to the first command, or to the one that --against names.
CPU is user and system time of the process and its children. `peak` is the largest resident set of one
process; below what this script weighs itself (some 10 MiB) it is polled, and of a shell alone. `read` is
what read calls returned (rchar), that of finished children included.
`benches/budgets.py` measures by the same functions.
"""

import argparse
import os
import resource
import shlex
import statistics
import subprocess
import sys
import threading
import time
from typing import NamedTuple


class Cost(NamedTuple):
    """What one run took: seconds, seconds, bytes, bytes."""

    cpu: float
    wall: float
    peak: int
    read: int


def field(path, name):
    try:
        with open(path, encoding="ascii", errors="replace") as file:
            for line in file:
                if line.startswith(name):
                    return int(line.split()[1])
    except OSError:
        pass
    return 0


def run(command, expected=(0,)):
    """The cost of one run; ends this script when the exit status is none of those expected."""
    start = time.monotonic()
    process = subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE)
    errors = []
    # The pipe has to be drained, or a chatty command would wait for us.
    drain = threading.Thread(target=lambda: errors.append(process.stderr.read()))
    drain.start()
    peak, stop = [0], threading.Event()

    def watch():
        while not stop.wait(0.002):
            peak[0] = max(peak[0], field(f"/proc/{process.pid}/status", "VmHWM:"))

    watcher = threading.Thread(target=watch)
    watcher.start()
    os.waitid(os.P_PID, process.pid, os.WEXITED | os.WNOWAIT)
    wall = time.monotonic() - start
    stop.set()
    watcher.join()
    read = field(f"/proc/{process.pid}/io", "rchar:")
    _, status, usage = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(status)
    drain.join()
    process.stderr.close()
    if process.returncode not in expected:
        sys.exit(f"error: {shlex.join(command)}: exit {process.returncode}\n{errors[0].decode(errors='replace')}")
    # ru_maxrss starts at what this script itself weighs when it forks; below that, polling has to do.
    own = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    memory = usage.ru_maxrss if usage.ru_maxrss > own * 1.1 else peak[0]
    return Cost(usage.ru_utime + usage.ru_stime, wall, memory * 1024, read)


CALIBRATION = "calibration loop"
LOOP = [sys.executable, "-S", "-c", "total = 0\nfor n in range(6_000_000): total += n * n % 7"]


def measure(commands, rounds, expected=(0,)):
    """Costs by the name of the command, a calibration loop beside them: one warm-up round, then `rounds`."""
    commands = {**commands, CALIBRATION: LOOP}
    costs = {name: [] for name in commands}
    for number in range(rounds + 1):
        for name, command in commands.items():
            if sys.stderr.isatty():
                print(f"\rround {number} of {rounds}: {name}\033[K", end="", file=sys.stderr)
            cost = run(command, expected)
            if number > 0:
                costs[name].append(cost)
    if sys.stderr.isatty():
        print("\r\033[K", end="", file=sys.stderr)
    return costs


def median(costs, what):
    return statistics.median(getattr(cost, what) for cost in costs)


def print_table(costs, title, against, file=None):
    """Medians as a Markdown table, with the CPU as a multiple of that of each command in `against`."""
    heads = [title, "CPU s", "(lowest to highest)", "wall s", "peak MiB", "read MiB"]
    heads += [f"CPU / {name}" for name in against]
    print("| " + " | ".join(heads) + " |", file=file)
    print("|---" + "|---:" * (len(heads) - 1) + "|", file=file)
    for name, runs in costs.items():
        cpus = [cost.cpu for cost in runs]
        peak = median(runs, "peak")
        cells = [
            name,
            f"{median(runs, 'cpu'):.3f}",
            f"{min(cpus):.3f} to {max(cpus):.3f}",
            f"{median(runs, 'wall'):.3f}",
            f"{peak / (1 << 20):.1f}" if peak else "",
            f"{median(runs, 'read') / (1 << 20):.1f}",
        ]
        for other in against:
            base = median(costs[other], "cpu")
            cells.append(f"{median(runs, 'cpu') / base:.2f}" if base and name != CALIBRATION else "")
        print("| " + " | ".join(cells) + " |", file=file)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("-n", type=int, default=5, help="rounds after the warm-up (default 5)")
    parser.add_argument("--against", action="append", default=[], metavar="NAME", help="a column of ratios to this command")
    parser.add_argument("--exit", default="0", help="exit statuses that are fine, with commas between (default 0)")
    parser.add_argument("--title", default="command")
    parser.add_argument("commands", nargs="+", metavar="NAME=COMMAND")
    options = parser.parse_args()
    commands = {}
    for text in options.commands:
        name, separator, line = text.partition("=")
        if not separator:
            parser.error(f"not NAME=COMMAND: {text}")
        commands[name] = shlex.split(line)
    against = options.against or [next(iter(commands))]
    for name in against:
        if name not in commands:
            parser.error(f"--against {name}: no such command")
    costs = measure(commands, options.n, {int(part) for part in options.exit.split(",")})
    print_table(costs, options.title, against)


if __name__ == "__main__":
    main()
