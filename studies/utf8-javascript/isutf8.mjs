// The package isutf8.
import { load } from "./package.mjs";
import { race } from "./race.mjs";

race(load("isutf8"));
