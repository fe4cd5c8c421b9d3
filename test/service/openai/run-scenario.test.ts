import assert from "node:assert/strict";
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, test } from "node:test";
import { LOOPBACK, startMock } from "../../../src/mock/server.ts";
import { DEFAULT_MOCK } from "../../../src/plan/mock.ts";
import { createFolder, inFolder, ROOT, runRampart } from "../../cli/rampart-process.ts";
import { scenarioText } from "../../cli/scenario-files.ts";
import { TINY } from "../../tokenize/tiny.ts";

/** `rampart run` of generative models, as a process of its own. */

interface Report {
  readonly levels: readonly {
    readonly completed: number;
    readonly metrics: Readonly<Record<string, { readonly mean: number }>>;
    readonly tokens?: { readonly withContent: number };
  }[];
  readonly assertions: readonly { readonly text: string; readonly isMet: boolean }[];
}

describe("rampart run of a language model", () => {
  test("runs the example and judges its assertions", async () => {
    using folder = createFolder({});
    const flags = ["--json", "report.json"];
    const { code, out, err } = await runRampart(["run", join(ROOT, "scenarios/llm.ts"), ...flags], {
      cwd: folder.path,
    });
    assert.ok(code === 0 || code === 65 || code === 66, out + err);
    assert.match(out, /^users +req\/s +tokens\/s +TTFT p50 +TTFT p99 /m);
    assert.match(out, /^ {2}(pass|FAIL|unresolved) +p90 time to first token < 500 ms/m);
    const { levels, assertions } = JSON.parse(readFileSync(join(folder.path, "report.json"), "utf8")) as Report;
    assert.deepEqual(
      levels.map(({ completed, tokens, metrics }) => [completed, tokens?.withContent, metrics["inputTokens"]?.mean]),
      [
        [40, 40, 64],
        [40, 40, 64],
      ],
    );
    assert.equal(assertions.length, 5);
    assert.equal(
      assertions.every(({ isMet }) => isMet),
      code === 0,
      "the exit code says whether this machine kept the limits",
    );
    assert.ok(assertions.some(({ text, isMet }) => text === "error rate = 0 %" && isMet));
  });

  test("exits with 65 where an assertion of tokens is not met", async () => {
    const text = scenarioText({
      target: `embeddedLlm({ streaming: true, timeToFirstToken: "30 ms", tokenizer: ${JSON.stringify(TINY)} })`,
      inputs: "input.prompts({ isl: 5, osl: 2 })",
      assert: '[p99("timeToFirstToken").below("5 ms")]',
    });
    using folder = createFolder({ "x.ts": text });
    const { code, out, err } = await runRampart(["run", "x.ts"], { cwd: folder.path });
    assert.equal(code, 65, out + err);
    assert.match(out, /^ {2}FAIL +p99 time to first token < 5 ms/m);
  });

  test("uses the counts of the server if no tokenizer is named and the one of the model cannot be loaded", async () => {
    const mock = await startMock(DEFAULT_MOCK, LOOPBACK);
    const url = JSON.stringify(`127.0.0.1:${mock.httpPort}`);
    const text = (options: string): string =>
      scenarioText({
        target: `openai(${url}, { model: "llama", streaming: true${options} })`,
        inputs: "input.prompts({ isl: 20, osl: 4 })",
      });
    const files = { "x.ts": text(""), "named.ts": text(', tokenizer: "llama"') };
    await inFolder(files, async (cwd) => {
      const env = { HF_HUB_OFFLINE: "1", HF_HUB_CACHE: join(cwd, "hub") };
      const { code, out, err } = await runRampart(["run", "x.ts", "-v", "--json", "x.json"], { cwd, env });
      assert.equal(code, 0, out + err);
      assert.match(err, /^rampart: the tokenizer llama was not found: .*; the server counts tokens instead$/m);
      assert.match(out.replace(/\s+/g, " "), /the lengths of prompts are approximate \(o200k_base\)/);
      const { levels } = JSON.parse(readFileSync(join(cwd, "x.json"), "utf8")) as Report;
      assert.equal(levels[0]?.metrics["serverOutputTokens"]?.mean, 4);
      const named = await runRampart(["run", "named.ts"], { cwd, env });
      assert.equal(named.code, 64, named.out);
      assert.match(named.err, /target\.tokenizer: was not found: .*, an encoding \(o200k_base\), or none\./);
    });
    await mock.stop();
  });

  test("sends the payloads of a file in turn", async () => {
    const text = scenarioText({
      target: "embeddedLlm({ endpoint: 'completions' })",
      inputs: 'input.payloads("./inputs.json")',
    });
    using folder = createFolder({ "x.ts": text });
    const data = [{ payload: [{ prompt: "a", max_tokens: 3 }] }, { payload: [{ prompt: "b", max_tokens: 5 }] }];
    writeFileSync(join(folder.path, "inputs.json"), JSON.stringify({ data }));
    const flags = ["--json", "report.json", "--profile-export-file", "prof.json"];
    const { code, out, err } = await runRampart(["run", "x.ts", ...flags], { cwd: folder.path });
    assert.equal(code, 0, out + err);
    const { levels } = JSON.parse(readFileSync(join(folder.path, "report.json"), "utf8")) as Report;
    assert.equal(levels[0]?.metrics["serverOutputTokens"]?.mean, 4);
    const profile = readFileSync(join(folder.path, "prof.json"), "utf8");
    assert.match(profile, /"service_kind":"openai","endpoint":"v1\/completions"\}$/);
  });

  test("reports a missing tokenizer, and sends nothing", async () => {
    const text = scenarioText({
      target: 'openai("127.0.0.1:1", { model: "m", tokenizer: "./missing" })',
      inputs: "input.prompts()",
    });
    using folder = createFolder({ "x.ts": text });
    const { code, err } = await runRampart(["run", "x.ts"], { cwd: folder.path });
    assert.equal(code, 64, err);
    assert.match(err, /tokenizer.*missing/);
  });
});
