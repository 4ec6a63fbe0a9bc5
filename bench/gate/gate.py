#!/usr/bin/python3 -B
"""Gates 100 pull requests of a made-up repository, of which 50 are 3% slower, on a noisy machine.

Each pull request changes something innocent, and 50 of them also look at 3 of 100 blocks twice.
tiebreak builds and races both revisions; hyperfine times the same commits, and its means are
compared with a stored number, as CI commonly does, or with main measured just before. Each check is
written down as soon as it is made, so that an experiment that was cut off goes on where it was. The
table in docs/ci/README.md is then drawn from the data.
"""

import datetime
import json
import os
import random
import shutil
import statistics
import subprocess
import sys
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "peers"))

import peers  # noqa: E402
from scipy import __version__ as scipy_version  # noqa: E402
from scipy.stats import ttest_ind  # noqa: E402

HERE = Path(__file__).resolve().parent
BUILT = peers.ROOT / "target" / "tiebreak" / "gate"
DATA = peers.ROOT / "docs" / "measured" / "gate.json"
SCHEMA = "tiebreak/gate/1"
SEED = 20260202

PULL_REQUESTS, QUICK_PULL_REQUESTS = 100, 4
SETTINGS = {
    "process_ms": 10.0,
    "slower": 0.03,
    "max_slowdown": 0.02,
    "error": 0.01,
    "budget_seconds": 45,
    "warmup": 3,
    "runs": 80,
    "p": 0.05,
    "seed": SEED,
}
BUILD = "cc -O2 -static -o app app.c"
INNOCENT = "no change yet"
PLANTED = ("/* change: nothing */", "if (i % 100 < 3)\n            sink = stirred(x);")
WORDS = "now with clearer words about what it does and why it may take a while".split()


def said(command, cwd=None, statuses=(0,)):
    """What a command prints on standard output."""
    ran = subprocess.run(command, cwd=cwd, capture_output=True, text=True)
    if ran.returncode not in statuses:
        words = " ".join(str(word) for word in command[:4])
        raise peers.Problem(f"{words} ended with {ran.returncode}: {ran.stderr.strip()}")
    return ran.stdout


def git(*words):
    """git in the made-up repository, the same commits on every machine."""
    identity = ["-c", "user.name=gate", "-c", "user.email=gate@localhost", "-c", "gc.auto=0"]
    date = "2026-01-01T00:00:00Z"
    dates = {"GIT_AUTHOR_DATE": date, "GIT_COMMITTER_DATE": date, "GIT_CONFIG_GLOBAL": "/dev/null"}
    command = ["git", "-C", BUILT / "repository", *identity, *words]
    ran = subprocess.run(command, capture_output=True, text=True, env={**os.environ, **dates})
    if ran.returncode != 0:
        raise peers.Problem(f"git {words[0]} ended with {ran.returncode}: {ran.stderr.strip()}")
    return ran.stdout


def kinds(count):
    """Whether each pull request is slower: half of them, drawn by the seed."""
    slower = [number % 2 == 1 for number in range(count)]
    random.Random(f"{SEED} kinds").shuffle(slower)
    return slower


def make_repository(count):
    """Makes the repository: main, and a branch a pull request."""
    folder = BUILT / "repository"
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    git("init", "--quiet", "--initial-branch", "main")
    source = (HERE / "app.c").read_text()

    def commit(text, message):
        (folder / "app.c").write_text(text)
        git("add", "--all")
        git("commit", "--quiet", "--message", message)

    commit(source, "The program")
    for number, slower in enumerate(kinds(count)):
        draw = random.Random(f"{SEED} {number}")
        words = " ".join(draw.choices(WORDS, k=draw.randint(1, 30)))
        changed = source.replace(INNOCENT, words)
        changed = changed.replace(*PLANTED) if slower else changed
        git("switch", "--quiet", "--create", f"pr{number}", "main")
        commit(changed, f"Pull request {number}: better words")
    git("switch", "--quiet", "main")


def build(args, revision):
    """Builds a revision as tiebreak does, in a folder of its own; gives the program and seconds."""
    start = time.monotonic()
    folder = BUILT / "built" / revision
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    (folder / "app.c").write_text(git("show", f"{revision}:app.c"))
    said(["taskset", "-c", str(args.cpu), "sh", "-c", BUILD], folder)
    return folder / "app", time.monotonic() - start


def blocks_of(args, program):
    """How many blocks take about as long as the program should: by the least of many times."""
    probe = 1000

    def once():
        start = time.monotonic()
        said(["taskset", "-c", str(args.cpu), program, str(probe)])
        return time.monotonic() - start

    def nothing():
        start = time.monotonic()
        said(["taskset", "-c", str(args.cpu), program, "1"])
        return time.monotonic() - start

    least = min(once() for _ in range(60)) - min(nothing() for _ in range(60))
    return round(probe * SETTINGS["process_ms"] / (1e3 * least), -2)


def start_data(args, blocks):
    """The data of an earlier experiment of the same kind, or new data without checks."""
    tools = {
        "tiebreak": peers.version([args.tiebreak, "--version"]),
        "hyperfine": peers.version(["hyperfine", "--version"]),
        "scipy": scipy_version,
    }
    fixed = {"machine": peers.machine(), "tools": tools, "settings": {**SETTINGS, "cpu": args.cpu}}
    if args.data.exists() and not args.restart:
        data = json.loads(args.data.read_text())
        for key, value in fixed.items():
            if {**data[key], "blocks": None} != {**value, "blocks": None}:
                raise peers.Problem(f"{args.data} is of another {key}; --restart begins anew")
        return data
    fixed["settings"]["blocks"] = int(blocks())
    neighbour = {"duty": peers.NEIGHBOUR_DUTY, "cpu_seconds": 0.0, "wall_seconds": 0.0}
    today = datetime.date.today().isoformat()
    return {
        "schema": SCHEMA,
        "date": today,
        **fixed,
        "neighbour": neighbour,
        "baseline_ms": [],
        "checks": [],
    }


def hyperfine(args, program, blocks):
    """The times of a program in milliseconds, and the seconds that it took to get them."""
    export = BUILT / "times.json"
    options = ["-N", "-w", str(SETTINGS["warmup"]), "-r", str(SETTINGS["runs"])]
    start = time.monotonic()
    said(
        ["taskset", "-c", str(args.cpu), "hyperfine", *options]
        + ["--export-json", str(export), f"{program} {blocks}"]
    )
    seconds = time.monotonic() - start
    times = json.loads(export.read_text())["results"][0]["times"]
    return [1e3 * seconds for seconds in times], seconds


def by_hyperfine(args, data, number):
    """main and the pull request timed one after the other, and compared in the common ways."""
    blocks = data["settings"]["blocks"]
    main, building_main = build(args, "main")
    base, timing_main = hyperfine(args, main, blocks)
    program, building = build(args, f"pr{number}")
    head, timing = hyperfine(args, program, blocks)

    def welch(standard):
        test = ttest_ind(head, standard, equal_var=False)
        return {"p": float(test.pvalue), "slower": bool(test.statistic > 0)}

    return {
        "base_ms": round(statistics.mean(base), 4),
        "head_ms": round(statistics.mean(head), 4),
        "welch_stored": welch(data["baseline_ms"]),
        "welch_now": welch(base),
        "seconds_stored": round(building + timing, 3),
        "seconds_now": round(building_main + timing_main + building + timing, 3),
    }


def by_tiebreak(args, data, number):
    """tiebreak's verdict and exit code."""
    store = BUILT / "store.db"
    for path in BUILT.glob("store.db*"):
        path.unlink()
    command = ["taskset", "-c", str(args.cpu), args.tiebreak, "compare", "--quiet"]
    command += ["--base", "main", "--head", f"pr{number}", "--build", BUILD]
    command += ["--budget", f"{SETTINGS['budget_seconds']}s", "--error", str(SETTINGS["error"])]
    command += ["--max-slowdown", str(SETTINGS["max_slowdown"]), "--cpus", str(args.cpu)]
    command += ["--store", store, "--json", "-", f"./app {data['settings']['blocks']}"]
    start = time.monotonic()
    ran = subprocess.run(command, cwd=BUILT / "repository", capture_output=True, text=True)
    seconds = time.monotonic() - start
    if ran.returncode not in (0, 1):
        raise peers.Problem(f"tiebreak ended with {ran.returncode}: {ran.stderr.strip()}")
    verdict = json.loads(ran.stdout)["verdicts"][0]
    ratio = verdict["ratio"]
    return {
        "exit": ran.returncode,
        "verdict": verdict["verdict"],
        "rounds": verdict["rounds"],
        "ratio": [ratio["estimate"], ratio["low"], ratio["high"]],
        "seconds": round(seconds, 3),
    }


def check(args, data, number, slower):
    """Gates one pull request by both tools, in an order drawn for it."""
    tools = [("hyperfine", by_hyperfine), ("tiebreak", by_tiebreak)]
    random.Random(f"{SEED} order {number}").shuffle(tools)
    judged = {name: judge(args, data, number) for name, judge in tools}
    return {"number": number, "slower": slower, "first": tools[0][0], **judged}


def run(args, main, neighbour, data, count):
    """Makes every check that is missing, in an order that mixes the two kinds."""
    plan = list(enumerate(kinds(count)))
    random.Random(f"{SEED} checks").shuffle(plan)
    made = {check["number"] for check in data["checks"]}
    left = [item for item in plan if item[0] not in made]
    end = time.monotonic() + 3600 * args.hours
    seed = peers.SEED + len(data["checks"])
    with peers.Neighbour(neighbour, args.cpu, data["neighbour"], seed) as busy:
        if not data["baseline_ms"]:
            times, _ = hyperfine(args, main, data["settings"]["blocks"])
            data["baseline_ms"] = [round(ms, 4) for ms in times]
        for i, (number, slower) in enumerate(left):
            if time.monotonic() > end:
                print(f"gate: {args.hours} hours are over", file=sys.stderr)
                return
            row = check(args, data, number, slower)
            data["checks"].append(row)
            busy.count()
            peers.save(args.data, data, "checks")
            ours, peer = row["tiebreak"], row["hyperfine"]
            print(
                f"gate: {len(plan) - len(left) + i + 1} of {len(plan)}: "
                f"{'3% slower' if slower else 'not slower'}: tiebreak {ours['verdict']} in "
                f"{ours['seconds']:.1f} s ({ours['rounds']} rounds), hyperfine "
                f"{100 * (peer['head_ms'] / statistics.mean(data['baseline_ms']) - 1):+.1f}% of "
                f"the stored mean, {100 * (peer['head_ms'] / peer['base_ms'] - 1):+.1f}% of main",
                file=sys.stderr,
            )


def main():
    """Measures, and draws the table."""
    few = f"{QUICK_PULL_REQUESTS} pull requests"
    args = peers.arguments(__doc__, "bench/gate/gate.py", few, DATA, BUILT / "quick.json")
    count = QUICK_PULL_REQUESTS if args.quick else PULL_REQUESTS
    _, neighbour = peers.compile_programs()

    def measure():
        make_repository(count)
        program, _ = build(args, "main")
        data = start_data(args, lambda: blocks_of(args, program))
        run(args, program, neighbour, data, count)

    return peers.finish("gate", args, measure)


if __name__ == "__main__":
    sys.exit(main())
