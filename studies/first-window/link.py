#!/usr/bin/python3 -B
"""Makes a network of two hosts with a stated round-trip time, servers on one of them.

    link.py up MS PID            lasts as long as process PID does
    link.py run MS COMMAND...    runs a command on the host without servers

Both hosts are network namespaces. netem delays packets where the kernel has it, elsewhere a relay
between two TUN devices does. One process holds the namespaces, the devices and a file system in
memory, and none of them has a name outside of it: however it ends, nothing stays behind.
"""

import collections
import ctypes
import fcntl
import os
import select
import signal
import socket
import struct
import subprocess
import sys
import time

SERVER = "10.77.0.1"
# The server picks how a connection's congestion is controlled by the address that it comes from.
CLIENTS = {"cubic": "10.77.0.2", "bbr": "10.77.0.3"}
DEVICE = "wire"
CLONE_NEWNS, CLONE_NEWNET = 0x20000, 0x40000000
TUNSETIFF, IFF_TUN, IFF_NO_PI = 0x400454CA, 0x1, 0x1000
PR_SET_PDEATHSIG = 1

libc = ctypes.CDLL(None, use_errno=True)


class Refused(Exception):
    """What is missing, as a sentence."""


def system(name, *arguments):
    """Calls a function of the system that returns -1 and errno if it fails."""
    if getattr(libc, name)(*arguments) < 0:
        number = ctypes.get_errno()
        raise OSError(number, os.strerror(number), name)


def end_with_parent():
    """Ends this process when its parent ends."""
    system("prctl", PR_SET_PDEATHSIG, signal.SIGKILL)


def tool(*command):
    """Runs a program, which says nothing. Raises `CalledProcessError` or `FileNotFoundError`."""
    subprocess.run(command, check=True, capture_output=True)


def enter(namespace):
    """Moves this process to a network namespace."""
    system("setns", namespace, CLONE_NEWNET)


def new_namespace():
    """Moves this process to a new network namespace, and returns it."""
    system("unshare", CLONE_NEWNET)
    tool("ip", "link", "set", "lo", "up")
    # A connection shall not begin with what an earlier one has learnt.
    with open("/proc/sys/net/ipv4/tcp_no_metrics_save", "w") as setting:
        setting.write("1")
    return os.open("/proc/self/ns/net", os.O_RDONLY)


def dress(namespace, hosts):
    """Gives the device of a namespace its addresses."""
    enter(namespace)
    for host in hosts:
        tool("ip", "address", "add", host, "dev", DEVICE)
    tool("ip", "link", "set", DEVICE, "up")


def tun(namespace):
    """Returns the end of a new device whose other end is in the namespace."""
    enter(namespace)
    try:
        end = os.open("/dev/net/tun", os.O_RDWR)
        request = struct.pack("16sH22x", DEVICE.encode(), IFF_TUN | IFF_NO_PI)
        fcntl.ioctl(end, TUNSETIFF, request)
    except OSError as error:
        raise Refused(
            f"this machine gives no TUN device (/dev/net/tun: {error.strerror}), and its kernel "
            "or its tc has no netem: nothing can delay the packets"
        ) from None
    return end


def netem(client, server, delay_ms):
    """Joins two namespaces by a delayed pair of devices; false if there is no netem."""
    enter(server)
    end = f"/proc/{os.getpid()}/fd/{client}"
    tool("ip", "link", "add", DEVICE, "type", "veth", "peer", "name", DEVICE, "netns", end)
    try:
        for namespace in (client, server):
            enter(namespace)
            tool("tc", "qdisc", "add", "dev", DEVICE, "root", "netem", "delay", f"{delay_ms}ms")
        return True
    except (subprocess.CalledProcessError, FileNotFoundError):
        tool("ip", "link", "delete", DEVICE)
        return False


def hold(door, holders, answer, namespace, ends, delay_ms):
    """Lets processes in, and relays packets, until the last process that came has ended."""
    others = dict(zip(ends, reversed(ends)))
    late = collections.deque()
    while holders:
        wait = max(0, late[0][0] - time.monotonic()) if late else None
        ready, _, _ = select.select([door, *ends, *holders], [], [], wait)
        for end in ready:
            if end in others:
                packet = os.read(end, 65536)
                late.append((time.monotonic() + delay_ms / 1000, others[end], packet))
            elif end in holders:
                holders.remove(end)
                os.close(end)
            else:
                with door.accept()[0] as guest:
                    try:
                        holders.append(os.pidfd_open(int(guest.recv(32))))
                        socket.send_fds(guest, [answer.encode()], [namespace])
                    except (OSError, ValueError):
                        pass  # It has ended meanwhile, or is none of ours.
        while late and late[0][0] <= time.monotonic():
            _, end, packet = late.popleft()
            os.write(end, packet)


def make(ms, pid, ready):
    """Makes a link and holds it; calls `ready` once it is there."""
    import pages

    door = socket.socket(socket.AF_UNIX)
    door.bind(name(ms))
    door.listen()
    holders = [os.pidfd_open(pid)]
    try:
        client = new_namespace()
        system("unshare", CLONE_NEWNS)
        tool("mount", "--make-rprivate", "/")
        tool("mount", "-t", "tmpfs", "pages", pages.FOLDER)
        server = new_namespace()
    except OSError as error:
        raise Refused(f"namespaces of its own are refused ({error.strerror}): run as root") from None
    except subprocess.CalledProcessError as error:
        raise Refused(error.stderr.decode().strip()) from None
    ends, answer = [], "netem"
    if not netem(client, server, ms / 2):
        ends, answer = [tun(client), tun(server)], "a relay between two TUN devices"
    dress(client, CLIENTS.values())
    tool("ip", "route", "add", SERVER, "dev", DEVICE)
    dress(server, [SERVER])
    for control, host in CLIENTS.items():
        try:
            tool("ip", "route", "add", host, "dev", DEVICE, "congctl", control)
        except subprocess.CalledProcessError:
            pass  # This kernel has no such control, and no route leads to its client.
    pages.serve()
    ready()
    hold(door, holders, answer, client, ends, ms / 2)


def name(ms):
    return f"\0tiebreak-first-window-{ms}"


def ask(ms, pid):
    """Asks the link to last as long as a process; returns what delays, and the client's namespace."""
    with socket.socket(socket.AF_UNIX) as door:
        door.connect(name(ms))
        door.sendall(str(pid).encode())
        answer, ends, _, _ = socket.recv_fds(door, 64, 1)
        return answer.decode(), ends[0]


def up(ms, pid):
    """Makes a link in a process of its own, unless there is one."""
    try:
        return ask(ms, pid)
    except ConnectionRefusedError:
        pass
    if os.geteuid() != 0:
        raise Refused("network namespaces need root")
    hears, says = os.pipe()
    if os.fork() == 0:
        os.setsid()
        null = os.open(os.devnull, os.O_RDWR)
        for stream in range(3):
            os.dup2(null, stream)
        try:
            make(ms, pid, lambda: os.write(says, b"\n"))
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


def main(words):
    match words:
        case ["up", ms, pid]:
            print(f"link: {ms} ms, by {up(int(ms), int(pid))[0]}", file=sys.stderr)
        case ["run", ms, *command] if command:
            join(int(ms))
            os.execvp(command[0], command)
        case _:
            sys.exit(__doc__)


if __name__ == "__main__":
    try:
        main(sys.argv[1:])
    except Refused as refusal:
        print(f"link: {refusal}", file=sys.stderr)
        sys.exit(2)
