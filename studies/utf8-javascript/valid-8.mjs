// The package valid-8.
import { load } from "./package.mjs";
import { race } from "./race.mjs";

race(load("valid-8"));
