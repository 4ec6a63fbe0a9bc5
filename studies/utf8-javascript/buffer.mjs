// What Node and Bun have for it.
import { isUtf8 } from "node:buffer";
import { race } from "./race.mjs";

race(isUtf8);
