// Serves MQTT on 127.0.0.1 until it is told to end: node server.mjs PORT.
import { createRequire } from "node:module";
import { createServer } from "node:net";
import { pathToFileURL } from "node:url";

const installed = createRequire(new URL("../../../target/tools/aedes/", import.meta.url));
const { Aedes } = await import(pathToFileURL(installed.resolve("aedes")));

const broker = await Aedes.createBroker();
const server = createServer({ noDelay: true }, broker.handle);
server.listen(Number(process.argv[2]), "127.0.0.1");
process.on("SIGTERM", () => process.exit());
