"""Serves WebSocket by aiohttp: aiohttp_server.py PORT."""

import sys

from aiohttp import web

from rooms import Room

room = Room()


async def serve(request):
    socket = web.WebSocketResponse()
    await socket.prepare(request)
    room.connections.add(socket)
    try:
        async for message in socket:
            text = message.data
            await room.pass_on(
                socket, request.match_info["shape"], lambda other: other.send_str(text)
            )
    finally:
        room.connections.discard(socket)
    return socket


app = web.Application()
app.add_routes([web.get("/{shape}", serve)])
web.run_app(app, host="127.0.0.1", port=int(sys.argv[1]), print=None, access_log=None)
