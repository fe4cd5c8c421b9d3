import { DEFAULT_TLS } from "../plan/tls.ts";
import type { ServerTargetPlan } from "../registry/service-kinds.ts";
import type { ListedModel } from "../service/service.ts";
import { DEFAULT_TF_SERVING_TARGET } from "../service/tfserving/target.ts";
import { DEFAULT_PART } from "../service/torchserve/target.ts";
import { DEFAULT_TRITON_TARGET } from "../service/triton/target.ts";
import { modelsIn } from "../service/triton-c-api/find-library.ts";
import { DEFAULT_TRITON_DIRECTORY } from "../service/triton-c-api/target.ts";
import { type Answers, parseShapes, type QuestionId } from "./answers.ts";
import { pathFrom } from "./paths.ts";
import { type Call, call } from "./source/source.ts";

/** A target of the wizard: everything that its questions and its scenario depend on. */
export interface WizardTarget {
  readonly label: string;
  readonly hint: string;
  /** In errors: the flag `does not go with the …`. */
  readonly name: string;
  /** The questions that this target needs. */
  readonly asks: readonly QuestionId[];
  toTarget(answers: Answers): Call;
  /** Returns the inputs of requests. Absent: random ones, or the target's own options describe the requests. */
  toInputs?(answers: Answers): Call;
  /** The builder of inputs for a file of recorded requests. Absent: the target takes none. */
  readonly recorded?: "json" | "payloads";
  /** Whether responses are streams of tokens. Absent: no. */
  readonly isStreaming?: true;
  /** The closest command line to the scenario. */
  readonly commandLine: "perf_analyzer" | "genai-perf" | "http";
  /** Its usual address. Default: that of a Triton server. */
  readonly usualUrl?: string;
  /** Returns the server to query for its models. Absent: no query. */
  probe?(answers: Answers): ServerTargetPlan;
  /** False when the server cannot list its models, and only knows one by its name. */
  readonly listsAll?: false;
  /** Returns the models without a server. Absent: a server is queried for them. */
  listModels?(answers: Answers): readonly ListedModel[];
}

/** HTTP is the default of all targets that have both. */
function protocolOf(protocol: string | undefined): { protocol?: string } {
  return protocol === "grpc" ? { protocol } : {};
}

function shapesOf(shapes: string | undefined): { shapes?: Record<string, number[]> } {
  return shapes === undefined ? {} : { shapes: parseShapes(shapes) };
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
    toTarget: ({ protocol }) => call("embedded", protocolOf(protocol)),
    recorded: "json",
    commandLine: "perf_analyzer",
  },
  triton: {
    label: "a Triton server",
    hint: "or another KServe v2 server",
    name: "Triton server",
    asks: ["protocol", "url", "model", "shapes"],
    toTarget: ({ url = "", model = "", protocol, shapes }) =>
      call("triton", url, { ...protocolOf(protocol), model, ...shapesOf(shapes) }),
    recorded: "json",
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
    toTarget: ({ url = "", model = "", shapes }) => call("tfserving", url, { model, ...shapesOf(shapes) }),
    listsAll: false,
    recorded: "json",
    commandLine: "perf_analyzer",
    probe: ({ url = "", model = "" }) => ({ ...DEFAULT_TF_SERVING_TARGET, url, model }),
  },
  tritonInProcess: {
    label: "Triton in process",
    hint: "its library, without a network",
    name: "target in process",
    asks: ["directory", "model-repository", "model"],
    toTarget: ({ directory = DEFAULT_TRITON_DIRECTORY, "model-repository": modelRepository = "", model = "" }) =>
      call("tritonInProcess", {
        ...(directory === DEFAULT_TRITON_DIRECTORY ? {} : { directory }),
        modelRepository,
        model,
      }),
    recorded: "json",
    commandLine: "perf_analyzer",
    listModels: ({ "model-repository": folder = "" }) => modelsIn(folder).map(toListed),
  },
  openai: {
    label: "a language model",
    hint: "with OpenAI's API",
    name: "language model",
    asks: ["url", "model", "tokenizer", "isl", "osl"],
    toTarget: ({ url = "", model = "", tokenizer = model, save = "" }) =>
      call("openai", url, {
        model,
        streaming: true,
        ...(tokenizer === model
          ? {}
          : { tokenizer: tokenizer.startsWith(".") ? pathFrom(save, tokenizer) : tokenizer }),
      }),
    toInputs: ({ isl, osl }) => call("input.prompts", { isl: Number(isl), osl: Number(osl) }),
    recorded: "payloads",
    isStreaming: true,
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
    toTarget: ({ url = "", model = "" }) => call("torchserve", url, { model }),
    toInputs: ({ files: pattern = "", save = "" }) => call("input.files", pathFrom(save, pattern)),
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
    toTarget: ({ url = "", path = "/" }) => call("http", url, path === "/" ? {} : { path }),
    recorded: "payloads",
    commandLine: "http",
  },
  grpc: {
    label: "a method of a gRPC service",
    hint: "of any service; methods are found by the server's reflection",
    name: "gRPC service",
    asks: ["url", "model"],
    toTarget: ({ url = "", model = "" }) => call("grpc", url, { method: model, message: {} }),
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
