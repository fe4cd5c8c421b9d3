// biome-ignore-all lint/suspicious/noTemplateCurlyInString: the texts are source code of scenarios.
import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { isAlive } from "../scenario/hooks/alive.ts";
import { LIMIT } from "../time-limit.ts";
import { createFolder, startRampart } from "./rampart-process.ts";

/** Signals end a run whose scenario blocks the thread, and what it started. */

/** Code that never ends, after a line that says so. */
const BLOCK = '{ console.error("BLOCKED"); while (true) {} }';
const PASSING = {
  name: '"blocks"',
  target: "embedded()",
  load: 'hold(1, { for: "60 s" })',
  setup:
    'async ({ start }) => { const { pid } = await start("sleep 300 & sleep 300"); console.error(`STARTED ${pid}`); }',
};
const OWN_TARGET = `defineTarget({ name: "own", protocol: "http", inputs: [1], encode: () => ${BLOCK} })("127.0.0.1:1", {})`;

function scenario(fields: Readonly<Record<string, string>>): string {
  const lines = Object.entries({ ...PASSING, ...fields }).map(([name, text]) => `  ${name}: ${text},`);
  return `import { defineScenario, defineTarget, embedded, input, hold } from "rampart";
export default defineScenario({\n${lines.join("\n")}\n});\n`;
}

const BLOCKED: readonly (readonly [where: string, fields: Readonly<Record<string, string>>])[] = [
  ["check", { check: `() => ${BLOCK}` }],
  ["onRecord", { onRecord: `() => ${BLOCK}` }],
  ["generate", { inputs: `input.generate(() => ${BLOCK})` }],
  ["encode of an own target", { target: OWN_TARGET }],
  ["teardown", { load: "hold(1, { requests: 3 })", teardown: `() => ${BLOCK}` }],
];

describe("endless code", () => {
  for (const [where, fields] of BLOCKED)
    test(`in ${where}: the second signal ends the run and what it started`, LIMIT, async () => {
      using folder = createFolder({ "x.mjs": scenario(fields) });
      const running = startRampart(["run", "x.mjs"], { cwd: folder.path });
      const pid = Number((await running.waitFor(/STARTED (\d+)/))[1]);
      await running.waitFor(/BLOCKED/);
      let hasEnded = false;
      void running.result.then(() => {
        hasEnded = true;
      });
      // The first one may come before the handler has been called, so that both are one: then a third one is needed.
      for (let signals = 0; !hasEnded && signals < 20; signals++) {
        running.interrupt();
        await new Promise((resolve) => setTimeout(resolve, 250));
      }
      const { code, out, err } = await running.result;
      // A shell reports the end by SIGINT as 130.
      assert.ok(code === null || code === 130, `${code} ${out}${err}`);
      assert.equal(hasEnded, true, "only the limit of the test has ended it");
      for (let looks = 0; looks < 400 && isAlive(pid); looks++) await new Promise((resolve) => setTimeout(resolve, 25));
      assert.equal(isAlive(pid), false, "what setup started stays behind");
    });
});
