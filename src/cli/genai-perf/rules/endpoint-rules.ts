import { parseUrl } from "../../../run/open/endpoint.ts";
import { parseMetricsUrl } from "../../../telemetry/metrics-url.ts";
import { isTokenless, outputFormatOf } from "../endpoint-formats.ts";
import type { RuleSet } from "./rule-set.ts";

/** Any value works: the service has a default port. */
const ANY_PORT = 1;

/** Checks the endpoint and the URLs of its metrics. */
export function checkEndpoint(rules: RuleSet): void {
  const models = rules.get("model_names");
  const { isTritonModel } = rules.type;
  rules.refuse(
    models.length === 0 || models.includes(""),
    "model_names",
    "Required field model_names is not set",
    "Name the model with -m, or as model_names in the file.",
  );
  rules.refuse(
    rules.isChosen("endpoint.backend") && !isTritonModel,
    "endpoint.backend",
    "The backend should only be used with the following combination: 'service_kind: triton' & 'type: kserve'",
    `Leave the backend ${rules.endpoint.backend} out, or add --endpoint-type kserve.`,
  );
  rules.refuse(
    rules.get("endpoint.streaming") && isTokenless(rules.endpoint) && rules.type.callsMethod !== true,
    "endpoint.streaming",
    `The --streaming option is not supported for ${outputFormatOf(rules.endpoint)}.`,
    "Leave it out: the response comes in one piece.",
  );
  const urls = "endpoint.server_metrics_urls";
  if (!rules.isChosen(urls)) return;
  const explain = isTritonModel ? explainTritonMetrics : explainMetrics;
  for (const url of rules.get(urls))
    for (const message of explain(url.trim()))
      rules.refuse(true, urls, message, "Write for example http://localhost:8002/metrics.");
}

/** Checks server addresses before anything is written. */
export function checkServers(rules: RuleSet): void {
  const check = (of: "endpoint.url" | "rampart.more_urls", url: string): void => {
    const message = `${url === "" ? "an empty text" : url} is not an address`;
    rules.refuse(!isAddress(url), of, message, "Write host:port, http://host:port or https://host:port.");
  };
  check("endpoint.url", rules.get("endpoint.url"));
  for (const url of rules.get("rampart.more_urls")) check("rampart.more_urls", url);
}

function isAddress(url: string): boolean {
  try {
    parseUrl(url, ANY_PORT);
    return true;
  } catch {
    return false;
  }
}

function explainMetrics(url: string): string[] {
  if (parseMetricsUrl(url) !== undefined) return [];
  return [`${url.replace(/\/\/[^/]*@/, "//<hidden>@")} must be an http or https URL without a user name and password`];
}

/** Checks like GenAI-Perf, which does so only for Triton: a port is required, and `/metrics` in the path. */
function explainTritonMetrics(url: string): string[] {
  const scheme = /^([a-z][a-z0-9+.-]*):\/\//i.exec(url)?.[1] ?? "";
  if (scheme !== "http" && scheme !== "https")
    return [`Invalid scheme '${scheme}' in URL: ${url}. Use 'http' or 'https'.`];
  const [, authority = "", path = ""] = /^([^/]*)(.*)$/s.exec(url.slice(scheme.length + 3)) ?? [];
  return [
    ...(authority === "" ? [`Invalid domain in URL: ${url}. Use a valid hostname or 'localhost'.`] : []),
    ...(path.includes("/metrics") ? [] : [`Invalid URL path '${path}' in ${url}. The path must include '/metrics'.`]),
    ...(/:\d+$/.test(authority) ? [] : [`Port missing in URL: ${url}. A port number is required (e.g., ':8002').`]),
  ];
}
