import { fieldOf } from "../../../plan/objects.ts";
import type { Plan } from "../../../plan/plan.ts";
import { DEFAULT_TLS } from "../../../plan/tls.ts";
import { type ServerTargetPlan, targetKindOf, usualUrlOf } from "../../../registry/service-kinds.ts";
import { isParameterValue, PARAMETER_TYPES, type RequestParameterPlan } from "../../../service/triton/parameters.ts";
import type { ComposingModelPlan } from "../../../service/triton/target.ts";
import { HEADER_NAME } from "../../../transport/request.ts";
import { kindNameOf, kindOf } from "../kinds/kinds.ts";
import { option, Settings, type UngroupedOption, type ValueReader } from "../settings.ts";
import { choice, filled, on, text } from "./readers.ts";

/** Options of the server, and of data that is sent with each request. */
export const SERVER: readonly UngroupedOption[] = [
  option("target.url", {
    names: ["-u"],
    value: "URL",
    defaultText: `${usualUrl("triton", "http")}, or ${usualUrl("triton", "grpc")} with gRPC; ${usualUrl("torchserve", "http")} with torchserve, and ${usualUrl("tfserving", "grpc")} with tfserving`,
    help: "Server: host:port, http://host:port or https://host:port.",
    parse: filled("Give the server's address, or leave -u out."),
    of: urlOf,
  }),
  option("target.protocol", {
    names: ["-i"],
    label: "-i (protocol)",
    ...choice(["http", "grpc"], { rule: () => "The value should be either HTTP or gRPC.", ignoresCase: true }),
    help: "Protocol.",
    // Requests in process use no network protocol.
    of: ({ target }) => (targetKindOf(target).isInProcess === true ? undefined : target.protocol),
  }),
  option("target.directory", {
    names: ["--triton-server-directory"],
    feature: "library",
    value: "DIR",
    help: "Triton's installation, with lib/libtritonserver.so and backends. Needs --service-kind triton_c_api.",
    parse: text,
  }),
  option("target.modelRepository", {
    names: ["--model-repository"],
    feature: "library",
    value: "DIR",
    help: "Folder of the models. Needs --service-kind triton_c_api.",
    parse: text,
  }),
  option("target.isStreaming", {
    names: ["--streaming"],
    help: "Use gRPC's bidirectional stream (needs -i grpc); with --service-kind openai, accept events.",
    parse: on,
  }),
  option("target.headers", {
    names: ["-H"],
    label: "-H (header)",
    value: "NAME:VALUE",
    isRepeatable: true,
    help: "Header to send with every request; with gRPC, metadata.",
    parse: readHeader,
    format: (headers) => headers.map(([name, value]) => `${name}: ${value}`),
  }),
  option("target.parameters", {
    names: ["--request-parameter"],
    feature: "triton",
    value: "NAME:VALUE:TYPE",
    isRepeatable: true,
    help: "Parameter of every request; TYPE is bool, int, uint, double or string. gRPC only.",
    parse: readParameter,
    format: (parameters) => Object.entries(parameters).map(([name, { type, value }]) => `${name}:${value}:${type}`),
  }),
  option("target.compression", {
    names: ["--grpc-compression-algorithm"],
    ...choice(["gzip", "deflate", "none"]),
    help: "Compress requests that get shorter. gRPC only.",
  }),
  option("grpcMethod", {
    names: ["--grpc-method"],
    setting: "target.method",
    feature: "method",
    value: "PACKAGE.SERVICE/METHOD",
    help: "Method to call. Needs --service-kind dynamic_grpc.",
    parse: text,
    of: ({ target }) => fieldOf(target, "method") ?? "",
  }),
  option("target.composingModels", {
    names: ["--bls-composing-models"],
    feature: "triton",
    value: "NAME[:VERSION],...",
    isRepeatable: true,
    help: "Models that a BLS model calls, to report their server times too. Those of an ensemble are found without it.",
    parse: readComposingModels,
    format: (models) => models.map(({ name, version }) => (version === "" ? name : `${name}:${version}`)),
  }),
];

/** An embedded target has the address of `rampart mock` with its default ports. */
function urlOf(plan: Plan): string | undefined {
  const { target } = plan;
  const { protocol } = target;
  const url = fieldOf(target, "url");
  if (url === undefined) return undefined;
  if (protocol === "http" && fieldOf(target, "tls")?.isEnabled && !url.includes("://")) return `https://${url}`;
  return kindNameOf(plan) !== undefined && url === usualUrlOf(target as ServerTargetPlan) ? undefined : url;
}

function usualUrl(serviceKind: string, protocol: "http" | "grpc"): string {
  const settings = new Settings();
  settings.target = { ...settings.target, protocol };
  return usualUrlOf(kindOf({ serviceKind }).toTarget(settings, { url: "", tls: DEFAULT_TLS }));
}

const LINE_BREAK = /[\r\n\0]/;

type Headers = readonly (readonly [name: string, value: string])[];

function readHeader(reader: ValueReader, before: Headers): Headers | undefined {
  const { text: header } = reader;
  const colon = header.indexOf(":");
  const name = header.slice(0, Math.max(0, colon));
  let problem = "";
  if (colon <= 0) problem = "There must be a colon after the header's name.";
  else if (!HEADER_NAME.test(name)) problem = "The part before the colon is not a header's name.";
  else if (LINE_BREAK.test(header)) problem = "A header cannot contain a line break.";
  // Of headers with the same name the last one is sent, like in perf_analyzer.
  if (problem === "") return [...new Map([...before, [name, header.slice(colon + 1).trim()]])];
  reader.fail(problem, "Write for example -H 'Authorization: Bearer abc'.");
  return undefined;
}

type Parameters = Readonly<Record<string, RequestParameterPlan>>;

/** Adds `NAME:VALUE:TYPE` to the parameters. */
function readParameter(reader: ValueReader, before: Parameters): Parameters | undefined {
  const [name = "", value = "", type, ...more] = reader.text.split(":");
  if (name === "" || type === undefined || more.length > 0) {
    const hint = "Write for example --request-parameter max_tokens:256:int.";
    reader.fail("The value does not match <name:value:type>.", hint);
    return undefined;
  }
  const parameter = { type, value } as RequestParameterPlan;
  if (!PARAMETER_TYPES.includes(parameter.type))
    reader.fail(`Unsupported type provided: '${type}'.`, `Give one of the types ${PARAMETER_TYPES.join(", ")}.`);
  else if (!isParameterValue(parameter))
    reader.fail(
      `'${value}' is not a valid ${type}.`,
      "Give a value of the type: true or false, a whole number of 64 bits, or a decimal number.",
    );
  else return { ...before, [name]: parameter };
  return undefined;
}

/** Adds `NAME[:VERSION],…` to the composing models. Ignores spaces. */
function readComposingModels(
  reader: ValueReader,
  before: readonly ComposingModelPlan[],
): readonly ComposingModelPlan[] | undefined {
  const models = [...before];
  for (const entry of reader.text.split(",")) {
    const [name = "", version, ...more] = entry.split(":").map((part) => part.trim());
    const isVersion = version === undefined || /^[1-9][0-9]*$/.test(version);
    if (name === "" || !isVersion || more.length > 0) {
      const hint = "Write for example --bls-composing-models modelA:3,modelB.";
      reader.fail(`'${entry}' is not NAME or NAME:VERSION of a model.`, hint);
      return undefined;
    }
    models.push({ name, version: version ?? "" });
  }
  return models;
}
