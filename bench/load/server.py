#!/usr/bin/python3
"""Serves HTTP on a free port of 127.0.0.1, of which the truth is known: `server.py stalls` stops
for 100 ms once a second, `server.py paced RATE` answers exactly so many requests a second.

Prints the port, then answers every request with two bytes until it is ended. One thread does all.

- stalls: a stop stops everything. Whoever asks at a constant rate waits longer than x in a share of
  (100 ms - x) / 1000 ms of the cases. The first stop comes half a second after the first
  connection, so a load of so many seconds meets as many whole stops.
- paced: each answer has its own time, 1 / RATE after that of the one before, and may be half a
  millisecond early. Time in which nobody asked is lost, but for the last 5 ms.
"""

import selectors
import socket
import sys
import time

STOP_S, KEPT_S, EARLY_S = 0.1, 0.005, 0.0005
# ab speaks HTTP/1.0, in which a connection is only kept if the server says so.
ANSWER = (b"HTTP/1.1 200 OK\r\nConnection: keep-alive\r\nContent-Type: text/plain\r\n"
          b"Content-Length: 2\r\n\r\nok")
END = b"\r\n\r\n"


class Stalls:
    """Stops once a second."""

    def __init__(self):
        self.next_stop = float("inf")

    def connected(self):
        self.next_stop = min(self.next_stop, time.monotonic() + 0.5)

    def wait(self):
        """Stops if it is time to; returns how long nothing else is to happen."""
        left = self.next_stop - time.monotonic()
        while left <= 0:
            time.sleep(max(0, STOP_S + left))
            self.next_stop += 1
            left = self.next_stop - time.monotonic()
        return left

    def answering(self, requests):
        pass


class Paced:
    """Answers at a rate."""

    def __init__(self, rate_per_second):
        self.step_s, self.next = 1 / rate_per_second, 0

    def connected(self):
        pass

    def wait(self):
        return 1

    def answering(self, requests):
        """Waits for the time of the last of these answers."""
        now = time.monotonic()
        self.next = max(self.next, now - KEPT_S) + requests * self.step_s
        if self.next - now > EARLY_S:
            time.sleep(self.next - now)


def answer(connection, heard, manner):
    """Answers what has arrived whole; returns whether the connection goes on."""
    try:
        piece = connection.recv(65536)
    except ConnectionError:
        return False
    if not piece:
        return False
    *requests, heard[connection] = (heard[connection] + piece).split(END)
    manner.answering(len(requests))
    connection.sendall(ANSWER * len(requests))
    return True


def serve(manner):
    listener = socket.create_server(("127.0.0.1", 0), backlog=1024)
    selector, heard = selectors.DefaultSelector(), {}
    selector.register(listener, selectors.EVENT_READ)
    print(listener.getsockname()[1], flush=True)
    while True:
        for key, _ in selector.select(min(manner.wait(), 1)):
            if key.fileobj is listener:
                connection, _ = listener.accept()
                manner.connected()
                connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
                heard[connection] = b""
                selector.register(connection, selectors.EVENT_READ)
            elif not answer(key.fileobj, heard, manner):
                selector.unregister(key.fileobj)
                del heard[key.fileobj]
                key.fileobj.close()


if __name__ == "__main__":
    serve(Paced(float(sys.argv[2])) if sys.argv[1] == "paced" else Stalls())
