#!/usr/bin/python3 -B
"""Fetches pages over a link, each over a connection of its own.

    fetch.py MS SERVER SIZE...    SIZE is that of the whole answer, headers too; 0 only connects
"""

import socket
import struct
import sys
import time

import link

PORTS = {"python": 8001, "python-apart": 8002, "nginx": 8003, "h2": 8004, "h2-read": 8005}

WINDOW = 1 << 30  # HTTP/2 has windows of its own, which shall not matter here.
SETTINGS, HEADERS, WINDOW_UPDATE = 4, 1, 8
END_STREAM, END_HEADERS = 1, 4
DATE_BYTES = 3  # Eight digits of a date change, before and after a page was fitted.


def frame(kind, flags, stream, payload):
    head = len(payload).to_bytes(3, "big") + bytes([kind, flags]) + stream.to_bytes(4, "big")
    return head + payload


def http1(connection, size):
    """Asks for a page by HTTP/1.1, and returns how many bytes came."""
    request = f"GET /{size} HTTP/1.1\r\nHost: link\r\nConnection: close\r\n\r\n"
    connection.sendall(request.encode())
    page = b""
    while b"\r\n\r\n" not in page:
        page += receive(connection, 1 << 16)
    head, _, body = page.partition(b"\r\n\r\n")
    length = int(head.lower().partition(b"content-length:")[2].split()[0])
    missing = length - len(body)
    while missing > 0:
        missing -= len(receive(connection, 1 << 16))
    return len(head) + 4 + length - missing


def http2(connection, size):
    """Asks for a page by HTTP/2 as a client does that knows the server, and returns the same."""
    path = f"/{size}".encode()
    fields = b"\x82\x86\x41\x04link\x44" + bytes([len(path)]) + path  # GET, http, host, path
    connection.sendall(
        b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n"
        + frame(SETTINGS, 0, 0, struct.pack(">HI", 4, WINDOW))
        + frame(WINDOW_UPDATE, 0, 0, WINDOW.to_bytes(4, "big"))
        + frame(HEADERS, END_STREAM | END_HEADERS, 1, fields)
    )
    came = 0
    with connection.makefile("rb") as frames:
        while True:
            head = frames.read(9)
            payload = frames.read(int.from_bytes(head[:3], "big"))
            came += len(head) + len(payload)
            if len(head) < 9:
                raise ConnectionError("the connection ended within a page")
            if head[8] == 1 and head[4] & END_STREAM:
                return came


def receive(connection, most):
    data = connection.recv(most)
    if not data:
        raise ConnectionError("the connection ended within a page")
    return data


def fetch(server, size, client=None):
    """Fetches a page on a fresh connection; returns seconds, from connecting on, and bytes."""
    came = 0
    source = (client, 0) if client else None
    began = time.monotonic()
    with socket.create_connection((link.SERVER, PORTS[server]), 30, source) as connection:
        if size:
            came = (http2 if server.startswith("h2") else http1)(connection, size)
        return time.monotonic() - began, came


def is_size(server, came, size):
    """Whether that is the size. HTTP/2 packs the date, whose digits take five bits or six."""
    return abs(came - size) <= (DATE_BYTES if server.startswith("h2") else 0)


def main(ms, server, *sizes):
    link.join(int(ms))
    for size in map(int, sizes):
        came = fetch(server, size)[1]
        if not is_size(server, came, size):
            sys.exit(f"fetch: {came} bytes came, not {size}")


if __name__ == "__main__":
    if len(sys.argv) < 4 or sys.argv[2] not in PORTS:
        sys.exit(f"{__doc__}\nservers: {', '.join(PORTS)}")
    try:
        main(*sys.argv[1:])
    except ConnectionRefusedError:
        sys.exit(f"fetch: no server '{sys.argv[2]}' is up: scripts/setup.sh studies")
    except ValueError:
        sys.exit("fetch: MS and SIZE are whole numbers")
    except OSError as error:
        sys.exit(f"fetch: {error}")
    except link.Refused as refusal:
        print(f"fetch: {refusal}", file=sys.stderr)
        sys.exit(2)
