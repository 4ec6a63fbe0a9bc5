"""Whom a message goes to: what the servers in Python have in common."""


class Room:
    """All connections of a server."""

    def __init__(self):
        self.connections = set()

    async def pass_on(self, sender, shape, send):
        """Calls `send` for each connection that the sender's message goes to."""
        if shape == "ping-pong":
            await send(sender)
            return
        for connection in list(self.connections):
            if connection is not sender or shape == "broadcast":
                await send(connection)
