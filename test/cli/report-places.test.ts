import assert from "node:assert/strict";
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { describe, test } from "node:test";
import { TOKEN_CSV_COLUMNS } from "../../src/report/perf-analyzer/token-columns-csv.ts";
import type { MetricsJson } from "../../src/report/schema/metrics.ts";
import { spreadIn, valueIn } from "../report/json-metrics.ts";
import { inFolder, ROOT, runRampart } from "./rampart-process.ts";

/** Where a scenario's reports go, and what they look like there. */

const SCENARIO = `import { defineScenario, embedded, errorRate, hold, throughput } from "rampart";
export default defineScenario({
  name: "places",
  target: embedded(),
  load: hold(2, { requests: 20 }),
  assert: [errorRate().is(0), throughput().above(1e9)],
});
`;
const LLM = `import { defineScenario, embeddedLlm, hold, prompts } from "rampart";
export default defineScenario({
  name: "tokens",
  target: embeddedLlm({ streaming: true, ttft: "2 ms", itl: "1 ms", tokenizer: ${JSON.stringify(join(ROOT, "test/tokenize/fixtures/tiny"))} }),
  load: hold(2, { requests: 10 }),
  inputs: prompts({ isl: 8, osl: 5 }),
});
`;

describe("reports of a scenario", () => {
  test("--json - writes the JSON alone to standard output, and the text to standard error", async () => {
    await inFolder({ "x.ts": SCENARIO }, async (cwd) => {
      const { code, out, err } = await runRampart(["run", "x.ts", "--json", "-"], { cwd });
      assert.equal(code, 65, err);
      const report = JSON.parse(out) as { requests: { completed: number } };
      assert.equal(report.requests.completed, 20);
      assert.match(err, /^FAILED {2}places: simple, /m);
      assert.match(err, /^ {2}FAIL +throughput/m);
    });
  });

  test("pass and FAIL have colours where they are asked for, and none otherwise", async () => {
    await inFolder({ "x.ts": SCENARIO }, async (cwd) => {
      const plain = await runRampart(["run", "x.ts"], { cwd, env: { NO_COLOR: "1", FORCE_COLOR: "1" } });
      assert.match(plain.out, /^ {2}pass +error rate/m);
      const coloured = await runRampart(["run", "x.ts"], { cwd, env: { NO_COLOR: "", FORCE_COLOR: "1" } });
      assert.match(coloured.out, /^ {2}\u001b\[32mpass\u001b\[0m +error rate/m);
      assert.match(coloured.out, /^ {2}\u001b\[31mFAIL\u001b\[0m +throughput/m);
    });
  });

  test("the CSV has the tokens that the JSON has", async () => {
    await inFolder({ "x.ts": LLM }, async (cwd) => {
      const { code, out, err } = await runRampart(["run", "x.ts", "--csv", "x.csv", "--json", "x.json"], { cwd });
      assert.equal(code, 0, out + err);
      const [header = "", row = ""] = (await readFile(join(cwd, "x.csv"), "utf8")).split("\n");
      const cells = new Map(header.split(",").map((name, index) => [name, row.split(",")[index] ?? ""]));
      for (const name of TOKEN_CSV_COLUMNS) assert.notEqual(cells.get(name), "", name);
      const { levels } = JSON.parse(await readFile(join(cwd, "x.json"), "utf8")) as {
        levels: [{ metrics: MetricsJson }];
      };
      const ttft = spreadIn(levels[0], "timeToFirstTokenUs");
      assert.equal(cells.get("Avg Output Tokens"), "5");
      assert.ok(Math.abs(Number(cells.get("Output Tokens/Second")) - valueIn(levels[0], "outputTokensPerSec")) < 0.1);
      assert.equal(Number(cells.get("p99 Time To First Token")), Math.trunc(ttft?.["p99"] ?? 0));
      assert.equal(Number(cells.get("Avg Time To First Token")), Math.trunc(ttft?.average ?? 0));
    });
  });
});
