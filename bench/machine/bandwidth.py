#!/usr/bin/python3 -B
"""Bandwidth as tiebreak and a plain STREAM-like C program measure it.

The two take turns, the C program first and last, so that every measurement of tiebreak stands
between two of the C program. A hypervisor moves CPUs, and memory is shared with what else is on
the machine: a turn counts only if the two measurements of the C program around it agree within a
tenth. The C program's best repetition is the figure of STREAM. It is the best of hundreds, so it
lies above the median one by as much as they scatter, which is 3% to 11% here: tiebreak, whose
figure is neither, must lie between the two, each give or take a twentieth.
"""

import argparse
import datetime
import json
import statistics
import subprocess
import sys
import tempfile
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "peers"))
import peers  # noqa: E402

HERE = Path(__file__).resolve().parent
BUILT = peers.ROOT / "target" / "tiebreak" / "machine"
DATA = peers.ROOT / "docs" / "measured" / "machine-bandwidth.json"
SCHEMA = "tiebreak/machine-bandwidth/1"
SETTINGS = {
    "turns": 10,
    "buffer_mib": 256,
    # A repetition goes through a quarter of the buffer: whole ones of two threads are hardly ever
    # free of interruptions where other programs run.
    "parts": 4,
    "stream_seconds": 1.2,
    "tiebreak_seconds": 6.0,
    "agree_within": 1.10,
    "must_hold_within": 0.05,
}
OPTIONS = ["-O3", "-march=native", "-fno-tree-loop-distribute-patterns", "-Wall", "-pthread"]


def compile_stream():
    """Compiles the C program and gives its path."""
    BUILT.mkdir(parents=True, exist_ok=True)
    program = BUILT / "stream"
    subprocess.run(["cc", *OPTIONS, "-o", program, HERE / "stream.c"], check=True)
    return program


def by_stream(args, program, thread_counts):
    """The C program: bytes a second, best and median, by kernel and threads."""
    found = {}
    size = [str(SETTINGS[key]) for key in ("buffer_mib", "parts", "stream_seconds")]
    for threads in thread_counts:
        command = [program, *size, *map(str, args.cpus[:threads])]
        said = subprocess.run(command, check=True, capture_output=True, text=True).stdout
        for line in said.splitlines():
            kernel, count, best, median = line.split()
            found[kernel, int(count)] = float(best), float(median)
    return found


def by_tiebreak(args, thread_counts):
    """tiebreak: the same, pinned to the same CPUs; what it could not measure is absent."""
    cpus = ",".join(map(str, args.cpus[: max(thread_counts)]))
    budget = f"{SETTINGS['tiebreak_seconds']}s"
    with tempfile.TemporaryDirectory() as place:
        store = ["--store", f"{place}/store", "--quiet"]
        command = [args.tiebreak, "machine", "bandwidth", "--cpus", cpus, "--budget", budget]
        said = subprocess.run(
            [*command, *store, "--json", "-"], check=False, capture_output=True, text=True
        )
    if not said.stdout:
        raise peers.Problem(f"{args.tiebreak}: {said.stderr.strip()}")
    curves = json.loads(said.stdout)["bandwidth"].get("value", {}).get("curves", [])
    return {
        (curve["traffic"], point["threads"]): point["bytes_per_s"]
        for curve in curves
        if curve["is_pinned"]
        for point in curve["points"]
    }


def turns(args):
    """One row for each kernel and number of threads of each turn."""
    program = compile_stream()
    thread_counts = sorted({1, min(2, len(args.cpus))})
    before = by_stream(args, program, thread_counts)
    for turn in range(1 if args.quick else SETTINGS["turns"]):
        print(f"bandwidth: turn {turn + 1}", file=sys.stderr)
        ours = by_tiebreak(args, thread_counts)
        after = by_stream(args, program, thread_counts)
        for kernel, threads in before:
            best, median = zip(before[kernel, threads], after[kernel, threads], strict=True)
            yield {
                "turn": turn + 1,
                "kernel": kernel,
                "threads": threads,
                "stream_bytes_per_s": list(best),
                "stream_median_bytes_per_s": list(median),
                "tiebreak_bytes_per_s": ours.get((kernel, threads)),
                "counts": max(best) <= SETTINGS["agree_within"] * min(best),
            }
        before = after


def ratios(measurements):
    """The median ratios of tiebreak to the C program for each kernel and number of threads."""

    def over(rows, what):
        return [row["tiebreak_bytes_per_s"] / statistics.mean(row[what]) for row in rows]

    within = SETTINGS["must_hold_within"]
    kinds = dict.fromkeys((row["kernel"], row["threads"]) for row in measurements)
    for kernel, threads in kinds:
        rows = [
            row
            for row in measurements
            if (row["kernel"], row["threads"]) == (kernel, threads)
            and row["counts"]
            and row["tiebreak_bytes_per_s"]
        ]
        best = over(rows, "stream_bytes_per_s")
        median = over(rows, "stream_median_bytes_per_s")
        yield {
            "kernel": kernel,
            "threads": threads,
            "turns": len(rows),
            "ratio": round(statistics.median(best), 4) if rows else None,
            "least": round(min(best), 4) if rows else None,
            "most": round(max(best), 4) if rows else None,
            "over_median": round(statistics.median(median), 4) if rows else None,
            "holds": bool(rows)
            and statistics.median(best) <= 1 + within
            and statistics.median(median) >= 1 - within,
        }


def arguments():
    """What was typed."""
    parser = argparse.ArgumentParser(
        description=__doc__.split("\n\n", maxsplit=1)[0],
        epilog="example: bench/machine/bandwidth.py --quick",
    )
    parser.add_argument("--quick", action="store_true", help="one turn, printed and not kept")
    parser.add_argument("--cpus", default="0,1", help="CPUs, with commas [default: 0,1]")
    default = str(peers.ROOT / "target/release/tiebreak")
    parser.add_argument("--tiebreak", default=default, help="which")
    args = parser.parse_args()
    args.cpus = [int(cpu) for cpu in args.cpus.split(",")]
    return args


def main():
    """Measures, and says whether they agree."""
    args = arguments()
    try:
        measurements = list(turns(args))
        data = {
            "schema": SCHEMA,
            "date": datetime.date.today().isoformat(),
            "machine": peers.machine(),
            "compiler": subprocess.run(
                ["cc", "--version"], check=True, capture_output=True, text=True
            ).stdout.splitlines()[0],
            "options": OPTIONS,
            "settings": SETTINGS,
            "ratios": list(ratios(measurements)),
            "measurements": measurements,
        }
    except (peers.Problem, subprocess.CalledProcessError, OSError) as problem:
        print(f"bandwidth: {problem}", file=sys.stderr)
        return 1
    except KeyboardInterrupt:
        print("\nbandwidth: nothing is kept", file=sys.stderr)
        return 130
    for row in data["ratios"]:
        print(json.dumps(row))
    if not args.quick:
        peers.save(DATA, data, "measurements")
    return 0 if all(row["holds"] for row in data["ratios"]) else 1


if __name__ == "__main__":
    sys.exit(main())
