#!/usr/bin/python3 -B
"""What tiebreak costs beside the programs that it runs, with hyperfine for comparison.

Both tools race `true` against `true`, which does next to nothing, so nearly all of the time is the
tools' own. They take turns, in an order drawn each time.
"""

import argparse
import datetime
import json
import random
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import peers

DATA = peers.ROOT / "docs" / "measured" / "own.json"
SCHEMA = "tiebreak/own/1"
ROUNDS = 300
REPEATS = 10
COMMANDS = ["true", "true"]


def timed(command, statuses):
    """Runs a command; gives the seconds that it took and what it printed."""
    start = time.monotonic()
    ran = subprocess.run(command, capture_output=True, text=True)
    seconds = time.monotonic() - start
    if ran.returncode not in statuses:
        raise peers.Problem(f"{command[0]} ended with {ran.returncode}: {ran.stderr.strip()}")
    return seconds, ran.stdout


def by_hyperfine(_, folder):
    """hyperfine: so many runs of each program."""
    export = f"{folder}/times.json"
    options = ["-N", "-r", str(ROUNDS), "--export-json", export]
    seconds, _ = timed(["hyperfine", *options, *COMMANDS], {0})
    results = json.loads(Path(export).read_text())["results"]
    return seconds, [1e3 * result["median"] for result in results]


def by_tiebreak(args, folder):
    """tiebreak: so many rounds; the error is so small that the evidence does not end them."""
    options = ["--error", "1e-6", "--resolution", "0", "--budget", f"{ROUNDS} rounds"]
    options += ["--no-wait", "--quiet", "--json", "-", "--store", f"{folder}/store"]
    seconds, said = timed([args.tiebreak, "compare", *options, *COMMANDS], {0, 2})
    contestants = json.loads(said)["contestants"]
    return seconds, [each["metrics"]["wall_ns"]["median"] / 1e6 for each in contestants]


def measure(args):
    """All measurements, the tools taking turns."""
    order = random.Random(peers.SEED)
    tools = [("hyperfine", by_hyperfine), ("tiebreak", by_tiebreak)]
    for _ in range(1 if args.quick else REPEATS):
        order.shuffle(tools)
        for name, tool in tools:
            with tempfile.TemporaryDirectory() as folder:
                seconds, medians_ms = tool(args, folder)
            yield {
                "tool": name,
                "seconds": round(seconds, 4),
                "timed_runs": ROUNDS * len(COMMANDS),
                "program_ms": round(statistics.median(medians_ms), 4),
            }


def main():
    """Measures, and draws the table."""
    parser = argparse.ArgumentParser(
        description=__doc__.split("\n\n", maxsplit=1)[0],
        epilog="example: bench/peers/own.py --quick",
    )
    parser.add_argument("--quick", action="store_true", help="once, printed and not kept")
    default = str(peers.ROOT / "target/release/tiebreak")
    parser.add_argument("--tiebreak", default=default, help="which")
    args = parser.parse_args()
    try:
        data = {
            "schema": SCHEMA,
            "date": datetime.date.today().isoformat(),
            "machine": peers.machine(),
            "tools": {
                "tiebreak": peers.version([args.tiebreak, "--version"]),
                "hyperfine": peers.version(["hyperfine", "--version"]),
            },
            "measurements": list(measure(args)),
        }
    except peers.Problem as problem:
        print(f"own: {problem}", file=sys.stderr)
        return 1
    if args.quick:
        print(json.dumps(data, indent=1))
        return 0
    peers.save(DATA, data, "measurements")
    subprocess.run(["cargo", "xtask", "splice", "make", "bench"], check=True, cwd=peers.ROOT)
    return 0


if __name__ == "__main__":
    sys.exit(main())
