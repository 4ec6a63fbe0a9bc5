"""Serves WebSocket by blacksheep on uvicorn: blacksheep_server.py PORT."""

import sys

import uvicorn
from blacksheep import Application, WebSocket, WebSocketDisconnectError

from rooms import Room

app = Application()
room = Room()


@app.router.ws("/{shape}")
async def serve(socket: WebSocket, shape: str):
    await socket.accept()
    room.connections.add(socket)
    try:
        while True:
            text = await socket.receive_text()
            await room.pass_on(socket, shape, lambda other: other.send_text(text))
    except WebSocketDisconnectError:
        pass
    finally:
        room.connections.discard(socket)


uvicorn.run(app, host="127.0.0.1", port=int(sys.argv[1]), log_level="error")
