import assert from "node:assert/strict";
import { test } from "node:test";
import { backendOf } from "../../../src/cli/genai-perf/profile/backend-hint.ts";
import { startMock } from "../../../src/mock/server.ts";
import { inFolder, runRampart } from "../rampart-process.ts";

/** A wrong `--backend` is one problem, not one for each tensor of each entry. */

test("a model's inputs say its backend", () => {
  const cases = [
    [["max_tokens", "stop_words", "text_input"], "tensorrtllm"],
    [["exclude_input_in_output", "sampling_parameters", "stream", "text_input"], "vllm"],
    [["text_input"], undefined],
    [["INPUT0", "INPUT1"], undefined],
  ] as const;
  for (const [inputs, backend] of cases) assert.equal(backendOf(inputs), backend);
});

test("a model with other inputs is named with them", async () => {
  const plan = { latency: { kind: "constant", ms: 0 }, errorRatio: 0, responseBytes: 0 } as const;
  const mock = await startMock(plan, { host: "127.0.0.1", httpPort: 0, grpcPort: 0 });
  try {
    const args = ["-m", "simple", "--endpoint-type", "kserve", "--backend", "vllm", "--request-count", "2"];
    const input = ["--tokenizer", "none", "--input-file", "in.jsonl", "-u", `127.0.0.1:${mock.grpcPort}`];
    const { code, err } = await inFolder({ "in.jsonl": '{"text":"x"}\n{"text":"y"}\n' }, (cwd) =>
      runRampart(["genai-perf", "profile", ...args, ...input], { cwd }),
    );
    assert.match(err, /^Error: .*the model simple takes INPUT0, INPUT1, which is not what --backend vllm sends$/m);
    assert.match(err, /^ {2}Its backend is neither tensorrtllm nor vllm: measure it with rampart perf_analyzer\.$/m);
    assert.equal(err.match(/^Error: /gm)?.length, 1);
    assert.equal(code, 1);
  } finally {
    await mock.stop();
  }
});
