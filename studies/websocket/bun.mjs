// Serves WebSocket by what Bun itself has: bun bun.mjs PORT.
const server = Bun.serve({
  hostname: "127.0.0.1",
  port: Number(process.argv[2]),
  fetch(request, server) {
    const shape = new URL(request.url).pathname;
    return server.upgrade(request, { data: { shape } }) ? undefined : new Response();
  },
  websocket: {
    open(socket) {
      socket.subscribe("all");
    },
    message(socket, message) {
      if (socket.data.shape === "/ping-pong") {
        socket.send(message);
      } else if (socket.data.shape === "/broadcast") {
        server.publish("all", message);
      } else {
        socket.publish("all", message);
      }
    },
  },
});
