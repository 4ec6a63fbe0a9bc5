#!/usr/bin/python3
"""Serves HTTP on a free port of 127.0.0.1, and stops for 100 ms once a second.

Prints the port, then answers every request with two bytes until it is ended. One thread does all,
so a stop stops everything: whoever asks at a constant rate waits longer than x in a share of
(100 ms - x) / 1000 ms of the cases. The first stop comes half a second after the first connection,
so a load of so many seconds meets as many whole stops.
"""

import selectors
import socket
import time

STOP_S = 0.1
# ab speaks HTTP/1.0, in which a connection is only kept if the server says so.
ANSWER = (b"HTTP/1.1 200 OK\r\nConnection: keep-alive\r\nContent-Type: text/plain\r\n"
          b"Content-Length: 2\r\n\r\nok")
END = b"\r\n\r\n"


def answer(connection, heard):
    """Answers what has arrived whole; returns whether the connection goes on."""
    try:
        piece = connection.recv(65536)
    except ConnectionError:
        return False
    if not piece:
        return False
    *requests, heard[connection] = (heard[connection] + piece).split(END)
    connection.sendall(ANSWER * len(requests))
    return True


def main():
    listener = socket.create_server(("127.0.0.1", 0), backlog=1024)
    selector, heard = selectors.DefaultSelector(), {}
    selector.register(listener, selectors.EVENT_READ)
    print(listener.getsockname()[1], flush=True)
    next_stop = float("inf")
    while True:
        left = next_stop - time.monotonic()
        if left <= 0:
            time.sleep(max(0, STOP_S + left))
            next_stop += 1
            continue
        for key, _ in selector.select(min(left, 1)):
            if key.fileobj is listener:
                connection, _ = listener.accept()
                next_stop = min(next_stop, time.monotonic() + 0.5)
                connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
                heard[connection] = b""
                selector.register(connection, selectors.EVENT_READ)
            elif not answer(key.fileobj, heard):
                selector.unregister(key.fileobj)
                del heard[key.fileobj]
                key.fileobj.close()


if __name__ == "__main__":
    main()
