import { DEFAULT_TLS } from "../plan/tls.ts";
import type { ServerTargetPlan } from "../registry/service-kinds.ts";
import type { Inputs } from "../scenario/input-data.ts";
import { files, random } from "../scenario/inputs.ts";
import { prompts } from "../scenario/prompts.ts";
import { embedded } from "../scenario/targets/embedded.ts";
import { grpc } from "../scenario/targets/grpc.ts";
import { http } from "../scenario/targets/http.ts";
import { openai } from "../scenario/targets/llm.ts";
import type { Target } from "../scenario/targets/target.ts";
import { tfserving } from "../scenario/targets/tfserving.ts";
import { torchserve } from "../scenario/targets/torchserve.ts";
import { triton } from "../scenario/targets/triton.ts";
import { tritonInProcess } from "../scenario/targets/triton-in-process.ts";
import type { ListedModel } from "../service/service.ts";
import { DEFAULT_TF_SERVING_TARGET } from "../service/tfserving/target.ts";
import { DEFAULT_PART } from "../service/torchserve/target.ts";
import { DEFAULT_TRITON_TARGET } from "../service/triton/target.ts";
import { modelsIn } from "../service/triton-c-api/find-library.ts";
import { DEFAULT_TRITON_DIRECTORY } from "../service/triton-c-api/target.ts";
import { type Answers, parseShapes, type QuestionId } from "./answers.ts";

/** Prompt lengths of a new scenario, in tokens: GenAI-Perf's default input length, and an output length. */
export const PROMPTS = { isl: 550, osl: 128 } as const;

/** A target of the wizard: everything that its questions and its scenario depend on. */
export interface WizardTarget {
  readonly label: string;
  readonly hint: string;
  /** In errors: the flag `does not go with the …`. */
  readonly name: string;
  /** The questions that this target needs. */
  readonly asks: readonly QuestionId[];
  toTarget(answers: Answers): Target;
  /** The builder's name in a scenario. Default: the kind of what it returns. */
  readonly builder?: string;
  /**
   * Returns the argument of the builder of inputs, and what it makes of it. Without `options` it has no argument. Absent: the target's own
   * options describe the requests.
   */
  readonly inputs?: {
    readonly builder: "random" | "prompts" | "files";
    readonly options?: (answers: Answers) => unknown;
    make(answers: Answers): Inputs;
  };
  /** The closest command line to the scenario. */
  readonly commandLine: "perf_analyzer" | "genai-perf" | "http";
  /** Its usual address. Default: that of a Triton server. */
  readonly usualUrl?: string;
  /** Returns the server to query for its models. Absent: no query. */
  probe?(answers: Answers): ServerTargetPlan;
  /** Returns the models without a server. Absent: a server is queried for them. */
  listModels?(answers: Answers): readonly ListedModel[];
}

/** A model of a repository, whose inputs are not known before it is loaded. */
function toListed(name: string): ListedModel {
  return { name, version: "", maxBatchSize: 0, inputs: [], outputs: [], refusal: "" };
}

export const WIZARD_TARGETS: Readonly<Record<string, WizardTarget>> = {
  embedded: {
    label: "the embedded target",
    hint: "no other process needed",
    name: "embedded target",
    asks: ["protocol"],
    toTarget: ({ protocol }) => (protocol === "grpc" ? embedded({ protocol }) : embedded({ protocol: "http" })),
    inputs: { builder: "random", make: () => random() },
    commandLine: "perf_analyzer",
  },
  triton: {
    label: "a Triton server",
    hint: "or another KServe v2 server",
    name: "Triton server",
    asks: ["protocol", "url", "model", "shapes"],
    toTarget: ({ url = "", model = "", protocol, shapes }) => {
      const options = { model, ...(shapes === undefined ? {} : { shapes: parseShapes(shapes) }) };
      return protocol === "grpc"
        ? triton(url, { protocol, ...options })
        : triton(url, { protocol: "http", ...options });
    },
    inputs: { builder: "random", make: () => random() },
    commandLine: "perf_analyzer",
    probe: ({ url = "", protocol, model = "" }) => ({
      ...DEFAULT_TRITON_TARGET,
      url,
      protocol: protocol === "grpc" ? "grpc" : "http",
      model,
    }),
  },
  tfserving: {
    label: "a TensorFlow Serving server",
    hint: "over gRPC",
    name: "TensorFlow Serving server",
    asks: ["url", "model", "shapes"],
    usualUrl: "localhost:8500",
    toTarget: ({ url = "", model = "", shapes }) =>
      tfserving(url, { model, ...(shapes === undefined ? {} : { shapes: parseShapes(shapes) }) }),
    inputs: { builder: "random", make: () => random() },
    commandLine: "perf_analyzer",
    probe: ({ url = "", model = "" }) => ({ ...DEFAULT_TF_SERVING_TARGET, url, model }),
  },
  tritonInProcess: {
    label: "Triton in process",
    hint: "its library, without a network",
    name: "target in process",
    asks: ["directory", "model-repository", "model"],
    toTarget: ({ directory = DEFAULT_TRITON_DIRECTORY, "model-repository": modelRepository = "", model = "" }) =>
      tritonInProcess({ ...(directory === DEFAULT_TRITON_DIRECTORY ? {} : { directory }), modelRepository, model }),
    inputs: { builder: "random", make: () => random() },
    commandLine: "perf_analyzer",
    listModels: ({ "model-repository": folder = "" }) => modelsIn(folder).map(toListed),
  },
  openai: {
    label: "a language model",
    hint: "with OpenAI's API",
    name: "language model",
    asks: ["url", "model", "tokenizer"],
    toTarget: ({ url = "", model = "", tokenizer = model }) =>
      openai(url, { model, streaming: true, ...(tokenizer === model ? {} : { tokenizer }) }),
    inputs: { builder: "prompts", options: () => PROMPTS, make: () => prompts(PROMPTS) },
    commandLine: "genai-perf",
    probe: ({ url = "" }) => ({
      kind: "openai",
      url,
      protocol: "http",
      batchSize: 1,
      isStreaming: false,
      headers: [],
      model: "",
      endpoint: "v1/models",
      tls: DEFAULT_TLS,
    }),
  },
  torchserve: {
    label: "a TorchServe server",
    hint: "each request is a file",
    name: "TorchServe server",
    asks: ["url", "model", "files"],
    usualUrl: "localhost:8080",
    toTarget: ({ url = "", model = "" }) => torchserve(url, { model }),
    inputs: {
      builder: "files",
      options: ({ files: pattern = "" }) => pattern,
      make: ({ files: pattern = "" }) => files(pattern),
    },
    commandLine: "perf_analyzer",
    probe: ({ url = "" }) => ({
      kind: "torchserve",
      url,
      protocol: "http",
      batchSize: 1,
      isStreaming: false,
      headers: [],
      model: "",
      modelVersion: "",
      body: { kind: "multipart", part: DEFAULT_PART },
      tls: DEFAULT_TLS,
    }),
  },
  http: {
    label: "any HTTP server",
    hint: "by its URL and path, such as a REST API of its own",
    name: "HTTP server",
    asks: ["url", "path"],
    builder: "http",
    toTarget: ({ url = "", path = "/" }) => http(url, path === "/" ? {} : { path }),
    commandLine: "http",
  },
  grpc: {
    label: "a method of a gRPC service",
    hint: "of any service; methods are found by the server's reflection",
    name: "gRPC service",
    asks: ["url", "model"],
    builder: "grpc",
    toTarget: ({ url = "", model = "" }) => grpc(url, { method: model as `${string}/${string}`, message: {} }),
    commandLine: "perf_analyzer",
    probe: ({ url = "" }) => ({
      kind: "dynamic-grpc",
      url,
      protocol: "grpc",
      method: "",
      model: "",
      protoFiles: [],
      importPaths: [],
      batchSize: 1,
      isStreaming: false,
      headers: [],
      compression: "none",
      tls: DEFAULT_TLS,
    }),
  },
};

/** Returns the chosen target; undefined when none is chosen, or the name is unknown. */
export function wizardTargetOf({ target = "" }: Answers): WizardTarget | undefined {
  return Object.hasOwn(WIZARD_TARGETS, target) ? WIZARD_TARGETS[target] : undefined;
}
