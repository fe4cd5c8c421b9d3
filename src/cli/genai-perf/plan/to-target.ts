import type { TargetPlan } from "../../../plan/plan.ts";
import { type Problem, problem, UserError } from "../../../plan/problem.ts";
import { readApiKey, registerHeaders } from "../../../plan/secrets.ts";
import { DEFAULT_TLS } from "../../../plan/tls.ts";
import { usualUrlOf } from "../../../registry/service-kinds.ts";
import { kindOf } from "../../perf-analyzer/kinds/kinds.ts";
import { Settings } from "../../perf-analyzer/settings.ts";
import { endpointPath } from "../endpoints.ts";
import type { Asked } from "../options/asked.ts";
import { sharedKeyOf } from "../options/shared.ts";

/** Headers as pairs of name and value. */
export type Headers = readonly (readonly [name: string, value: string])[];

/**
 * Returns the headers of every request: the user's (`Name:Value`), the API key, and those that the endpoint type requires. The key is read
 * from the environment and sent, but never stored.
 * @throws UserError for invalid headers, and for an environment variable that is not set
 */
export function headersOf(asked: Asked, env: Readonly<Record<string, string | undefined>>): Headers {
  const problems: Problem[] = [];
  const { keyHeader, headers: required = [] } = asked.type;
  const hasHeader = (name: string): boolean => headers.some(([other]) => other.toLowerCase() === name.toLowerCase());
  const given = asked.get("input.header").flatMap((text): [string, string][] => {
    const colon = text.indexOf(":");
    if (colon > 0) return [[text.slice(0, colon).trim(), text.slice(colon + 1).trim()]];
    problems.push(problem("invalid-value", "--header", "is not a header", "Write Name:Value.", text));
    return [];
  });
  registerHeaders(given);
  // Of headers with the same name the last one is sent, like in perf_analyzer.
  const headers = [...new Map(given)];
  const keyName = asked.values.get(sharedKeyOf("api-key-env"));
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

/**
 * Returns the target of the measurement: perf_analyzer's target with GenAI-Perf's settings. Options add their values later.
 * @param headers headers of every request: the user's and those of an API key
 */
export function toTarget(asked: Asked, headers: Headers): TargetPlan {
  const { type, backend } = asked.endpoint;
  const { takesPayloads, isTritonModel, isInProcess, serviceKind } = asked.type;
  const kind = kindOf({ serviceKind: isInProcess ? "triton_c_api" : serviceKind });
  const [model = ""] = asked.get("model_names");
  const settings = new Settings();
  settings.endpoint = endpointPath(type, asked.get("endpoint.custom"), model);
  settings.target = {
    ...settings.target,
    protocol: "grpc",
    model,
    headers,
    // GenAI-Perf always allows any number of responses from a model.
    isStreaming: takesPayloads ? asked.get("endpoint.streaming") : true,
    shapes: isTritonModel ? { text_input: [1], ...(backend === "tensorrtllm" ? { max_tokens: [1] } : {}) } : {},
  };
  const targetAt = (url: string) => kind.toTarget(settings, { url, tls: DEFAULT_TLS });
  return targetAt(usualUrlOf(targetAt("")));
}
