#!/usr/bin/python3 -B
"""Makes a network of two hosts with a stated round-trip time, servers on one of them.

    link.py up MS PID            lasts as long as process PID does
    link.py run MS COMMAND...    runs a command on the host without servers

Both hosts are network namespaces. One process holds all there is of a link, and nothing of it has
a name outside of that process: however it ends, nothing stays behind.
"""

import ctypes
import os
import socket
import sys

SERVER = "10.77.0.1"
# The server picks how a connection's congestion is controlled by the address that it comes from.
CLIENTS = {"cubic": "10.77.0.2", "bbr": "10.77.0.3"}
CLONE_NEWNET = 0x40000000

libc = ctypes.CDLL(None, use_errno=True)


class Refused(Exception):
    """What is missing, as a sentence."""


def system(name, *arguments):
    """Calls a function of the system that returns -1 and errno if it fails."""
    if getattr(libc, name)(*arguments) < 0:
        number = ctypes.get_errno()
        raise OSError(number, os.strerror(number), name)


def enter(namespace):
    """Moves this process to a network namespace."""
    system("setns", namespace, CLONE_NEWNET)


def name(ms):
    return f"\0tiebreak-first-window-{ms}"


def ask(ms, pid):
    """Asks a link to last as long as a process; returns what delays, and the client's namespace."""
    with socket.socket(socket.AF_UNIX) as door:
        door.connect(name(ms))
        door.sendall(str(pid).encode())
        answer, ends, _, _ = socket.recv_fds(door, 64, 1)
        if not ends:
            raise Refused(f"there is no process {pid}")
        return answer.decode(), ends[0]


def up(ms, pid):
    """Makes a link in a process of its own, unless there is one."""
    if os.geteuid() != 0:
        raise Refused("network namespaces need root")
    try:
        return ask(ms, pid)
    except ConnectionRefusedError:
        pass
    hears, says = os.pipe()
    if os.fork() == 0:
        import network

        os.setsid()
        null = os.open(os.devnull, os.O_RDWR)
        for stream in range(3):
            os.dup2(null, stream)
        try:
            network.make(name(ms), ms / 2, pid, lambda: os.write(says, b"\n"))
        except BaseException as error:
            os.write(says, (str(error) or repr(error)).encode() + b"\n")
        os._exit(0)
    os.close(says)
    with os.fdopen(hears) as lines:
        wrong = lines.readline().strip()
    if wrong:
        raise Refused(wrong)
    return ask(ms, pid)


def join(ms):
    """Moves this process to the client of a link that is up."""
    try:
        enter(ask(ms, os.getpid())[1])
    except ConnectionRefusedError:
        raise Refused(f"no link of {ms} ms is up; this makes one: link.py up {ms} $$") from None
    except PermissionError:
        raise Refused("joining a network namespace needs root") from None


def number(word):
    if not word.isdecimal() or not 0 < int(word) < 2**31:
        raise ValueError(word)
    return int(word)


def main(words):
    match words:
        case ["up", ms, pid]:
            print(f"link: {ms} ms, by {up(number(ms), number(pid))[0]}", file=sys.stderr)
        case ["run", ms, *command] if command:
            join(number(ms))
            os.execvp(command[0], command)
        case _:
            sys.exit(__doc__)


if __name__ == "__main__":
    try:
        main(sys.argv[1:])
    except ValueError:
        print("link: MS and PID are whole numbers above 0", file=sys.stderr)
        sys.exit(64)
    except (Refused, OSError) as error:
        print(f"link: {error}", file=sys.stderr)
        sys.exit(2)
