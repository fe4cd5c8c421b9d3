import assert from "node:assert/strict";
import { writeFileSync } from "node:fs";
import { readdir } from "node:fs/promises";
import { join } from "node:path";
import { describe, test } from "node:test";
import { setTimeout } from "node:timers/promises";
import { neededEntries } from "../../../src/cli/genai-perf/profile/write-inputs.ts";
import type { Plan } from "../../../src/plan/plan.ts";
import { makePlan } from "../../plan/make-plan.ts";
import { LIMIT } from "../../time-limit.ts";
import { TINY } from "../../tokenize/tiny.ts";
import { createFolder, startRampart } from "../rampart-process.ts";
import { answerChat, runChat } from "./chat-server.ts";

/** What a profile makes before its first request, and what is left of it when it is cut off there. */

describe("only requests that are sent are created", () => {
  const plan = makePlan({
    inputs: { kind: "payloads", file: "inputs.json", isInOrder: true },
    load: { kind: "concurrency", levels: { kind: "list", values: [4] }, search: "linear" },
  });
  const requests = (count: number | null): Plan["measurement"] => ({
    ...plan.measurement,
    mode: { kind: "requests", count },
    warmupRequests: 0,
  });

  const windows: Plan["measurement"] = {
    ...plan.measurement,
    mode: { kind: "time-windows", windowMs: 100, stabilityPct: 10, maxTrials: 3 },
  };

  test("a number of requests needs as many entries, and its warm-up the same ones", () => {
    const cases: readonly (readonly [string, Partial<Plan>, number | undefined])[] = [
      ["requests", { measurement: requests(200) }, 200],
      ["a short warm-up", { measurement: { ...requests(200), warmupRequests: 30 } }, 200],
      ["a long warm-up", { measurement: { ...requests(20), warmupRequests: 30 } }, 30],
      ["a warm-up of a time", { measurement: { ...requests(20), warmupMs: 5 } }, undefined],
      ["all there are", { measurement: requests(null) }, undefined],
      ["windows", { measurement: windows }, undefined],
      ["strides", { measurement: requests(20), inputs: { kind: "payloads", file: "inputs.json" } }, undefined],
      ["times of the data", { measurement: requests(20), load: { kind: "fixed-schedule" } }, undefined],
      [
        "sessions of the data",
        { measurement: requests(20), load: { kind: "session-concurrency", concurrency: 2 } },
        undefined,
      ],
    ];
    for (const [name, part, count] of cases) assert.equal(neededEntries({ ...plan, ...part }), count, name);
  });

  /** Prompts to be made up, and a line that cannot be read. */
  const trace = (goodLines: number): string =>
    `${Array.from({ length: goodLines }, (_, i) => JSON.stringify({ input_length: 5 + i })).join("\n")}\nno JSON\n`;

  for (const [name, args, madeCount] of [
    ["requests", ["--request-count", "6", "--concurrency", "3"], 6],
    ["requests after a warm-up", ["--request-count", "4", "--warmup-request-count", "6"], 6],
  ] as const)
    test(`${name}: the rest of a trace is not read`, LIMIT, async () => {
      const bodies = new Set<string>();
      const { code, err, files } = await runChat(
        (folder) => {
          writeFileSync(join(folder, "trace.jsonl"), trace(6));
          return ["--input-file", `payload:${join(folder, "trace.jsonl")}`, ...args];
        },
        { answer: answerChat },
      );
      assert.equal(code, 0, err);
      const inputs = [...files].find(([path]) => path.endsWith("inputs.json"))?.[1] ?? "";
      for (const { payload } of (JSON.parse(inputs) as { data: { payload: object[] }[] }).data)
        bodies.add(JSON.stringify(payload));
      assert.equal(bodies.size, madeCount);
    });

  test("one request more reads on, and finds what cannot be read", LIMIT, async () => {
    const { code, err } = await runChat((folder) => {
      writeFileSync(join(folder, "trace.jsonl"), trace(6));
      return ["--input-file", `payload:${join(folder, "trace.jsonl")}`, "--request-count", "7"];
    });
    assert.equal(code, 1);
    assert.match(err, /trace\.jsonl, line 7: is not JSON/);
  });
});

async function filesIn(folder: string): Promise<string[]> {
  const entries = await readdir(folder, { recursive: true, withFileTypes: true }).catch(() => []);
  return entries.flatMap((entry) => (entry.isFile() ? [entry.name] : []));
}

for (const signal of ["SIGINT", "SIGTERM"] as const)
  test(`a profile that ${signal} ends while its requests are made leaves no part of them`, LIMIT, async () => {
    const line = `${JSON.stringify({ input_length: 3000 })}\n`;
    using folder = createFolder({ "trace.jsonl": line.repeat(20_000) });
    const artifacts = join(folder.path, "artifacts");
    const args = `genai-perf profile -m tiny --endpoint-type chat --input-file payload:${join(folder.path, "trace.jsonl")}`;
    const places = ["--tokenizer", TINY, "--artifact-dir", artifacts, "--url", "127.0.0.1:9"];
    const running = startRampart([...args.split(" "), ...places]);
    let isOver = false;
    void running.result.then(() => {
      isOver = true;
    });
    while (!isOver && !(await filesIn(artifacts)).some((name) => name.endsWith(".part"))) await setTimeout(5);
    const isEarly = isOver;
    running.interrupt(signal);
    await running.result;
    assert.deepEqual([isEarly, await filesIn(artifacts)], [false, []]);
  });
