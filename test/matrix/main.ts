import { commandUnderTest } from "../e2e/command.ts";
import { runMatrix } from "./run-matrix.ts";

/** `main.ts [SERVER…]` runs the matrix with `RAMPART_COMMAND`, or the rows of some servers only; see test/README.md. */

const cases = await runMatrix(commandUnderTest.join(" "), process.argv.slice(2));
const failed = cases.filter(({ failure }) => failure !== undefined);
for (const { name, failure } of failed) console.log(`FAILED ${name}\n${failure}`);
console.log(`${cases.length - failed.length} passed, ${failed.length} failed`);
process.exit(failed.length === 0 ? 0 : 1);
