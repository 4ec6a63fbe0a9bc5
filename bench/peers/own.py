#!/usr/bin/python3 -B
"""What tiebreak itself costs, with hyperfine for comparison.

The tables in README.md are then drawn from the data. For the comparison both tools race `true`
against `true`, which does next to nothing, so nearly all of the time is the tools' own. They take
turns, in an order drawn each time.
"""

import argparse
import datetime
import json
import random
import statistics
import subprocess
import sys
import time
from pathlib import Path

import costs
import peers

DATA = peers.ROOT / "docs" / "measured" / "own.json"
SCHEMA = "tiebreak/own/2"
ROUNDS = 300
REPEATS = 10
COMMANDS = ["true", "true"]


def by_hyperfine(_, place):
    """hyperfine: so many runs of each program; the median of each."""
    export = f"{place}/times.json"
    options = ["-N", "-r", str(ROUNDS), "--export-json", export]
    costs.said(["hyperfine", *options, *COMMANDS])
    results = json.loads(Path(export).read_text())["results"]
    return [1e3 * result["median"] for result in results]


def by_tiebreak(args, place):
    """tiebreak: so many rounds; the median of each program."""
    options = ["--budget", f"{ROUNDS} rounds", "--no-wait", "--quiet", *costs.ENDLESS]
    result = costs.race(args, f"{place}/store", options, COMMANDS)
    return [each["metrics"]["wall_ns"]["median"] / 1e6 for each in result["contestants"]]


def against_hyperfine(args, order):
    """Both tools on the same programs, taking turns."""
    tools = [("hyperfine", by_hyperfine), ("tiebreak", by_tiebreak)]
    for _ in range(1 if args.quick else REPEATS):
        order.shuffle(tools)
        for name, tool in tools:
            with costs.folder() as place:
                start = time.monotonic()
                medians_ms = tool(args, place)
                seconds = time.monotonic() - start
            yield {
                "what": "tool",
                "tool": name,
                "seconds": round(seconds, 4),
                "timed_runs": ROUNDS * len(COMMANDS),
                "program_ms": round(statistics.median(medians_ms), 4),
            }


def measure(args):
    """All measurements, one kind after the other; first the one that may fail to build."""
    if args.evidence:
        yield from costs.evidence(args)
        kept = json.loads(Path(DATA).read_text())
        if kept["machine"] != peers.machine():
            raise peers.Problem(f"{DATA} is of another machine: measure all of it")
        yield from (one for one in kept["measurements"] if one["what"] != "evidence")
        return
    order = random.Random(peers.SEED)
    work, _ = peers.compile_programs()
    meter = costs.compile_meter()
    kinds = {
        "the evidence": costs.evidence(args),
        "what a round costs": costs.around_rounds(args, work, order),
        "the start": costs.starts(args, meter),
        "memory": costs.memory(args, meter),
        "hyperfine": against_hyperfine(args, order),
    }
    for name, measurements in kinds.items():
        print(f"own: {name}", file=sys.stderr)
        yield from measurements


def arguments():
    """What was typed."""
    parser = argparse.ArgumentParser(
        description=__doc__.split("\n\n", maxsplit=1)[0],
        epilog="example: bench/peers/own.py --quick",
    )
    parser.add_argument("--quick", action="store_true", help="once, printed and not kept")
    what = "only the evidence, whose rows replace those that are kept"
    parser.add_argument("--evidence", action="store_true", help=what)
    default = str(peers.ROOT / "target/release/tiebreak")
    parser.add_argument("--tiebreak", default=default, help="which")
    return parser.parse_args()


def main():
    """Measures, and draws the table."""
    args = arguments()
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
    except KeyboardInterrupt:
        print("\nown: nothing is kept", file=sys.stderr)
        return 130
    if args.quick:
        for measurement in data["measurements"]:
            print(json.dumps(measurement))
        return 0
    peers.save(DATA, data, "measurements")
    subprocess.run(["cargo", "xtask", "splice", "make", "bench"], check=True, cwd=peers.ROOT)
    return 0


if __name__ == "__main__":
    sys.exit(main())
