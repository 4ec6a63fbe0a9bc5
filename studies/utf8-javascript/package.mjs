// The packages of npm, which scripts/setup.sh studies puts into target/tools.
import { createRequire } from "node:module";

export const load = createRequire(new URL("../../target/tools/utf8-javascript/", import.meta.url));
