import { fieldOf } from "../../../plan/objects.ts";
import type { Plan, TargetPlan } from "../../../plan/plan.ts";
import { EMBEDDED_LLM, EMBEDDED_MODEL } from "../../../service/embedded/target.ts";
import { KINDS, kindNameOf } from "../kinds/kinds.ts";
import { option, type UngroupedOption, type ValueReader } from "../settings.ts";
import { filled, giveOneOf, on, text } from "./readers.ts";

const SERVICE_KINDS = Object.keys(KINDS);

/** Options of the target. */
export const GENERAL: readonly UngroupedOption[] = [
  option("target.model", {
    names: ["-m"],
    value: "MODEL",
    help: "Model to measure. Required, except with --service-kind dynamic_grpc.",
    parse: text,
    of: modelOf,
  }),
  option("target.modelVersion", {
    names: ["-x"],
    feature: "versions",
    value: "VERSION",
    defaultText: "the server's choice",
    help: "Version of the model; with --service-kind tfserving a number is a version, and other text is a version label.",
    parse: text,
  }),
  option("signatureName", {
    setting: "target.signatureName",
    names: ["--model-signature-name"],
    feature: "signatures",
    value: "NAME",
    help: "Signature of the model. Other service kinds than tfserving ignore it.",
    parse: filled("Give the signature's name, or leave it out."),
    of: ({ target }) => fieldOf(target, "signatureName"),
  }),
  option("outputs.verbosity", {
    names: ["-v"],
    help: "Print each window as it is measured. Twice (-v -v): requests and responses too.",
    parse: (_reader, before) => (before === 0 ? 1 : 2),
  }),
  option("isVersion", { names: ["--version"], help: "Print the version and exit.", parse: on }),
  option("serviceKind", {
    names: ["--service-kind"],
    choices: SERVICE_KINDS,
    help: `What the server is: ${Object.values(KINDS)
      .map(({ help }) => help)
      .join("; ")}.`,
    parse: readServiceKind,
    of: kindNameOf,
  }),
  option("endpoint", {
    names: ["--endpoint"],
    feature: "endpoint",
    value: "PATH",
    help: "Path that payloads are sent to, such as v1/chat/completions. Needs --service-kind openai.",
    parse: text,
    of: ({ target }) => payloadPathOf(target),
  }),
];

/** Returns the path of a target that accepts payloads; undefined for one that accepts tensors. */
export function payloadPathOf(target: TargetPlan): string | undefined {
  return fieldOf(target, "endpoint") ?? fieldOf(target, "llmPath");
}

/** An embedded target is the same server as `rampart mock`. */
function modelOf({ target }: Plan): string {
  return fieldOf(target, "model") ?? (payloadPathOf(target) === undefined ? EMBEDDED_MODEL : EMBEDDED_LLM);
}

function readServiceKind(reader: ValueReader): string | undefined {
  if (Object.hasOwn(KINDS, reader.text)) return reader.text;
  reader.fail(`Unsupported type provided: '${reader.text}'.`, giveOneOf(SERVICE_KINDS));
  return undefined;
}
