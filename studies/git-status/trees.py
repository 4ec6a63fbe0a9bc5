#!/usr/bin/python3 -B
"""Makes the trees of this study, and brings them into a state: the hooks of claims.toml.

    trees.py setup FILES                makes the tree of $TIEBREAK_CONTESTANT, and verifies it
    trees.py state STATE FILES [cold]   brings it into a state; cold drops the page cache as well
    trees.py cleanup FILES              ends what watches it; the tree stays
    trees.py remove                     removes all trees

The same FILES and SEED give the same tree on every machine. Whatever keeps a contestant from
running is one sentence on standard error, and exit status 2.
"""

import hashlib
import json
import os
import random
import shlex
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

HERE = Path(__file__).resolve().parent
ROOT = HERE.parent.parent / "target" / "tiebreak" / "git-status"
SEED = 20
PER_FOLDER = 16  # files in a folder, on average
BYTES_PER_FILE = 1000  # what a tree needs of the file system: about three times what ext4 takes
BYTES_BESIDE = 16_000_000  # what git keeps of changes, at most 12 MB in verify
OLD = 1_000_000_000  # a modification time that no index can take for racy
STATES = ("clean", "changed", "folder")

HOOK = ".git/hooks/fsmonitor-watchman.sample"  # git's own, version 2
TASKS = ["--task=commit-graph", "--task=loose-objects", "--task=incremental-repack"]

# What each contestant sets. All other settings that a user may have are set to git's defaults.
DEFAULTS = {"core.fsmonitor": "false", "core.untrackedCache": "false", "feature.manyFiles": "false",
            "core.preloadIndex": "true", "index.threads": "true", "index.version": "2",
            "status.showUntrackedFiles": "normal", "maintenance.auto": "false", "gc.auto": "0"}
CONTESTANTS = {
    "plain": {},
    "cache": {"core.untrackedCache": "true"},
    "maintenance": {"feature.manyFiles": "true", "core.untrackedCache": "true",
                    "index.version": "4"},
    "watchman": {"core.fsmonitor": HOOK},
    "watchman-cache": {"core.fsmonitor": HOOK, "core.untrackedCache": "true"},
    "ours": {"core.fsmonitor": "the hook of hook.c", "core.untrackedCache": "true"},
    "daemon": {"core.fsmonitor": "true", "core.untrackedCache": "true"},
}


class Missing(Exception):
    """Why a contestant cannot run here, as a sentence."""


class Elsewhere(Missing):
    """The same, if nothing that can be installed would help: it is for other platforms."""


class Usage(Exception):
    """The words that a program of this study takes."""


def git(folder, *words, **options):
    """Runs git in a folder and returns what it printed."""
    done = subprocess.run(["git", "-C", folder, *words], capture_output=True, **options)
    if done.returncode != 0:
        said = done.stderr.decode(errors="replace").strip().splitlines()
        raise Missing(f"git {words[0]} failed in {folder}: {said[-1] if said else 'no reason'}")
    return done.stdout


def status(folder):
    """Returns what git status prints, in the form that is timed."""
    return git(folder, "status", "--porcelain").decode(errors="surrogateescape")


def watches(contestant):
    return contestant.startswith("watchman") or contestant == "ours"


def shape(files):
    """Yields the paths of a tree: each folder lies in a random earlier one, as does each file."""
    draw = random.Random(SEED)
    folders = [""]
    for number in range(files // PER_FOLDER):
        folders.append(f"{folders[int(draw.random() * len(folders))]}d{number:05}/")
    for number in range(files - 1):
        folder = folders[int(draw.random() * len(folders))]
        yield f"{folder}f{number:06}{('.c', '.h', '.txt')[number % 3]}"


def need_room(files):
    """Refuses a file system with too little room or too few inodes for a tree."""
    room = os.statvfs(ROOT)
    inodes = files + files // PER_FOLDER + 100
    free, needed = room.f_bavail * room.f_frsize, files * BYTES_PER_FILE + BYTES_BESIDE
    few = room.f_files and room.f_favail < inodes  # some file systems count no inodes
    if few or free < needed:
        raise Missing(
            f"the file system of {ROOT} is too small: a tree of {files} files needs "
            f"{needed / 1e6:.1f} MB and {inodes} inodes, and {free / 1e6:.1f} MB "
            f"and {room.f_favail if room.f_files else 'enough'} inodes are free")


def make_source(source, files):
    """Makes a bare repository with one commit of the tree, straight into a pack."""
    git(".", "init", "--quiet", "--bare", "--initial-branch=main", source)
    ignored = "*.o\n/build/\n"
    lines = [f"blob\nmark :1\ndata 0\n\nblob\nmark :2\ndata {len(ignored)}\n{ignored}\n"
             "commit refs/heads/main\ncommitter tree <tree@localhost> 1000000000 +0000\n"
             "data 4\ntree\nM 100644 :2 .gitignore\n"]
    paths = list(shape(files))
    lines += [f"M 100644 :1 {path}\n" for path in paths]
    git(source, "-c", "fastimport.unpackLimit=1", "fast-import", "--quiet",
        input="".join(lines).encode())
    (source / "changed").write_text(paths[files // 2])


def make_tree(files, contestant, where=None):
    """Returns the contestant's tree of so many files, and makes it if there is none."""
    base = ROOT / (where or str(files))
    base.mkdir(parents=True, exist_ok=True)
    tree = base / contestant
    if tree.exists():
        return tree
    need_room(files)
    source = base / "source.git"
    if not source.exists():
        with tempfile.TemporaryDirectory(dir=base) as part:
            make_source(Path(part) / "source.git", files)
            (Path(part) / "source.git").rename(source)
    with tempfile.TemporaryDirectory(dir=base) as part:
        new = Path(part) / contestant
        git(".", "clone", "--quiet", source, new)
        settings = {**DEFAULTS, **CONTESTANTS[contestant]}
        for key, value in settings.items():
            # The monitor is set in start: it would be asked about a tree that is about to move.
            if key != "core.fsmonitor":
                git(new, "config", key, value)
        git(new, "update-index", "--index-version", settings["index.version"])
        if contestant == "maintenance":
            git(new, "maintenance", "run", "--quiet", *TASKS)
        new.rename(tree)
    return tree


def watchman(*words, seconds=120):
    """Asks watchman, which starts if it does not run, and returns its answer."""
    # A service that is started here keeps the files that it inherits: it gets none to hold.
    with tempfile.TemporaryFile() as out:
        subprocess.run(["watchman", *words], stdin=subprocess.DEVNULL, stdout=out,
                       stderr=subprocess.DEVNULL, timeout=seconds, check=True)
        out.seek(0)
        return json.load(out)


def watchman_runs():
    """Says whether the service runs, and does not start it."""
    return subprocess.run(["watchman", "--no-spawn", "--no-local", "get-pid"], timeout=10,
                          stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
                          stderr=subprocess.DEVNULL).returncode == 0


def start_watchman():
    """Starts watchman, if it does not run, and returns the path of its socket."""
    ROOT.mkdir(parents=True, exist_ok=True)
    try:
        runs = watchman_runs()
        socket = watchman("get-sockname", seconds=10)["sockname"]
    except FileNotFoundError:
        raise Missing("watchman is not installed: 'scripts/setup.sh studies' installs it")
    except subprocess.TimeoutExpired:
        raise Missing("watchman did not start within 10 s: 'watchman get-sockname' shows why")
    except (subprocess.CalledProcessError, ValueError):
        raise Missing("watchman does not start: 'watchman get-sockname' shows why")
    if not runs:
        (ROOT / "watchman-started").touch()
    return socket


def watch(tree):
    """Has watchman watch the tree, and returns the path of its socket."""
    socket = start_watchman()
    answer = watchman("watch", str(tree))
    if "error" in answer:
        raise Missing(f"watchman does not watch {tree}: {answer['error']}")
    return socket


def start(tree, contestant):
    """Starts what watches the tree, waits until it does, and has git ask it."""
    monitor = CONTESTANTS[contestant].get("core.fsmonitor", "false")
    if watches(contestant):
        socket = watch(tree)
        if contestant == "ours":
            subprocess.run(["cc", "-std=gnu2x", "-O2", "-o", ROOT / "hook", HERE / "hook.c"],
                           check=True)
            monitor = shlex.join([str(ROOT / "hook"), socket])
        elif not (tree / HOOK).exists():
            raise Missing(f"git's template {Path(HOOK).name} is missing in {tree / '.git/hooks'}")
    if contestant == "daemon":
        need_daemon()
        subprocess.run(["git", "-C", tree, "fsmonitor--daemon", "start"], check=True, timeout=60,
                       stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    git(tree, "config", "core.fsmonitor", monitor)


def need_daemon():
    if b"fsmonitor--daemon" not in git(".", "version", "--build-options"):
        raise Elsewhere(f"{version()} has no daemon for this platform: "
                        "'git version --build-options' does not list fsmonitor--daemon")


def stop(tree, contestant):
    """Ends what watches the tree."""
    if contestant == "daemon":
        subprocess.run(["git", "-C", tree, "fsmonitor--daemon", "stop"], capture_output=True)
    if watches(contestant) and watchman_runs():
        watchman("watch-del", str(tree))
        end_watchman()


def end_watchman():
    """Ends watchman if it was started here and watches nothing any more."""
    started = ROOT / "watchman-started"
    if started.exists() and watchman_runs() and not watchman("watch-list")["roots"]:
        started.unlink()
        watchman("shutdown-server")


def version():
    return git(".", "version").decode().strip()


def versions(contestant):
    """Returns the programs that a contestant consists of, with their versions."""
    if contestant == "daemon":
        need_daemon()
    if not watches(contestant):
        return version()
    start_watchman()
    found = subprocess.run(["watchman", "--version"], capture_output=True)
    return f"{version()}, watchman {found.stdout.decode().strip()}"


def digest():
    """Returns what changes whenever a source of this study does."""
    sources = b"".join((HERE / name).read_bytes() for name in ("trees.py", "verify", "hook.c"))
    return hashlib.sha256(sources).hexdigest()


def need_verified(contestant):
    """Refuses a contestant whose answers are wrong; asks verify if nobody has."""
    stamp = ROOT / "verified" / contestant
    key = [versions(contestant), digest()]
    if not stamp.exists() or json.loads(stamp.read_text())["key"] != key:
        asked = subprocess.run([HERE / "verify", contestant], stdout=subprocess.DEVNULL,
                               stderr=subprocess.PIPE, check=False)
        if not stamp.exists():
            said = asked.stderr.decode(errors="replace").strip().split("\n")[-1]
            raise Missing(said.removeprefix("git-status: ") or f"verify {contestant} said nothing")
    found = json.loads(stamp.read_text())
    if found["missed"]:
        raise Missing(f"{contestant} is void: it missed {found['missed']} of {found['changes']} "
                      f"changes, first {found['first']}")


def setup(contestant, files):
    need_verified(contestant)
    tree = make_tree(files, contestant)
    start(tree, contestant)
    status(tree)
    return tree


def state(contestant, which, files, cold):
    """Brings the tree up to date first, then makes the change that the next status finds."""
    tree = ROOT / str(files) / contestant
    if not tree.exists():
        raise Missing(f"there is no tree {tree}: run 'trees.py setup {files}' first")
    if watches(contestant):  # another contest may have ended it
        watch(tree)
    changed = tree / (tree.parent / "source.git" / "changed").read_text()
    added = changed.parent / "added"
    shutil.rmtree(added, ignore_errors=True)
    if changed.stat().st_size:
        os.truncate(changed, 0)
        os.utime(changed, (OLD, OLD))
    status(tree)
    if which == "changed":
        changed.write_text("changed\n")
    if which == "folder":
        added.mkdir()
        for number in range(PER_FOLDER):
            (added / f"new{number}.c").touch()
    if cold:
        os.sync()
        try:
            Path("/proc/sys/vm/drop_caches").write_text("3\n")
        except OSError as error:
            raise Missing("only root may drop the page cache, so nothing is measured cold "
                          f"(/proc/sys/vm/drop_caches: {error.strerror})")


def files_of(word):
    if not word.isdecimal() or not PER_FOLDER < int(word) <= 1_000_000:
        raise Usage(f"FILES is a number from 17 to 1000000, and not '{word}'")
    return int(word)


def remove():
    for contestant in CONTESTANTS:
        for tree in ROOT.glob(f"*/{contestant}/"):
            stop(tree, contestant)
    end_watchman()
    shutil.rmtree(ROOT, ignore_errors=True)


def contestant_of():
    contestant = os.environ.get("TIEBREAK_CONTESTANT", "")
    if contestant not in CONTESTANTS:
        raise Missing(f"TIEBREAK_CONTESTANT is '{contestant}': it must be one of "
                      f"{', '.join(CONTESTANTS)}")
    return contestant


def main(words):
    match words:
        case ["remove"]:
            remove()
        case ["setup", files]:
            setup(contestant_of(), files_of(files))
        case ["state", which, files, *rest] if which in STATES and rest in ([], ["cold"]):
            state(contestant_of(), which, files_of(files), bool(rest))
        case ["cleanup", files]:
            contestant = contestant_of()
            stop(ROOT / str(files_of(files)) / contestant, contestant)
        case _:
            raise Usage("trees.py setup FILES | state clean|changed|folder FILES [cold] | "
                        "cleanup FILES | remove")


def run(function, *words):
    """Runs a program of this study; what is missing becomes a sentence and status 2."""
    try:
        function(*words)
    except Missing as missing:
        sys.exit(print(f"git-status: {missing}", file=sys.stderr) or 2)
    except subprocess.SubprocessError as error:
        sys.exit(print(f"git-status: {error}", file=sys.stderr) or 2)
    except Usage as usage:
        sys.exit(print(f"usage: {usage}", file=sys.stderr) or 64)
    except OSError as error:
        is_tool = error.filename in ("git", "watchman", "cc")
        why = ("is not installed: 'scripts/setup.sh studies' installs it" if is_tool
               else error.strerror)
        where = f"{error.filename}: " if error.filename else ""
        sys.exit(print(f"git-status: {where}{why}", file=sys.stderr) or 2)


if __name__ == "__main__":
    run(main, sys.argv[1:])
