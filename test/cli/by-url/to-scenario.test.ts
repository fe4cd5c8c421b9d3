import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { flagsOf } from "../../../src/cli/by-url/command.ts";
import { URL_KINDS, type UrlKind } from "../../../src/cli/by-url/kinds.ts";
import { readSettings } from "../../../src/cli/by-url/settings.ts";
import { makeScenario } from "../../../src/cli/by-url/to-scenario.ts";
import { parseFlags } from "../../../src/cli/flags.ts";
import { toPlan } from "../../../src/scenario/to-plan.ts";

/** The scenarios of `rampart llm` and `rampart triton`, by their options. */

const FOUND = {
  llm: { url: "host:8000", model: "org/llama", tokenizer: "o200k_base" },
  triton: { url: "host:8001", protocol: "grpc", model: "resnet50", shapes: "INPUT:3,224" },
} as const;

/** Returns the fields of the scenario's text, without comments. */
function textOf(name: UrlKind["name"], ...args: readonly string[]): string {
  const problems: [] = [];
  const settings = readSettings(parseFlags(flagsOf(name), ["host", ...args], 1), URL_KINDS[name], problems);
  assert.deepEqual(problems, []);
  const { scenario, text } = makeScenario(URL_KINDS[name], settings, FOUND[name]);
  // What runs is what is written.
  toPlan(scenario, "/");
  return text;
}

describe("the scenario of a command with a URL", () => {
  test("of a language model raises the users until the knee", () => {
    const text = textOf("llm");
    assert.match(text, /name: "org-llama",/);
    assert.match(text, /openai\("host:8000", \{ model: "org\/llama", streaming: true, tokenizer: "o200k_base" \}\)/);
    assert.match(text, /steps\(\[1, 2, 4, 8, 16, 32, 64, 128, 256\], \{ for: "10 s", until: "knee" \}\)/);
    assert.match(text, /inputs: input\.prompts\(\{ isl: 550, osl: 128 \}\)/);
  });

  test("of a model on Triton has its protocol and shapes", () => {
    const text = textOf("triton");
    assert.match(
      text,
      /triton\("host:8001", \{ protocol: "grpc", model: "resnet50", shapes: \{ INPUT: \[3, 224\] \} \}\)/,
    );
    assert.match(text, /\{ for: "5 s", until: "knee" \}/);
    assert.doesNotMatch(text, /inputs/);
  });

  test("has the users, the time and the number of requests that are given", () => {
    const cases = [
      [["--users", "4"], /load: hold\(4, \{ for: "5 s" \}\)/],
      [["--users", "1,4,16", "--for", "30s"], /load: steps\(\[1, 4, 16\], \{ for: "30 s" \}\)/],
      [["--users", "2:5", "--requests", "100"], /load: ramp\(2, 5, \{ requests: 100 \}\)/],
      [["--requests", "9"], /256\], \{ requests: 9, until: "knee" \}\)/],
    ] as const;
    for (const [args, load] of cases) assert.match(textOf("triton", ...args), load);
  });

  test("searches the most users who keep limits", () => {
    const cases = [
      [
        ["--slo", "p99=25ms"],
        /range: steps\(\[1, 2, 3, 4, 6, [^\]]*, 256\]\),\s+where: \[p99\("latency"\)\.atMost\("25 ms"\)\],\s+forAtMost: "15 s"/,
      ],
      [["--slo", "p99=25ms", "--users", "8"], /range: ramp\(1, 8\)/],
      [["--slo", "p99=25ms", "--users", "8:64"], /range: ramp\(8, 64\)/],
      [["--slo", "p99=25ms", "--users", "1,2,8"], /range: steps\(\[1, 2, 8\]\)/],
      [["--slo", "p99=25ms", "--for", "2min"], /forAtMost: "2 min"/],
      [["--slo", "errorRate=0.5%"], /where: \[errorRate\(\)\.atMost\("0\.5 %"\)\]/],
      [["--slo", "throughput=100"], /where: \[throughput\(\)\.atLeast\(100\)\]/],
      [["--slo", "latency.mean=1s"], /mean\("latency"\)\.atMost\("1 s"\)/],
    ] as const;
    for (const [args, load] of cases) assert.match(textOf("triton", ...args), load);
    const text = textOf("llm", "--slo", "ttft=200ms", "--slo", "itl.p90=20ms", "--slo", "outputTokensPerSecPerUser=20");
    assert.match(text, /p99\("timeToFirstToken"\)\.atMost\("200 ms"\)/);
    assert.match(text, /percentile\(90, "interTokenLatency"\)\.atMost\("20 ms"\)/);
    assert.match(text, /percentile\(1, "outputTokensPerSecPerUser"\)\.atLeast\(20\)/);
  });

  test("has the GPUs, the key and how to reach the server", () => {
    const text = textOf(
      "llm",
      "--gpus",
      "8",
      "--gpu-hour",
      "2.5",
      "--target-users",
      "1000",
      "--api-key-env",
      "KEY",
      "-k",
    );
    assert.match(text, /capacity: \{ gpus: 8, gpuHour: 2\.5, targetUsers: 1000 \}/);
    assert.match(text, /apiKeyEnv: "KEY",\s+tls: \{ verify: false \}/);
  });
});
