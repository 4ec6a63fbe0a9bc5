"""Passes a message to and fro between two connections of a server, by the module websockets, and
prints how often it came back a second: client.py URL SECONDS. Half a second goes by first."""

import asyncio
import sys
import time

import websockets

WARM_UP_S = 0.5


async def answer(socket):
    async for _ in socket:
        await socket.send("client 2!")


async def trips_a_second(url, seconds):
    async with websockets.connect(url) as first, websockets.connect(url) as second:
        answering = asyncio.create_task(answer(second))
        began = time.monotonic()
        trips, counted = 0, None
        while True:
            await first.send("client 1!")
            await first.recv()
            now = time.monotonic()
            trips += 1
            if counted is None and now - began >= WARM_UP_S:
                counted = trips, now
            if counted is not None and now - counted[1] >= seconds:
                answering.cancel()
                return (trips - counted[0]) / (now - counted[1])


print(asyncio.run(trips_a_second(sys.argv[1], float(sys.argv[2]))))
