#!/usr/bin/python3
"""Compares `tiebreak machine cores` with core-to-core-latency, on the same two CPUs.

A turn is the peer, we, and the peer again; ten turns after waiting until little else runs, and ten
next to two busy processes. The peer runs as it does by itself, and also many times for some
milliseconds: the least of these means was not disturbed. Our modes are compared with it in turns in
which it reads the same before and after and we see one mode, as a hypervisor may have moved a CPU
in the others. Every run is written down.
"""

import argparse
import contextlib
import datetime
import json
import os
import signal
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
from common import Problem, machine  # noqa: E402

ROOT = Path(__file__).resolve().parents[2]
BUILT = ROOT / "target" / "tiebreak" / "machine"
DATA = ROOT / "docs" / "measured" / "machine-cores.json"
SCHEMA = "tiebreak/machine-cores/1"
PEER, PEER_VERSION = "core-to-core-latency", "1.2.0"
# Its benches: compare-exchange on one line, loads and stores on two.
PEER_KERNELS = ("compare-exchange", "two-lines")
PEER_ARGUMENTS = ["--bench", "1,2", "--csv"]
# Short runs of it: round trips a sample, samples, and how many of them.
SHORT, SHORT_RUNS = ["1000", "5"], 25

# A turn is quiet if all else uses less than this share of all CPUs for a second.
QUIET_SHARE = 0.10
# What differs by more is another placement, and what the peer may differ before and after.
GAP, SAME = 1.25, 1.10


def said(command):
    """What a command prints on standard output."""
    ran = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    if ran.returncode != 0:
        last = ran.stderr.strip().splitlines()[-1:]
        raise Problem(f"{command[0]} ended with {ran.returncode}: {' '.join(last)}")
    return ran.stdout


def install_peer():
    """Builds the peer once; gives its path."""
    program = BUILT / "bin" / PEER
    if not program.exists():
        print(f"cores: building {PEER} {PEER_VERSION}", file=sys.stderr)
        crate = [PEER, "--version", PEER_VERSION, "--locked", "--root", BUILT]
        said(["cargo", "install", "--quiet", *crate])
    return program


def cpu_times():
    """Busy and all ticks of all CPUs."""
    fields = Path("/proc/stat").read_text().splitlines()[0].split()[1:9]
    ticks = [int(field) for field in fields]
    return sum(ticks) - ticks[3] - ticks[4], sum(ticks)


def wait_for_quiet(limit_s):
    """Waits until little runs, or so long; gives the share of the CPUs that the rest uses."""
    end = time.monotonic() + limit_s
    while True:
        busy, everything = cpu_times()
        time.sleep(1)
        busy_now, everything_now = cpu_times()
        share = (busy_now - busy) / max(everything_now - everything, 1)
        if share < QUIET_SHARE or time.monotonic() > end:
            return round(share, 3)


@contextlib.contextmanager
def load(cpus):
    """A busy process on each CPU, for as long as the block runs."""
    spin = [sys.executable, "-c", "while True: pass"]
    busy = [subprocess.Popen(["taskset", "-c", str(cpu), *spin]) for cpu in cpus]
    try:
        time.sleep(0.5)
        yield
    finally:
        for process in busy:
            process.kill()
            process.wait()


def by_peer(args, numbers=()):
    """The peer's means in nanoseconds, by the way of passing."""
    cpus = ",".join(str(cpu) for cpu in args.cpus)
    text = said([args.peer, *numbers, *PEER_ARGUMENTS, "--cores", cpus])
    cells = [cell for cell in text.replace("\n", ",").split(",") if cell]
    if len(cells) != len(PEER_KERNELS):
        raise Problem(f"{PEER} printed {text!r}")
    return {kernel: round(float(cell), 2) for kernel, cell in zip(PEER_KERNELS, cells)}


def least_by_peer(args):
    """The least mean of its short runs."""
    runs = [by_peer(args, SHORT) for _ in range(SHORT_RUNS)]
    return {kernel: min(run[kernel] for run in runs) for kernel in PEER_KERNELS}


def by_tiebreak(args):
    """Our modes in nanoseconds with their shares, by the way of passing; none if inconclusive."""
    cpus = ",".join(str(cpu) for cpu in args.cpus)
    with tempfile.TemporaryDirectory(dir=BUILT) as folder:
        command = [args.tiebreak, "machine", "cores", "--cpus", cpus, "--budget", args.budget]
        command += ["--json", "-", "--quiet", "--store", f"{folder}/store"]
        ran = subprocess.run(command, capture_output=True, text=True)
    if ran.returncode not in (0, 2):
        raise Problem(f"tiebreak ended with {ran.returncode}: {ran.stderr.strip()}")
    found = json.loads(ran.stdout)["cores"]
    kernels = found.get("value", {"kernels": []})["kernels"]
    modes = {
        each["kernel"]: [
            [round(mode["latency_ns"], 2), round(mode["share"], 3)]
            for mode in each["pairs"][0]["modes"]
        ]
        for each in kernels
    }
    return {"state": found["state"], "modes": modes}


def turn(args, series, number):
    """The peer, we, the peer."""
    others = wait_for_quiet(args.wait if series == "quiet" else 0)
    row = {"series": series, "number": number, "busy_before": others}
    peer, least = [by_peer(args)], [least_by_peer(args)]
    ours = by_tiebreak(args)
    least.append(least_by_peer(args))
    peer.append(by_peer(args))
    return {**row, "peer": peer, "peer_least": least, "ours": ours}


def save(data):
    """Writes the data, a line a row, whole at every moment."""
    head = [f"  {json.dumps(key)}: {json.dumps(data[key])}" for key in data if key != "turns"]
    rows = ",\n".join(f"    {json.dumps(row)}" for row in data["turns"])
    text = "{\n" + ",\n".join([*head, f'  "turns": [\n{rows}\n  ]']) + "\n}\n"
    DATA.parent.mkdir(parents=True, exist_ok=True)
    partial = DATA.with_suffix(".partial")
    partial.write_text(text)
    partial.replace(DATA)


def measure(args):
    """Takes all turns; gives the data."""
    data = {
        "schema": SCHEMA,
        "date": datetime.date.today().isoformat(),
        "machine": machine(),
        "tools": {"tiebreak": said([args.tiebreak, "--version"]).split()[1], PEER: PEER_VERSION},
        "settings": {"cpus": args.cpus, "budget": args.budget},
        "turns": [],
    }
    for series in ("quiet", "loaded"):
        for number in range(args.runs):
            with load(args.cpus if series == "loaded" else []):
                row = turn(args, series, number)
            data["turns"].append(row)
            save(data)
            place = f"{series} {number + 1} of {args.runs}"
            print(f"cores: {place}: {json.dumps(row)}", file=sys.stderr)
    return data


def lowest(row, kernel):
    """The lowest mode of a turn, if there is any."""
    modes = row["ours"]["modes"].get(kernel)
    return modes[0][0] if modes else None


def placements(values):
    """The values, split where the next is a quarter larger: what a moved CPU reads is apart."""
    groups = []
    for value in sorted(values):
        if not groups or value >= groups[-1][-1] * GAP:
            groups.append([])
        groups[-1].append(value)
    return groups


def is_alike(row, kernel):
    """Whether the peer's least is the same before and after, and we see one mode."""
    before, after = (each[kernel] for each in row["peer_least"])
    modes = row["ours"]["modes"].get(kernel, [])
    return max(before, after) <= min(before, after) * SAME and len(modes) == 1


def table(data):
    """What came out, as lines."""
    for series in ("quiet", "loaded"):
        rows = [row for row in data["turns"] if row["series"] == series]
        yield f"{series}, {len(rows)} turns, CPUs {data['settings']['cpus']}, one way"
        for kernel in PEER_KERNELS:
            peers = [each[kernel] for row in rows for each in row["peer"]]
            yield (
                f"  {kernel}: {PEER} reads {min(peers):.1f} to {max(peers):.1f} ns "
                f"(median {statistics.median(peers):.1f}), {max(peers) / min(peers):.1f}x apart"
            )
            modes = [m for row in rows for m in row["ours"]["modes"].get(kernel, [])]
            for group in placements(value for value, _ in modes):
                yield (
                    f"    ours, a mode of {len(group)} runs: {group[0]:.1f} to {group[-1]:.1f} ns "
                    f"(median {statistics.median(group):.1f}), "
                    f"{100 * (group[-1] / group[0] - 1):.1f}% apart"
                )
            # The lowest mode, against the peer's in the same placement.
            ratios = [
                lowest(row, kernel) / min(each[kernel] for each in row["peer_least"])
                for row in rows
                if is_alike(row, kernel)
            ]
            if ratios:
                yield (
                    f"    ours over the peer's least, {len(ratios)} turns that can be compared: "
                    f"median {statistics.median(ratios):.3f}, "
                    f"{min(ratios):.3f} to {max(ratios):.3f}"
                )


def arguments():
    """What was typed."""
    two = sorted(os.sched_getaffinity(0))[:2]
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n")[0])
    parser.add_argument("--runs", type=int, default=10, help="turns, quiet and loaded each")
    parser.add_argument("--budget", default="4s", help="our time in a turn")
    parser.add_argument("--wait", type=float, default=60, help="seconds to wait for quiet")
    parser.add_argument("--tiebreak", default=str(ROOT / "target/release/tiebreak"), help="which")
    parser.add_argument("--table", action="store_true", help="only draw the table of the data")
    args = parser.parse_args()
    args.cpus = two
    return args


def main():
    """Measures, and prints what came out."""
    args = arguments()
    # What ends it ends its busy processes too, also where it was started in the background.
    for ending in (signal.SIGINT, signal.SIGTERM):
        signal.signal(ending, signal.default_int_handler)
    try:
        if args.table:
            data = json.loads(DATA.read_text())
        else:
            if len(args.cpus) < 2:
                raise Problem("a pair needs two CPUs, and this process may use one")
            BUILT.mkdir(parents=True, exist_ok=True)
            args.peer = install_peer()
            data = measure(args)
    except (Problem, OSError) as problem:
        print(f"cores: {problem}", file=sys.stderr)
        return 1
    except KeyboardInterrupt:
        print("\ncores: what was measured is kept", file=sys.stderr)
        return 130
    print("\n".join(table(data)))
    return 0


if __name__ == "__main__":
    sys.exit(main())
