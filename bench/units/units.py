#!/usr/bin/python3 -B
"""How many units a second each study runs, by this program or by two, turn and turn about.

A unit is a process with placements and an input of its own. Each workload of each study is raced
for some seconds with the same seed, once by the program that was there before, if one is given,
and once by this one, in an order that changes from workload to workload. Units a second are the
units over the seconds of the race, both from the run's own JSON; neither building nor checking nor
the pilot counts. Each program chooses by its own pilot how many rounds a unit has, so rounds a
second stand beside, and the share of a unit's time that its timed batches and the untimed calls
before them take, as the pilot found it: no unit can be faster than that. Prints a row as soon as
it is known.

    make units [ARGS="[--before PROGRAM] [--seconds N] [STUDY[/WORKLOAD]...]"]
"""

import argparse
import json
import os
import re
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
TIEBREAK = str(ROOT / "target" / "release" / "tiebreak")
SEED = "units"
HEAD = f"{'study':21} {'workload':15} {'program':7} {'units/s':>9} {'rounds/s':>9} {'a unit':>9}"
HEAD += f" {'rounds':>6} {'in rounds':>9}"


def cases(asked):
    """The study and the workload of each race."""
    wanted = asked or sorted(path.parent.name for path in ROOT.glob("studies/*/study.toml"))
    for one in wanted:
        study, _, workload = one.partition("/")
        text = (ROOT / "studies" / study / "study.toml").read_text()
        names = re.findall(r'^\[\[workload\]\]\n(?:#.*\n)*name = "(.*)"', text, re.M)
        for name in [workload] if workload else names:
            yield study, name


def race(program, study, workload, seconds, folder):
    """Races one workload. Returns its run, or why there is none."""
    out = folder / "result.json"
    out.unlink(missing_ok=True)
    words = ["study", "run", str(ROOT / "studies" / study), "--only", workload]
    options = ["--budget", f"{seconds}s", "--seed", SEED, "--json", str(out)]
    done = subprocess.run(
        [program, *words, *options, "--store", str(folder / "store")],
        capture_output=True, text=True, check=False,
    )
    if not out.exists():
        lines = done.stderr.strip().splitlines() or [f"exit status {done.returncode}"]
        return None, lines[-1]
    [run] = json.loads(out.read_text())["runs"]
    if run["rounds"] == 0:
        return None, "no unit was raced"
    return run, None


def measured(run):
    """What a run says of its units."""
    study, units, seconds = run["study"], run["rounds"], run["seconds"]
    rounds = study["rounds_a_unit"]
    unit_ms = 1e3 * seconds / units
    in_rounds = rounds * study["pilot"]["round_cost_ns"] / 1e6 / unit_ms
    return {
        "units_per_second": units / seconds,
        "rounds_per_second": units * rounds / seconds,
        "unit_ms": unit_ms,
        "rounds_a_unit": rounds,
        "share_in_rounds": min(in_rounds, 1.0),
        "units": units,
        "settled": sum(one["verdict"] != "undecided" for one in run["verdicts"]),
        "questions": len(run["verdicts"]),
    }


def row(study, workload, which, found):
    one = f"{study:21} {workload:15} {which:7} {found['units_per_second']:9.2f}"
    one += f" {found['rounds_per_second']:9.2f} {found['unit_ms']:6.1f} ms"
    return one + f" {found['rounds_a_unit']:6} {100 * found['share_in_rounds']:8.0f}%"


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--before", help="another program, to compare with")
    parser.add_argument("--seconds", type=int, default=10, help="of each race")
    parser.add_argument("--json", type=Path, help="a file for what was measured")
    parser.add_argument("cases", nargs="*", metavar="STUDY[/WORKLOAD]")
    asked = parser.parse_args()
    programs = {"before": asked.before, "now": TIEBREAK} if asked.before else {"now": TIEBREAK}
    rows = []
    print(HEAD)
    with tempfile.TemporaryDirectory() as place:
        for index, (study, workload) in enumerate(cases(asked.cases)):
            found = {"study": study, "workload": workload, "load": os.getloadavg()[0]}
            turns = list(programs.items())
            for which, program in turns if index % 2 == 0 else turns[::-1]:
                run, why = race(program, study, workload, asked.seconds, Path(place))
                found[which] = measured(run) if run else {"why": why}
            for which in programs:
                if "why" in found[which]:
                    print(f"{study:21} {workload:15} {which:7} {found[which]['why'][:60]}")
                else:
                    print(row(study, workload, which, found[which]))
            if len(programs) == 2 and not any("why" in found[which] for which in programs):
                times = [found[which]["units_per_second"] for which in programs]
                print(f"{'':45} {times[1] / times[0]:8.1f}x", flush=True)
            rows.append(found)
    if asked.json:
        asked.json.write_text(json.dumps(rows, indent=1) + "\n")
    return 0 if rows else 1


if __name__ == "__main__":
    sys.exit(main())
