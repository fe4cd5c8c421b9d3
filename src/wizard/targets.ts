import { type ServerTargetPlan, usualUrlOf } from "../registry/service-kinds.ts";
import { input } from "../scenario/inputs.ts";
import { embedded } from "../scenario/targets/embedded.ts";
import { grpc } from "../scenario/targets/grpc.ts";
import { http } from "../scenario/targets/http.ts";
import { openai } from "../scenario/targets/llm.ts";
import { targetBuilderOf } from "../scenario/targets/table.ts";
import type { AnyTarget } from "../scenario/targets/target-builder.ts";
import { tfserving } from "../scenario/targets/tfserving.ts";
import { torchserve } from "../scenario/targets/torchserve.ts";
import { triton } from "../scenario/targets/triton.ts";
import { tritonInProcess } from "../scenario/targets/triton-in-process.ts";
import { type ListedModel, modelNamed } from "../service/service.ts";
import { modelsIn } from "../service/triton-c-api/find-library.ts";
import { DEFAULT_TRITON_DIRECTORY } from "../service/triton-c-api/target.ts";
import { type Answers, parseShapes, type QuestionId } from "./answers.ts";
import { pathFrom } from "./paths.ts";
import { evaluate } from "./source/evaluate.ts";
import { type Call, call } from "./source/source.ts";

/** A target of the wizard: everything that determines its questions and its scenario. */
export interface WizardTarget {
  readonly label: string;
  readonly hint: string;
  /** Name in errors: the flag `does not go with the …`. */
  readonly name: string;
  /** The questions that this target needs. */
  readonly asks: readonly QuestionId[];
  toTarget(answers: Answers): Call;
  /** Returns the inputs of requests. Absent: random inputs, or the target's options describe the requests. */
  toInputs?(answers: Answers): Call;
  /** Name of the builder of inputs from a file of recorded requests. Absent: the target does not support them. */
  readonly recorded?: "json" | "payloads";
  /** Whether responses are streams of tokens. Absent: no. */
  readonly isStreaming?: true;
  /** The command line closest to the scenario. */
  readonly commandLine: "perf_analyzer" | "genai-perf" | "http";
  /** Whether the server lists all its models, or only knows a model by name. Absent: it is not queried. */
  readonly lists?: "all" | "named";
  /** Returns the models without a server. Absent: the server is queried. */
  listModels?(answers: Answers): readonly ListedModel[];
}

/** Returns the field for a protocol. HTTP is the default of all targets that support both protocols. */
function protocolOf(protocol: string | undefined): { protocol?: string } {
  return protocol === "grpc" ? { protocol } : {};
}

function shapesOf(shapes: string | undefined): { shapes?: Record<string, number[]> } {
  return shapes === undefined ? {} : { shapes: parseShapes(shapes) };
}

export const WIZARD_TARGETS: Readonly<Record<string, WizardTarget>> = {
  embedded: {
    label: "the embedded target",
    hint: "no other process needed",
    name: "embedded target",
    asks: ["protocol"],
    toTarget: ({ protocol }) => call({ embedded }, protocolOf(protocol)),
    recorded: "json",
    commandLine: "perf_analyzer",
  },
  triton: {
    label: "a Triton server",
    hint: "or another KServe v2 server",
    name: "Triton server",
    asks: ["protocol", "url", "model", "shapes"],
    toTarget: ({ url = "", model = "", protocol, shapes }) =>
      call({ triton }, url, { ...protocolOf(protocol), model, ...shapesOf(shapes) }),
    recorded: "json",
    commandLine: "perf_analyzer",
    lists: "all",
  },
  tfserving: {
    label: "a TensorFlow Serving server",
    hint: "over gRPC",
    name: "TensorFlow Serving server",
    asks: ["url", "model", "shapes"],
    toTarget: ({ url = "", model = "", shapes }) => call({ tfserving }, url, { model, ...shapesOf(shapes) }),
    lists: "named",
    recorded: "json",
    commandLine: "perf_analyzer",
  },
  tritonInProcess: {
    label: "Triton in process",
    hint: "its library, without a network",
    name: "target in process",
    asks: ["directory", "model-repository", "model"],
    toTarget: ({ directory = DEFAULT_TRITON_DIRECTORY, "model-repository": modelRepository = "", model = "" }) =>
      call(
        { tritonInProcess },
        {
          ...(directory === DEFAULT_TRITON_DIRECTORY ? {} : { directory }),
          modelRepository,
          model,
        },
      ),
    recorded: "json",
    commandLine: "perf_analyzer",
    listModels: ({ "model-repository": folder = "" }) =>
      modelsIn(folder).map((name) => ({ ...modelNamed(name), refusal: "" })),
  },
  openai: {
    label: "a language model",
    hint: "with OpenAI's API",
    name: "language model",
    asks: ["url", "model", "tokenizer", "isl", "osl"],
    toTarget: ({ url = "", model = "", tokenizer = model, save = "" }) =>
      call({ openai }, url, {
        model,
        streaming: true,
        ...(tokenizer === model
          ? {}
          : { tokenizer: tokenizer.startsWith(".") ? pathFrom(save, tokenizer) : tokenizer }),
      }),
    toInputs: ({ isl, osl }) => call({ "input.prompts": input.prompts }, { isl: Number(isl), osl: Number(osl) }),
    recorded: "payloads",
    isStreaming: true,
    commandLine: "genai-perf",
    lists: "all",
  },
  torchserve: {
    label: "a TorchServe server",
    hint: "each request is a file",
    name: "TorchServe server",
    asks: ["url", "model", "files"],
    toTarget: ({ url = "", model = "" }) => call({ torchserve }, url, { model }),
    toInputs: ({ files: pattern = "", save = "" }) => call({ "input.files": input.files }, pathFrom(save, pattern)),
    commandLine: "perf_analyzer",
    lists: "all",
  },
  http: {
    label: "any HTTP server",
    hint: "by its URL and path, such as a REST API of its own",
    name: "HTTP server",
    asks: ["url", "path"],
    toTarget: ({ url = "", path = "/" }) => call({ http }, url, path === "/" ? {} : { path }),
    recorded: "payloads",
    commandLine: "http",
  },
  grpc: {
    label: "a method of a gRPC service",
    hint: "of any service; methods are found by the server's reflection",
    name: "gRPC service",
    asks: ["url", "model"],
    toTarget: ({ url = "", model = "" }) => call({ grpc }, url, { method: model, message: {} }),
    commandLine: "perf_analyzer",
    lists: "all",
  },
};

/** Returns the chosen target; undefined if none is chosen, or the name is unknown. */
export function wizardTargetOf({ target = "" }: Answers): WizardTarget | undefined {
  return Object.hasOwn(WIZARD_TARGETS, target) ? WIZARD_TARGETS[target] : undefined;
}

/** Returns the usual address of the chosen target. Default: that of Triton. */
export function usualAddress(answers: Answers): string {
  return usualUrlOf((serverOf(answers) ?? serverOf({ ...answers, target: "triton" })) as ServerTargetPlan);
}

/** Returns the server of the answers, which lists its models. Undefined if it cannot list them, or no such target is chosen. */
export function serverOf({ target = "", url = "", protocol = "", model = "" }: Answers): ServerTargetPlan | undefined {
  const chosen = wizardTargetOf({ target });
  if (chosen?.lists === undefined) return undefined;
  const made = evaluate(chosen.toTarget({ url, protocol, model })) as AnyTarget;
  return targetBuilderOf(made).toPlan(made, "") as ServerTargetPlan;
}
