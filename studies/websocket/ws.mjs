// Serves WebSocket by the module ws, in Node or in Bun, which has a ws of its own: ws.mjs PORT.
import { createRequire } from "node:module";

const installed = createRequire(new URL("../../target/tools/websocket/", import.meta.url));
const { WebSocketServer } = installed("ws");

const server = new WebSocketServer({ host: "127.0.0.1", port: Number(process.argv[2]) });
server.on("connection", (socket, request) => {
  const shape = request.url;
  socket.on("message", (data, isBinary) => {
    if (shape === "/ping-pong") {
      socket.send(data, { binary: isBinary });
      return;
    }
    for (const client of server.clients) {
      if (client !== socket || shape === "/broadcast") {
        client.send(data, { binary: isBinary });
      }
    }
  });
});
