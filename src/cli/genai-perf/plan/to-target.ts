import type { TargetPlan } from "../../../plan/plan.ts";
import { type Problem, problem, UserError } from "../../../plan/problem.ts";
import { readApiKey, registerHeaders } from "../../../plan/secrets.ts";
import { DEFAULT_TLS } from "../../../plan/tls.ts";
import { DEFAULT_TRITON_TARGET } from "../../../service/triton/target.ts";
import { DEFAULT_TRITON_DIRECTORY } from "../../../service/triton-c-api/target.ts";
import { ENDPOINT_TYPES, endpointPath } from "../endpoints.ts";
import type { GenaiSettings } from "../options/settings.ts";
import type { GivenSettings } from "../options/settings-builder.ts";

/** Names and values. */
export type Headers = readonly (readonly [name: string, value: string])[];

/**
 * Returns the headers of every request: the user's (`Name:Value`), the API key, and those that the endpoint type requires. The key is read
 * from the environment and sent, and never stored.
 * @throws UserError for invalid headers, and for an environment variable that is not set
 */
export function headersOf(
  { endpoint, input, rampart }: GenaiSettings,
  env: Readonly<Record<string, string | undefined>>,
): Headers {
  const problems: Problem[] = [];
  const { keyHeader, headers: required = [] } = ENDPOINT_TYPES[endpoint.type];
  const hasHeader = (name: string): boolean => headers.some(([other]) => other.toLowerCase() === name.toLowerCase());
  const headers = input.headers.flatMap((text): [string, string][] => {
    const colon = text.indexOf(":");
    if (colon > 0) return [[text.slice(0, colon).trim(), text.slice(colon + 1).trim()]];
    problems.push(problem("invalid-value", "--header", "is not a header", "Write Name:Value.", text));
    return [];
  });
  registerHeaders(headers);
  const keyName = rampart.shared["api-key-env"] ?? "";
  if (keyName !== "") {
    const read = readApiKey(String(keyName), env);
    const name = keyHeader ?? "Authorization";
    if (hasHeader(name)) {
      const message = `--header and --api-key-env both give ${name}`;
      problems.push(problem("conflict", "--header", message, "Leave one of them out: servers take either."));
    } else if ("key" in read) headers.push([name, name === keyHeader ? read.key : `Bearer ${read.key}`]);
    else problems.push(problem("missing", "--api-key-env", read.problem, `Set it: export ${keyName}=…`));
  }
  headers.push(
    ...required.filter(([name]) => !hasHeader(name)).map(([name, value]): [string, string] => [name, value]),
  );
  if (problems.length > 0) throw new UserError(problems);
  return headers;
}

/** perf_analyzer's default, which GenAI-Perf uses when no URL is given. */
const DEFAULT_HTTP_URL = "localhost:8000";

/** Returns the target of the measurement. @param headers headers of every request: the user's and those of an API key */
export function toTarget(settings: GenaiSettings, given: GivenSettings, headers: Headers): TargetPlan {
  const { endpoint } = settings;
  const { models, isStreaming } = settings.layout;
  const { type, path } = endpoint;
  const model = models[0] ?? "";
  if (ENDPOINT_TYPES[type].takesPayloads) {
    const base = { kind: "openai", protocol: "http", batchSize: 1, tls: DEFAULT_TLS } as const;
    const url = given.has("endpoint.url") ? endpoint.url : DEFAULT_HTTP_URL;
    return { ...base, url, endpoint: endpointPath(type, path, model), model, isStreaming, headers };
  }
  if (ENDPOINT_TYPES[type].callsMethod) {
    const base = { kind: "dynamic-grpc", protocol: "grpc", batchSize: 1, tls: DEFAULT_TLS } as const;
    const call = { method: endpoint.grpcMethod, protoFiles: [], importPaths: [], compression: "none" } as const;
    return { ...base, ...call, url: endpoint.url, model, isStreaming: false, headers };
  }
  if (ENDPOINT_TYPES[type].isInProcess) {
    const { batchSize, modelVersion, outputSharedMemoryBytes } = DEFAULT_TRITON_TARGET;
    // GenAI-Perf always lets a model send any number of responses. The folders come after `--`.
    const base = { kind: "triton-c-api", protocol: "grpc", isStreaming: true, sharedMemory: "none" } as const;
    const place = { directory: DEFAULT_TRITON_DIRECTORY, modelRepository: "" };
    const more = { batchSize, modelVersion, outputSharedMemoryBytes, shapes: {}, parameters: {}, composingModels: [] };
    return { ...base, ...place, ...more, model };
  }
  return {
    ...DEFAULT_TRITON_TARGET,
    url: endpoint.url,
    protocol: "grpc",
    model,
    isStreaming: true,
    headers,
    shapes: { text_input: [1], ...(endpoint.backend === "tensorrtllm" ? { max_tokens: [1] } : {}) },
  };
}
