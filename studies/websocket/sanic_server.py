"""Serves WebSocket by sanic: sanic_server.py PORT."""

import sys

from sanic import Sanic

from rooms import Room

app = Sanic("tiebreak", configure_logging=False)
room = Room()


@app.websocket("/<shape>")
async def serve(request, socket, shape):
    room.connections.add(socket)
    try:
        async for text in socket:
            await room.pass_on(socket, shape, lambda other: other.send(text))
    finally:
        room.connections.discard(socket)


if __name__ == "__main__":
    port = int(sys.argv[1])
    app.run("127.0.0.1", port, single_process=True, access_log=False, motd=False)
