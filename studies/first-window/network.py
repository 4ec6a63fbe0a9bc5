"""Makes the network of a link, which lasts as long as the process that made it.

netem delays packets where the kernel has it; elsewhere a relay between two TUN devices does.
"""

import collections
import fcntl
import os
import select
import socket
import struct
import subprocess
import time

import pages
from link import CLIENTS, CLONE_NEWNET, SERVER, Refused, enter, system

DEVICE = "wire"
CLONE_NEWNS = 0x20000
TUNSETIFF, IFF_TUN, IFF_NO_PI = 0x400454CA, 0x1, 0x1000


def tool(*command):
    """Runs a program, which says nothing. Raises `CalledProcessError` or `FileNotFoundError`."""
    subprocess.run(command, check=True, capture_output=True)


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
    try:
        tool("ip", "link", "add", DEVICE, "type", "veth", "peer", "name", DEVICE, "netns", end)
        for namespace in (client, server):
            enter(namespace)
            tool("tc", "qdisc", "add", "dev", DEVICE, "root", "netem", "delay", f"{delay_ms}ms")
        return True
    except (subprocess.CalledProcessError, FileNotFoundError):
        subprocess.run(["ip", "link", "delete", DEVICE], capture_output=True)
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
                    guest.settimeout(1)
                    try:
                        holders.append(os.pidfd_open(int(guest.recv(32))))
                        socket.send_fds(guest, [answer.encode()], [namespace])
                    except (OSError, ValueError):
                        pass  # It has ended meanwhile, or is none of ours.
        while late and late[0][0] <= time.monotonic():
            _, end, packet = late.popleft()
            os.write(end, packet)


def make(name, delay_ms, pid, ready):
    """Makes a link and holds it as long as a process lasts; calls `ready` once it is there."""
    door = socket.socket(socket.AF_UNIX)
    door.bind(name)
    door.listen()
    try:
        holders = [os.pidfd_open(pid)]
        client = new_namespace()
        system("unshare", CLONE_NEWNS)
        tool("mount", "--make-rprivate", "/")
        tool("mount", "-t", "tmpfs", "pages", pages.FOLDER)
        server = new_namespace()
    except ProcessLookupError:
        raise Refused(f"there is no process {pid}") from None
    except FileNotFoundError as error:
        raise Refused(f"{error.filename} is missing: scripts/setup.sh studies") from None
    except OSError as error:
        raise Refused(f"no namespace of its own ({error.strerror}): run as root") from None
    except subprocess.CalledProcessError as error:
        raise Refused(error.stderr.decode().strip()) from None
    ends, answer = [], "netem"
    if not netem(client, server, delay_ms):
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
    hold(door, holders, answer, client, ends, delay_ms)
