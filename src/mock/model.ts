import type { MockPlan } from "../plan/mock.ts";
import { msToNs } from "../plan/units.ts";
import { nowNs } from "../runtime/clock.ts";
import { createRandom, seedOfNumber } from "../runtime/random.ts";
import { EMBEDDED_MODEL } from "../service/embedded/target.ts";
import { createLatency } from "./latency.ts";
import { waitUntil } from "./wait.ts";

const MAX_BATCH_SIZE = 8;
const ELEMENTS = 16;
const ITEM_BYTES = ELEMENTS * 4;
const VERSION = "1";
const SEED = 1;

/** An output tensor. */
export interface MockOutput {
  readonly name: string;
  readonly datatype: "INT32" | "UINT8";
  readonly shape: readonly number[];
  readonly bytes: Uint8Array;
}

/** Thrown when the model rejects an inference. */
export class MockError extends Error {
  override readonly name = "MockError";
}

/** The mock's model with its statistics: Triton's `simple`, the sum and difference of two INT32[16] tensors. */
export class MockModel {
  private readonly plan: MockPlan;
  private readonly random: () => number;
  private readonly latencyMs: () => number;
  private readonly padding: Uint8Array;
  private inferences = 0;
  private successes = 0;
  private failures = 0;
  private successNs = 0;
  private failureNs = 0;
  private lastInferenceMs = 0;

  constructor(plan: MockPlan) {
    this.plan = plan;
    this.random = createRandom(seedOfNumber(SEED, "draw", plan.seed ?? 0));
    this.latencyMs = createLatency(plan.latency, this.random);
    this.padding = new Uint8Array(plan.responseBytes).fill(0x61);
  }

  get serverMetadata(): object {
    return {
      name: "rampart-mock",
      version: "0.1.0",
      extensions: ["binary_tensor_data", "statistics", "model_configuration"],
    };
  }

  get metadata(): object {
    return {
      name: EMBEDDED_MODEL,
      versions: [VERSION],
      platform: "rampart",
      inputs: this.inputs.map(({ name, datatype, dims }) => ({ name, datatype, shape: [-1, ...dims] })),
      outputs: this.outputs.map(({ name, datatype, dims }) => ({ name, datatype, shape: [-1, ...dims] })),
    };
  }

  get config(): object {
    const toConfig = ({ name, datatype, dims }: { name: string; datatype: string; dims: number[] }): object => ({
      name,
      data_type: `TYPE_${datatype}`,
      dims,
    });
    return {
      name: EMBEDDED_MODEL,
      platform: "rampart",
      max_batch_size: MAX_BATCH_SIZE,
      input: this.inputs.map(toConfig),
      output: this.outputs.map(toConfig),
    };
  }

  get statistics(): object {
    const success = { count: this.successes, ns: this.successNs };
    const none = { count: 0, ns: 0 };
    return {
      model_stats: [
        {
          name: EMBEDDED_MODEL,
          version: VERSION,
          last_inference: this.lastInferenceMs,
          inference_count: this.inferences,
          execution_count: this.successes,
          inference_stats: {
            success,
            fail: { count: this.failures, ns: this.failureNs },
            queue: { count: this.successes, ns: 0 },
            compute_input: { count: this.successes, ns: 0 },
            compute_infer: success,
            compute_output: { count: this.successes, ns: 0 },
            cache_hit: none,
            cache_miss: none,
          },
        },
      ],
    };
  }

  get index(): object {
    return { models: [{ name: EMBEDDED_MODEL, version: VERSION, state: "READY" }] };
  }

  /** Reports whether a request names this model and, if it names a version, this version. */
  isNamed(name: string, version: string): boolean {
    return name === EMBEDDED_MODEL && (version === "" || version === VERSION);
  }

  /** Returns the outputs after the planned latency. @throws MockError for bad inputs and for the planned ratio of requests */
  async infer(inputs: ReadonlyMap<string, Uint8Array>): Promise<MockOutput[]> {
    const startedNs = nowNs();
    await waitUntil(startedNs + msToNs(this.latencyMs()));
    try {
      const outputs = this.compute(inputs);
      this.successes++;
      this.inferences += outputs[0]?.shape[0] ?? 0;
      this.successNs += Math.round(nowNs() - startedNs);
      this.lastInferenceMs = Date.now();
      return outputs;
    } catch (error) {
      this.failures++;
      this.failureNs += Math.round(nowNs() - startedNs);
      throw error;
    }
  }

  private compute(inputs: ReadonlyMap<string, Uint8Array>): MockOutput[] {
    if (this.plan.errorRatio > 0 && this.random() < this.plan.errorRatio) throw new MockError("planned failure");
    const a = inputs.get("INPUT0");
    const b = inputs.get("INPUT1");
    if (a === undefined || b === undefined)
      throw new MockError(`expected 2 inputs but got ${inputs.size} inputs for model '${EMBEDDED_MODEL}'`);
    const batch = a.length / ITEM_BYTES;
    if (a.length !== b.length || !Number.isInteger(batch) || batch < 1) {
      throw new MockError(
        `INPUT0 and INPUT1 must hold ${ITEM_BYTES} bytes per batch item, got ${a.length} and ${b.length}`,
      );
    }
    if (batch > MAX_BATCH_SIZE)
      throw new MockError(`inference request batch-size must be <= ${MAX_BATCH_SIZE} for '${EMBEDDED_MODEL}'`);
    const outputs: MockOutput[] = [
      { name: "OUTPUT0", datatype: "INT32", shape: [batch, ELEMENTS], bytes: combine(a, b, 1) },
      { name: "OUTPUT1", datatype: "INT32", shape: [batch, ELEMENTS], bytes: combine(a, b, -1) },
    ];
    if (this.padding.length > 0) {
      const bytes = new Uint8Array(this.padding.length * batch).fill(0x61);
      outputs.push({ name: "PADDING", datatype: "UINT8", shape: [batch, this.padding.length], bytes });
    }
    return outputs;
  }

  private get inputs(): { name: string; datatype: string; dims: number[] }[] {
    return ["INPUT0", "INPUT1"].map((name) => ({ name, datatype: "INT32", dims: [ELEMENTS] }));
  }

  private get outputs(): { name: string; datatype: string; dims: number[] }[] {
    const outputs = ["OUTPUT0", "OUTPUT1"].map((name) => ({ name, datatype: "INT32", dims: [ELEMENTS] }));
    if (this.padding.length > 0) outputs.push({ name: "PADDING", datatype: "UINT8", dims: [this.padding.length] });
    return outputs;
  }
}

function combine(a: Uint8Array, b: Uint8Array, sign: 1 | -1): Uint8Array {
  const result = new Uint8Array(a.length);
  const [left, right, out] = [a, b, result].map(
    (bytes) => new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength),
  ) as [DataView, DataView, DataView];
  for (let at = 0; at < a.length; at += 4)
    out.setInt32(at, (left.getInt32(at, true) + sign * right.getInt32(at, true)) | 0, true);
  return result;
}
