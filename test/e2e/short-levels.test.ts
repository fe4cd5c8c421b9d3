import assert from "node:assert/strict";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, test } from "node:test";
import { COLD } from "../../src/runtime/cold-start.ts";
import { makeFolder } from "../make-folder.ts";
import { LIMIT } from "../time-limit.ts";
import { runRampart } from "./command.ts";

/**
 * Levels of 1 s of the embedded target show no compilation: they neither start slowly nor become faster all the time. Each is a process of its
 * own. Without a warm-up every one does; other work on the machine makes some do, so one level of five decides. What code costs before it is
 * compiled is measured in `test/mock/warm-up.test.ts`, whatever else the machine does.
 */

const MOST_LEVELS = 5;
const COMPILATION = /slow\s+start|drift\s+of\s+-/;

const folder = makeFolder();

describe("a level of 1 s shows no compilation:", LIMIT, () => {
  for (const protocol of ["http", "grpc"])
    for (const concurrency of [1, 16])
      test(`${protocol}, concurrency ${concurrency}`, async () => {
        const path = join(folder, `${protocol}-${concurrency}.json`);
        const load = { hold: { concurrency, for: "1 s" } };
        writeFileSync(path, JSON.stringify({ name: "short", target: { embedded: { protocol } }, load }));
        const lines: string[] = [];
        while (lines.every((line) => COMPILATION.test(line))) {
          const { code, stdout, stderr } = await runRampart(["run", path, "-v", "--no-live"], { env: { [COLD]: "0" } });
          assert.equal(code, 0, `${stdout}${stderr}`);
          lines.push(stdout);
          assert.ok(lines.length < MOST_LEVELS || !COMPILATION.test(stdout), lines.join("\n"));
        }
      });
});
