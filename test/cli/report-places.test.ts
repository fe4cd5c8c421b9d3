import assert from "node:assert/strict";
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { describe, test } from "node:test";
import { LOOPBACK, startMock } from "../../src/mock/server.ts";
import { DEFAULT_MOCK } from "../../src/plan/mock.ts";
import type { MetricsJson } from "../../src/report/schema/metrics.ts";
import { spreadIn, valueIn } from "../report/json-metrics.ts";
import { readCsv } from "../report/read-csv.ts";
import { TINY } from "../tokenize/tiny.ts";
import { createFolder, runRampart } from "./rampart-process.ts";

/** Where reports go, and what they look like there. */

const SCENARIO = `import { defineScenario, embedded, errorRate, hold, throughput } from "rampart";
export default defineScenario({
  name: "places",
  target: embedded(),
  load: hold(2, { requests: 20 }),
  assert: [errorRate().is(0), throughput().above(1e9)],
});
`;
const LLM = `import { defineScenario, embeddedLlm, hold, input } from "rampart";
export default defineScenario({
  name: "tokens",
  target: embeddedLlm({ streaming: true, timeToFirstToken: "2 ms", interTokenLatency: "1 ms", tokenizer: ${JSON.stringify(TINY)} }),
  load: hold(2, { requests: 10 }),
  inputs: input.prompts({ isl: 8, osl: 5 }),
});
`;

describe("reports of a scenario", () => {
  test("--json - writes the JSON alone to standard output, and the text to standard error", async () => {
    using folder = createFolder({ "x.ts": SCENARIO });
    const { code, out, err } = await runRampart(["run", "x.ts", "--json", "-"], { cwd: folder.path });
    assert.equal(code, 65, err);
    const report = JSON.parse(out) as { requests: { completed: number } };
    assert.equal(report.requests.completed, 20);
    assert.match(err, /^FAILED {2}places: simple, /m);
    assert.match(err, /^ {2}FAIL +throughput/m);
  });

  test("--csv - writes the tables alone to standard output", async () => {
    using folder = createFolder({ "x.ts": SCENARIO });
    const { code, out, err } = await runRampart(["run", "x.ts", "--csv", "-"], { cwd: folder.path });
    assert.equal(code, 65, err);
    assert.doesNotMatch(out, /FAILED|places/);
    assert.match(out, /^[^\n]*,[^\n]*\n/);
    assert.match(err, /^FAILED {2}places: simple, /m);
  });

  test("genai-perf's --markdown - is alone on standard output, and its table on standard error", async () => {
    await using mock = await startMock(DEFAULT_MOCK, LOOPBACK);
    using folder = createFolder({});
    const target = ["-m", "tiny", "-u", `127.0.0.1:${mock.httpPort}`, "--endpoint-type", "chat"];
    const rest = ["--osl", "2", "--request-count", "2", "--tokenizer", TINY, "--markdown", "-"];
    const { code, out, err } = await runRampart(["genai-perf", "profile", ...target, ...rest], { cwd: folder.path });
    assert.equal(code, 0, err);
    assert.match(out, /^## Measured: tiny\n/);
    assert.doesNotMatch(out, /NVIDIA GenAI-Perf/);
    assert.match(err, /NVIDIA GenAI-Perf \| LLM Metrics/);
  });

  test("pass and FAIL have colours where they are asked for, and none otherwise", async () => {
    using folder = createFolder({ "x.ts": SCENARIO });
    const plain = await runRampart(["run", "x.ts"], { cwd: folder.path, env: { NO_COLOR: "1", FORCE_COLOR: "1" } });
    assert.match(plain.out, /^ {2}pass +error rate/m);
    const coloured = await runRampart(["run", "x.ts"], { cwd: folder.path, env: { NO_COLOR: "", FORCE_COLOR: "1" } });
    assert.match(coloured.out, /^ {2}\u001b\[32mpass\u001b\[0m +error rate/m);
    assert.match(coloured.out, /^ {2}\u001b\[31mFAIL\u001b\[0m +throughput/m);
  });

  test("the CSV has the tokens that the JSON has", async () => {
    using folder = createFolder({ "x.ts": LLM });
    const { code, out, err } = await runRampart(["run", "x.ts", "--csv", "x.csv", "--json", "x.json"], {
      cwd: folder.path,
    });
    assert.equal(code, 0, out + err);
    const [[row = {}] = []] = readCsv(await readFile(join(folder.path, "x.csv"), "utf8"));
    const { levels } = JSON.parse(await readFile(join(folder.path, "x.json"), "utf8")) as {
      levels: [{ metrics: MetricsJson }];
    };
    const ttft = spreadIn(levels[0], "timeToFirstTokenUs");
    const near = (cell: string, expected = 0): void =>
      assert.ok(Math.abs(Number(row[cell]) - expected) <= 1e-9 * expected && expected > 0, JSON.stringify(row));
    near("outputTokensPerSec (per s)", valueIn(levels[0], "outputTokensPerSec"));
    for (const statistic of ["p50", "p99"] as const) near(`timeToFirstToken.${statistic} (us)`, ttft?.[statistic]);
  });
});
