#!/usr/bin/python3
"""Measures what a message costs the generator: ours and others, on the same server.

Each is a program that sends a fixed number of messages, so tiebreak compares their CPU time as that
of any programs. The servers are nginx and Mosquitto, started here on free ports. What one of the
others needs and is not installed leaves its contest out, and that is said.
"""

import argparse
import os
import shutil
import subprocess
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
import servers  # noqa: E402
from common import ROOT, Problem  # noqa: E402

HERE = Path(__file__).resolve().parent
# Relative to the root, from which all is run: the result names it.
BUILT = Path("target/tiebreak/load")
DATA = ROOT / "docs" / "measured" / "load-cost.json"
CONNECTIONS, REQUESTS, PAIRED = 10, 20_000, 100_000
PAIR_CONNECTIONS = 100
# 'mqttv5 bench' ends after a time. Ours sends more messages than it does by then in some runs.
MQTTV5_SECONDS, MQTTV5_PILOTS, MQTTV5_MARGIN = 2, 3, 1.25


def mqttv5(broker, messages):
    """The command that runs 'mqttv5 bench', which is to publish no more than so many messages."""
    return f"bench/load/mqttv5.sh {messages} 127.0.0.1 {broker} {MQTTV5_SECONDS}"


def messages_of_mqttv5(broker):
    """A number of messages that is more than 'mqttv5 bench' passes on; 0 if it is not there."""
    if not shutil.which("mqttv5"):
        return 0
    command, most = mqttv5(broker, 10**12).split(), 0
    for _ in range(MQTTV5_PILOTS):
        run = subprocess.run(command, check=False, capture_output=True, text=True)
        if run.returncode:
            raise Problem(f"mqttv5 bench fails: {run.stderr.strip()}")
        most = max(most, int(run.stdout))
    return int(MQTTV5_MARGIN * most)


def claims(tiebreak, web, broker):
    """The file of claims: a contest a peer, each against ours."""
    url, mqtt = f"http://127.0.0.1:{web}/index.html", f"127.0.0.1:{broker}"
    ours = (f"{tiebreak} load http {url} --closed --connections {CONNECTIONS} "
            f"--messages {REQUESTS} --threads 1 --quiet")
    pairs = (f"{tiebreak} load mqtt mqtt://{mqtt} --shape pairs --closed --in-flight any "
             f"--connections {PAIR_CONNECTIONS} --messages {PAIRED} --threads 1 --quiet")
    each = 2 * PAIRED // PAIR_CONNECTIONS
    messages = messages_of_mqttv5(broker)
    one_pair = (f"{tiebreak} load mqtt mqtt://{mqtt} --shape pairs --closed --in-flight any "
                f"--mqtt-version 5.0 --connections 2 --messages {messages} --threads 1 --quiet")
    peers = {
        "h2load": ("ours is no more than 10% slower than h2load by cpu time", ours,
                   f"h2load --h1 -n {REQUESTS} -c {CONNECTIONS} {url}"),
        "oha": ("ours is at least 2x faster than oha by cpu time", ours,
                f"oha --no-tui -n {REQUESTS} -c {CONNECTIONS} {url}"),
        "k6": ("ours is at least 10x faster than k6 by cpu time", ours,
               f"k6 run --quiet --no-usage-report --vus {CONNECTIONS} --iterations {REQUESTS} "
               f"-e URL={url} bench/load/get.js"),
        "loadtest": ("ours is at least 3x faster than loadtest by cpu time", pairs,
                     f"{BUILT / 'loadtest'} tcp://{mqtt} {PAIR_CONNECTIONS} {each}"),
        "mqttv5": ("ours is at least 2x faster than mqttv5 by cpu time", one_pair,
                   mqttv5(broker, messages)),
    }
    contests = []
    for name, (claim, own, other) in peers.items():
        if not shutil.which(name if name == "mqttv5" else other.split()[0]):
            print(f"load-cost: {name} is left out: it is not installed", file=sys.stderr)
            continue
        contests.append(
            f'[[contest]]\nname = "{name}"\nclaims = ["{claim}"]\n'
            f"[contest.contestants]\nours = '{own}'\n{name} = '{other}'\n")
    return 'error = "1%"\ncheck = "exit"\ntimeout = "60s"\n\n' + "\n".join(contests)


def main():
    """Measures, and draws the table."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n")[0])
    parser.add_argument("--budget", default="6min", help="for all contests together")
    parser.add_argument("--quick", action="store_true", help="no table")
    parser.add_argument("--tiebreak", default="target/release/tiebreak", help="which")
    args = parser.parse_args()
    os.chdir(ROOT)
    os.environ["PATH"] += f":{ROOT / 'target/tools/bin'}"
    BUILT.mkdir(parents=True, exist_ok=True)
    if shutil.which("go"):
        subprocess.run(["go", "build", "-o", ROOT / BUILT / "loadtest", "."],
                       cwd=HERE / "loadtest", check=True)
    file, out = BUILT / "claims.toml", BUILT / "cost.json"
    try:
        with servers.Debian("nginx") as web, servers.Debian("mosquitto") as broker:
            file.write_text(claims(args.tiebreak, web, broker))
            command = [args.tiebreak, "check", file, "--budget", args.budget, "--json", out]
            status = subprocess.run(command, check=False).returncode
    except (Problem, FileNotFoundError) as problem:
        print(f"load-cost: {problem}", file=sys.stderr)
        return 1
    if status > 2:
        return status
    if not args.quick:
        out.replace(DATA)
        subprocess.run(["cargo", "xtask", "splice", "make", "load-cost"], check=True, cwd=ROOT)
    return status


if __name__ == "__main__":
    sys.exit(main())
