import assert from "node:assert/strict";
import { join } from "node:path";
import { after, describe, test } from "node:test";
import { parseOptions } from "../../../src/cli/perf-analyzer/options/table.ts";
import { readSettings } from "../../../src/cli/perf-analyzer/settings.ts";
import { toFlags } from "../../../src/cli/perf-analyzer/to-flags.ts";
import { toPlan } from "../../../src/cli/perf-analyzer/to-plan.ts";
import { LOOPBACK, startMock } from "../../../src/mock/server.ts";
import type { MockMethod } from "../../../src/mock/services/service.ts";
import { tfServingService } from "../../../src/mock/services/tfserving.ts";
import type { MockPlan } from "../../../src/plan/mock.ts";
import type { Plan } from "../../../src/plan/plan.ts";
import {
  decodeMessage,
  encodeMessage,
  type MessageSpec,
  type ProtoObject,
} from "../../../src/service/protobuf/message.ts";
import * as messages from "../../../src/service/tfserving/messages.ts";
import { DEFAULT_TF_SERVING_TARGET } from "../../../src/service/tfserving/target.ts";
import { readProfile, runCommand } from "../../cli/perf-analyzer/run-command.ts";
import { makeFolder } from "../../make-folder.ts";

/** `--service-kind tfserving`: what the flags mean, and what is refused, against `rampart mock --tfserving`. */

const MOCK: MockPlan = { latency: { kind: "constant", ms: 0 }, errorRatio: 0, responseBytes: 40 };
const mock = await startMock(MOCK, LOOPBACK, [await tfServingService.create(MOCK, "")]);
const failing = await startMock({ ...MOCK, errorRatio: 1 }, LOOPBACK, [
  await tfServingService.create({ ...MOCK, errorRatio: 1 }, ""),
]);
after(() => Promise.all([mock.stop(), failing.stop()]));

const KIND = ["-m", "simple", "--service-kind", "tfserving"];
const GRPC = [...KIND, "-i", "grpc"];
const GIVEN = [...GRPC, "-u", `127.0.0.1:${mock.grpcPort}`];
const SHAPES = ["--shape", "INPUT0:1,16", "--shape", "INPUT1:1,16"];

function planOf(args: readonly string[]): { plan: Plan; warnings: readonly string[] } {
  const { settings, problems } = readSettings(parseOptions(args));
  const built = toPlan(settings);
  assert.deepEqual([...problems, ...built.problems], []);
  return built;
}

describe("the mock's model", () => {
  test("is measured with whole shapes, and its values are exported", async () => {
    const folder = makeFolder();
    const file = join(folder, "export.json");
    const flags = [...SHAPES, "--input-data", "zero", "--request-count", "3", "--profile-export-file", file];
    const { code, out, err } = await runCommand([...GIVEN, ...flags]);
    assert.equal(code, 0, err);
    assert.match(out, /^ {2}Service Kind: TENSORFLOW_SERVING$/m);
    assert.doesNotMatch(out, /Batch size/);
    const [request] = (await readProfile(file)).experiments[0]?.requests ?? [];
    assert.deepEqual(Object.keys(request?.response_outputs[0] ?? {}), ["OUTPUT0", "OUTPUT1", "PADDING"]);
  });

  test("is measured in batches without shapes", async () => {
    const { code, out, err } = await runCommand([...GIVEN, "-b", "3", "--request-count", "3"]);
    assert.equal(code, 0, err);
    assert.match(out, /^ {2}Batch size: 3$/m);
  });

  for (const [what, flags, reason] of [
    [
      "a version",
      ["-x", "2"],
      /Servable not found for request: Specific\(simple, 2\)[\s\S]*has the versions 1: give one in -x/,
    ],
    ["a label", ["-x", "new"], /Unrecognized servable version label: new[\s\S]*not a number is a label/],
    ["a signature", ["--model-signature-name", "other"], /"other"[\s\S]*the signatures serving_default/],
  ] as const)
    test(`refuses ${what} that it does not have`, async () => {
      const { code, err } = await runCommand([...GIVEN, ...SHAPES, ...flags]);
      assert.equal(code, 99);
      assert.match(err, reason);
    });

  test("refuses tensors of another shape with the server's words", async () => {
    const flags = ["--shape", "INPUT0:16", "--shape", "INPUT1:16", "--request-count", "2"];
    const { code, err } = await runCommand([...GIVEN, ...flags]);
    assert.equal(code, 99);
    assert.match(err, /Thread \[0\] had error: Input INPUT0: expected shape \[-1, 16\], got \[16\]/);
  });

  test("fails by the planned ratio", async () => {
    const url = `127.0.0.1:${failing.grpcPort}`;
    const { code, err } = await runCommand([...GRPC, "-u", url, "-b", "2", "--request-count", "2"]);
    assert.equal(code, 99);
    assert.match(err, /Thread \[0\] had error: planned failure/);
  });
});

/** What a model with the signature `s` is asked. */
const asked: ProtoObject[] = [];
const FLOATS = { key: "x", value: { dtype: "DT_FLOAT", tensor_shape: { dim: [{ size: 2 }] } } };
const SIGNATURE = { key: "s", value: { inputs: [FLOATS], outputs: [{ ...FLOATS, key: "y" }] } };
const METADATA = { metadata: [{ key: "signature_def", value: { value: { signature_def: [SIGNATURE] } } }] };
const RESPONSE = { outputs: [{ key: "y", value: { ...FLOATS.value, float_val: [1, 2] } }] };

function recording(request: MessageSpec, spec: MessageSpec, answer: ProtoObject): MockMethod {
  return async function* (received) {
    for await (const message of received) {
      asked.push(decodeMessage(request, message));
      yield encodeMessage(spec, answer);
    }
  };
}

const SERVICE = "/tensorflow.serving.PredictionService";
const recorder = await startMock(MOCK, LOOPBACK, [
  {
    describe: () => "",
    methods: {
      [`${SERVICE}/GetModelMetadata`]: recording(messages.METADATA_REQUEST, messages.METADATA_RESPONSE, METADATA),
      [`${SERVICE}/Predict`]: recording(messages.PREDICT_REQUEST, messages.PREDICT_RESPONSE, RESPONSE),
    },
  },
]);
after(() => recorder.stop());

test("--model-signature-name and -x are in the metadata's query and in every request", async () => {
  for (const [version, expected] of [
    ["7", { version: { value: 7 } }],
    ["canary", { version_label: "canary" }],
  ] as const) {
    asked.length = 0;
    const flags = ["--model-signature-name", "s", "-x", version, "--input-data", "zero", "--request-count", "2"];
    const { code, err } = await runCommand([...GRPC, "-u", `127.0.0.1:${recorder.grpcPort}`, ...flags]);
    assert.equal(code, 0, err);
    const request = {
      model_spec: { name: "simple", signature_name: "s", ...expected },
      inputs: [{ key: "x", value: { ...FLOATS.value, tensor_content: new Uint8Array(8) } }],
    };
    const query = { model_spec: { name: "simple", ...expected }, metadata_field: ["signature_def"] };
    assert.deepEqual(asked, [query, request, request]);
  }
});

describe("flags", () => {
  test("make the target, at TensorFlow Serving's port by default", () => {
    const flags = ["-x", "canary", "--model-signature-name", "s", "-b", "2", "-H", "a:b"];
    const { plan, warnings } = planOf([...GRPC, ...flags, "--shape", "x:3", "--grpc-compression-algorithm", "gzip"]);
    assert.deepEqual(plan.target, {
      ...DEFAULT_TF_SERVING_TARGET,
      url: "localhost:8500",
      model: "simple",
      modelVersion: "canary",
      signatureName: "s",
      batchSize: 2,
      headers: [["a", "b"]],
      shapes: { x: [3] },
      compression: "gzip",
    });
    assert.deepEqual(warnings, []);
    const { args, notes } = toFlags(plan);
    assert.deepEqual(notes, []);
    assert.deepEqual(planOf(args).plan.target, plan.target);
  });

  test("do not name outputs, which a note says", () => {
    const { plan } = planOf(GRPC);
    const { notes } = toFlags({ ...plan, target: { ...plan.target, outputNames: ["y"] } as Plan["target"] });
    assert.deepEqual(notes, ["only a scenario names the outputs to ask for"]);
  });

  test("that perf_analyzer takes and does nothing with have no effect, which a warning says", () => {
    const { warnings } = planOf([...GRPC, "--request-parameter", "a:1:int"]);
    assert.equal(warnings.length, 1);
    assert.match(warnings[0] ?? "", /--request-parameter has no effect/);
  });

  for (const [args, ...reasons] of [
    [[...GRPC, "-a"], "perf_analyzer does not support async API for TensorFlow Serving."],
    [[...GRPC, "--streaming"], "perf_analyzer does not support streaming for TensorFlow Serving."],
    [
      [...GRPC, "--collect-metrics", "--shared-memory", "system"],
      "Server-side metric collection is only",
      "client backend of kind TENSORFLOW_SERVING does not support CreateSharedMemoryRegion()",
    ],
  ] as const)
    test(`refuses ${args.slice(2).join(" ")}`, async () => {
      const { code, err } = await runCommand([...args]);
      assert.equal(code, 99);
      for (const reason of reasons as readonly string[]) assert.ok(err.includes(reason), err);
    });
});
