// Passes a message to and fro between two connections of a server, in Node or in Bun, and prints
// how often it came back a second: client.mjs URL SECONDS. Half a second goes by first.
import { createRequire } from "node:module";

const installed = createRequire(new URL("../../target/tools/websocket/", import.meta.url));
const WebSocket = installed("ws");

const WARM_UP_MS = 500;
const url = process.argv[2];
const measuredMs = Number(process.argv[3]) * 1000;

const first = new WebSocket(url);
first.on("open", () => {
  const second = new WebSocket(url);
  second.on("open", () => {
    const began = performance.now();
    let trips = 0;
    let counted;
    second.on("message", () => second.send("client 2!"));
    first.on("message", () => {
      const now = performance.now();
      trips += 1;
      if (counted === undefined && now - began >= WARM_UP_MS) {
        counted = { trips, now };
      }
      if (counted !== undefined && now - counted.now >= measuredMs) {
        console.log(((trips - counted.trips) * 1000) / (now - counted.now));
        process.exit();
      }
      first.send("client 1!");
    });
    first.send("client 1!");
  });
});
