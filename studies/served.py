"""Servers for the `measure` of a study: each on a free port, in a folder of its own, for as long as
a block runs."""

import contextlib
import os
import signal
import socket
import subprocess
import tempfile
import time

READY_S, STOP_S = 30, 5


class Missing(Exception):
    """Why a server did not start: its own words, or ours."""


def free_port():
    with socket.create_server(("127.0.0.1", 0)) as taken:
        return taken.getsockname()[1]


@contextlib.contextmanager
def served(*command):
    """Starts a server, whose words have {port} and {dir}; gives its process and its port."""
    port = free_port()
    with tempfile.TemporaryDirectory() as folder:
        words = [word.format(port=port, dir=folder) for word in command]
        log = open(os.path.join(folder, "said"), "w+", encoding="utf-8", errors="replace")
        process = subprocess.Popen(words, stdout=log, stderr=log, start_new_session=True)
        try:
            wait_until_ready(process, port, log)
            yield process, port
        finally:
            stop(process)
            log.close()


def wait_until_ready(process, port, log):
    limit = time.monotonic() + READY_S
    while time.monotonic() < limit:
        with contextlib.suppress(OSError):
            socket.create_connection(("127.0.0.1", port)).close()
            return
        if process.poll() is not None:
            log.seek(0)
            said = log.read().strip().splitlines()[-1:]
            raise Missing(said[0] if said else f"it ended with status {process.returncode}")
        time.sleep(0.02)
    raise Missing(f"it took no connection within {READY_S} s")


def stop(process):
    """Ends a server and all that it started."""
    with contextlib.suppress(ProcessLookupError):
        process.terminate()
        with contextlib.suppress(subprocess.TimeoutExpired):
            process.wait(STOP_S)
        os.killpg(process.pid, signal.SIGKILL)
    process.wait()


def cpu_s(process):
    """Returns the CPU time that a server and what it started have used so far."""
    ticks = 0
    for entry in os.scandir("/proc"):
        if not entry.name.isdecimal():
            continue
        with contextlib.suppress(OSError), open(f"/proc/{entry.name}/stat", "rb") as file:
            fields = file.read().rpartition(b")")[2].split()
            if int(fields[3]) == process.pid:  # its session is that of the server
                ticks += int(fields[11]) + int(fields[12])
    return ticks / os.sysconf("SC_CLK_TCK")
