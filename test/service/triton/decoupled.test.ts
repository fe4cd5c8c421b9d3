import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { inPerfAnalyzer } from "../../../src/cli/perf-analyzer/setting-names.ts";
import { inScenario } from "../../../src/cli/setting-names.ts";
import { RunError, wordError } from "../../../src/plan/problem.ts";
import type { ServiceFront } from "../../../src/service/service.ts";
import { tritonKind } from "../../../src/service/triton/kind.ts";
import { DEFAULT_TRITON_TARGET } from "../../../src/service/triton/target.ts";
import { tritonInProcessKind } from "../../../src/service/triton-c-api/kind.ts";

/** A decoupled model without streaming is refused with a hint that works for its target: in process there is no `-i`. */

const METADATA = { name: "m", platform: "x", inputs: [{ name: "IN", datatype: "FP32", shape: [4] }], outputs: [] };
const CONFIG = { name: "m", model_transaction_policy: { decoupled: true } };

const { kind: _, ...common } = DEFAULT_TRITON_TARGET;
const MODEL = { ...common, model: "m", isStreaming: false } as const;
const OPEN: readonly (readonly [name: string, open: () => ServiceFront | Promise<ServiceFront>, flags: string])[] = [
  [
    "over HTTP",
    () => tritonKind.open({ ...DEFAULT_TRITON_TARGET, ...MODEL, url: "a:1", protocol: "http" }),
    "-i grpc --streaming",
  ],
  [
    "in process",
    () =>
      tritonInProcessKind.open({
        ...MODEL,
        ...{ kind: "triton-c-api", directory: "/t", modelRepository: "/m", protocol: "grpc", sharedMemory: "none" },
      } as Parameters<typeof tritonInProcessKind.open>[0]),
    "--streaming",
  ],
];

async function refusalOf(front: ServiceFront): Promise<RunError> {
  try {
    await front.setUp((_query, what) => Promise.resolve(what === "model config" ? CONFIG : METADATA));
  } catch (error) {
    assert.ok(error instanceof RunError, String(error));
    return error;
  }
  throw new assert.AssertionError({ message: "the model was accepted" });
}

describe("a decoupled model without streaming", () => {
  for (const [name, open, flags] of OPEN)
    test(name, async () => {
      const refusal = await refusalOf(await open());
      assert.match(refusal.message, /^model 'm' is decoupled/);
      assert.equal(wordError(refusal, inPerfAnalyzer).hint, `Use ${flags}.`);
    });

  test("has a hint in scenarios too", () => {
    const error = new RunError("unsupported", "x", { say: "use-setting", at: "target.isStreaming=in-process" });
    assert.equal(wordError(error, inScenario).hint, "Use streaming: true.");
  });
});
