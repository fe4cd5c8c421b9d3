// Runs on: deno, node, executable.
import assert from "node:assert/strict";
import { createServer } from "node:net";
import { describe, test } from "node:test";
import { createLatency, parseLatency } from "../../src/mock/latency.ts";
import { HAS_ALL_CASES } from "../few-cases.ts";
import { inFolder, type RunningProcess, runRampart, startRampart } from "./rampart-process.ts";
import { scenarioText } from "./scenario-files.ts";

/** `rampart mock`: its flags, and what they do to the responses. */

const FREE_PORTS = ["--http-port", "0", "--grpc-port", "0"] as const;

interface Mock {
  readonly running: RunningProcess;
  readonly http: string;
  readonly grpc: string;
}

async function startMockCommand(...flags: string[]): Promise<Mock> {
  const running = startRampart(["mock", ...FREE_PORTS, ...flags]);
  const [, http = "", grpc = ""] = await running.waitFor(/listening: http (\S+:\d+), grpc (\S+:\d+), model simple/);
  return { running, http, grpc };
}

async function withMock(flags: readonly string[], use: (mock: Mock) => Promise<void>): Promise<void> {
  const mock = await startMockCommand(...flags);
  try {
    await use(mock);
  } finally {
    mock.running.interrupt();
    await mock.running.result;
  }
}

interface InferAnswer {
  readonly outputs: readonly { readonly name: string; readonly data: readonly number[] }[];
}

function infer(http: string): Promise<Response> {
  const data = Array.from({ length: 16 }, (_, index) => index);
  const tensor = { datatype: "INT32", shape: [1, 16], data };
  const inputs = ["INPUT0", "INPUT1"].map((name) => ({ name, ...tensor }));
  return fetch(`http://${http}/v2/models/simple/infer`, { method: "POST", body: JSON.stringify({ inputs }) });
}

describe("rampart mock", () => {
  test("serves the model over both protocols until Ctrl-C, and exits with 0", async () => {
    const { running, http, grpc } = await startMockCommand();
    const ready = await fetch(`http://${http}/v2/health/ready`);
    assert.equal(ready.status, 200);
    const answer = await infer(http);
    assert.equal(answer.status, 200);
    const { outputs } = (await answer.json()) as InferAnswer;
    assert.deepEqual(
      outputs.map(({ name, data }) => [name, data[3]]),
      [
        ["OUTPUT0", 6],
        ["OUTPUT1", 0],
      ],
    );
    const text = scenarioText({ target: `triton("${grpc}", { protocol: "grpc", model: "simple", streaming: true })` });
    await inFolder({ "x.ts": text }, async (cwd) => {
      const { code, out, err } = await runRampart(["run", "x.ts"], { cwd });
      assert.equal(code, 0, out + err);
      assert.match(out, / 10 requests$/m);
    });
    running.interrupt();
    const { code, err } = await running.result;
    assert.deepEqual([code, err], [0, ""]);
  });

  test("--latency delays each response", async () => {
    await withMock(["--latency", "constant:30ms"], async ({ http }) => {
      const startMs = performance.now();
      for (let index = 0; index < 3; index++) await (await infer(http)).arrayBuffer();
      assert.ok(performance.now() - startMs > 85);
    });
  });

  test("refuses a port that is taken", async () => {
    const taken = createServer();
    await new Promise<void>((resolve) => taken.listen(0, "127.0.0.1", resolve));
    try {
      const { port } = taken.address() as { port: number };
      const { code, err } = await runRampart(["mock", "--http-port", "0", "--grpc-port", String(port)]);
      assert.equal(code, 64, err);
      assert.match(err, new RegExp(`--grpc-port: cannot listen on 127\\.0\\.0\\.1:${port}`));
    } finally {
      taken.close();
    }
  });
});

// No runtime changes these.
if (HAS_ALL_CASES)
  describe("the flags of rampart mock", () => {
    test("--error-rate answers that share with errors, and counts them", async () => {
      await withMock(["--error-rate", "30%"], async ({ http }) => {
        let failed = 0;
        for (let index = 0; index < 300; index++) {
          const answer = await infer(http);
          if (answer.status !== 200) failed++;
          await answer.arrayBuffer();
        }
        // 90 are expected with a deviation of 8.
        assert.ok(failed > 50 && failed < 130, `${failed} of 300 failed`);
        const stats = (await (await fetch(`http://${http}/v2/models/simple/stats`)).json()) as {
          model_stats: { inference_stats: { success: { count: number }; fail: { count: number } } }[];
        };
        const { success, fail } = stats.model_stats[0]?.inference_stats ?? {};
        assert.deepEqual([success?.count, fail?.count], [300 - failed, failed]);
      });
    });

    test("--error-rate 100% fails every request", async () => {
      await withMock(["--error-rate=100%"], async ({ http }) => {
        const answer = await infer(http);
        assert.equal(answer.status, 400);
        assert.equal(typeof ((await answer.json()) as { error: unknown }).error, "string");
      });
    });

    test("--response-bytes adds this number of bytes to a response", async () => {
      await withMock(["--response-bytes", "1000"], async ({ http }) => {
        const { outputs } = (await (await infer(http)).json()) as InferAnswer;
        assert.deepEqual(
          outputs.map(({ data }) => data.length),
          [16, 16, 1000],
        );
      });
    });

    test("the flags of the language model shape its responses", async () => {
      const flags = ["--ttft", "30ms", "--itl", "20ms", "--osl", "4", "--tokens-per-event", "2"];
      await withMock([...flags, "--reasoning-tokens", "2", "--cut-rate", "100%"], async ({ http }) => {
        const chat = (stream: boolean): Promise<Response> =>
          fetch(`http://${http}/v1/chat/completions`, { method: "POST", body: JSON.stringify({ stream }) });
        const startMs = performance.now();
        const { choices } = (await (await chat(false)).json()) as {
          choices: { message: { content: string; reasoning_content: string } }[];
        };
        assert.ok(performance.now() - startMs >= 90);
        assert.equal(choices[0]?.message.content, " the the");
        assert.equal(choices[0]?.message.reasoning_content, " the the");
        await assert.rejects((await chat(true)).text());
      });
    });

    test("reports all problems with its flags together", async () => {
      const wrong = {
        "--http-port": "65536",
        "--grpc-port": "x",
        "--latency": "5",
        "--error-rate": "200%",
        "--ttft": "soon",
        "--itl": "uniform:1ms:2ms",
        "--osl": "0",
        "--response-bytes": "0.5",
      };
      const { code, out, err } = await runRampart(["mock", ...Object.entries(wrong).flat()]);
      assert.equal(code, 64);
      assert.equal(out, "");
      for (const flag of Object.keys(wrong)) assert.match(err, new RegExp(`^rampart: ${flag}: .*\\(got `, "m"));
    });

    test("reports every unknown flag", async () => {
      const { code, err } = await runRampart(["mock", "--port", "8000", "surplus", "-x", "4", "--latency"]);
      assert.equal(code, 64);
      for (const path of ["--port", "surplus", "-x", "--latency"])
        assert.match(err, new RegExp(`^rampart: ${path}: `, "m"));
    });

    test("names the flag of a .proto file that is not there", async () => {
      const { code, err } = await runRampart(["mock", "--proto", "none.proto", "--grpc-port", "0", "--http-port", "0"]);
      assert.equal(code, 64);
      assert.match(err, /^rampart: --proto: .*\(got none\.proto\)/m);
    });

    test("counts with a tokenizer, and names the flag of one that is not there", async () => {
      await withMock(["--tokenizer", "gpt2", "--osl", "3"], async ({ http }) => {
        const body = JSON.stringify({ prompt: "tokenization" });
        const answer = await fetch(`http://${http}/v1/completions`, { method: "POST", body });
        const { choices, usage } = (await answer.json()) as { choices: { text: string }[]; usage: object };
        assert.equal(choices[0]?.text, " the the the");
        // GPT-2 has the tokens `token` and `ization`.
        assert.deepEqual(usage, { prompt_tokens: 2, completion_tokens: 3, total_tokens: 5, tokenizer: "gpt2" });
      });
      const { code, err } = await runRampart(["mock", ...FREE_PORTS, "--tokenizer", "./none"]);
      assert.equal(code, 64);
      assert.match(err, /^rampart: --tokenizer: was not found/m);
    });

    test("--help lists its flags and their defaults", async () => {
      const { code, out } = await runRampart(["mock", "--help-all"]);
      assert.equal(code, 0);
      for (const flag of ["host", "http-port", "grpc-port", "latency", "error-rate", "response-bytes"])
        assert.match(out, new RegExp(`--${flag} [A-Z]+[^-]+Default: `));
    });
  });

describe("a latency", () => {
  const written: readonly (readonly [string, unknown])[] = [
    ["5ms", { kind: "constant", ms: 5 }],
    [" 250 us ", { kind: "constant", ms: 0.25 }],
    ["constant:1s", { kind: "constant", ms: 1000 }],
    ["uniform:1ms:9ms", { kind: "uniform", minMs: 1, maxMs: 9 }],
    ["normal:5ms:1 ms", { kind: "normal", meanMs: 5, deviationMs: 1 }],
    ["exponential:10min", { kind: "exponential", meanMs: 600_000 }],
    ...[
      "",
      "5",
      "ms",
      "-5ms",
      "uniform",
      "uniform:1ms",
      "uniform:1ms:2ms:3ms",
      "normal:5ms",
      "exponential:",
      "gauss:1ms",
      "11min",
    ].map((text) => [text, undefined] as const),
  ];
  for (const [text, expected] of written) {
    test(`is read from '${text}'`, () => {
      assert.deepEqual(parseLatency(text), expected);
    });
  }

  const COUNT = 4000;
  const drawn: readonly (readonly [text: string, mean: number, deviation: number])[] = [
    ["5ms", 5, 0],
    ["uniform:1ms:9ms", 5, 8 / Math.sqrt(12)],
    ["normal:50ms:5ms", 50, 5],
    ["exponential:5ms", 5, 5],
  ];
  for (const [text, mean, deviation] of drawn) {
    test(`is drawn from ${text}`, () => {
      const draw = createLatency(parseLatency(text) ?? { kind: "constant", ms: -1 }, createRandomNumbers());
      const values = Array.from({ length: COUNT }, draw);
      const average = values.reduce((sum, value) => sum + value, 0) / COUNT;
      const spread = Math.sqrt(values.reduce((sum, value) => sum + (value - average) ** 2, 0) / COUNT);
      assert.ok(Math.abs(average - mean) <= mean * 0.1, `average ${average}`);
      assert.ok(Math.abs(spread - deviation) <= deviation * 0.15, `deviation ${spread}`);
      assert.ok(values.every((value) => value >= 0));
    });
  }

  test("is never below 0, and a uniform one never outside its ends", () => {
    const normal = createLatency({ kind: "normal", meanMs: 1, deviationMs: 10 }, createRandomNumbers());
    const uniform = createLatency({ kind: "uniform", minMs: 1, maxMs: 9 }, createRandomNumbers());
    for (let index = 0; index < COUNT; index++) {
      assert.ok(normal() >= 0);
      const value = uniform();
      assert.ok(value >= 1 && value <= 9);
    }
  });
});

/** Uniform numbers in [0, 1), the same in every run (a linear congruential generator). */
function createRandomNumbers(): () => number {
  let state = 12_345;
  return () => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return state / 2 ** 32;
  };
}
