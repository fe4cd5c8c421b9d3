import { parseUrl } from "../../../run/open/endpoint.ts";
import { parseMetricsUrl } from "../../../telemetry/metrics-url.ts";
import { ENDPOINT_TYPES } from "../endpoints.ts";
import type { RuleSet } from "./rule-set.ts";

/** Any value works: the service has its own port. */
const ANY_PORT = 1;

/** Checks the endpoint and the URLs of its metrics. */
export function checkEndpoint(rules: RuleSet): void {
  const { settings } = rules;
  const { models } = settings.layout;
  const { type, backend } = settings.endpoint;
  const { isTritonModel } = ENDPOINT_TYPES[type];
  rules.refuse(
    models.length === 0 || models.includes(""),
    "layout.models",
    "Required field model_names is not set",
    "Name the model with -m, or as model_names in the file.",
  );
  rules.refuse(
    rules.isChosen("endpoint.backend") && !isTritonModel,
    "endpoint.backend",
    "The backend should only be used with the following combination: 'service_kind: triton' & 'type: kserve'",
    `Leave the backend ${backend} out, or add --endpoint-type kserve.`,
  );
  if (!rules.isChosen("endpoint.serverMetricsUrls")) return;
  const explain = isTritonModel ? explainTritonMetrics : explainMetrics;
  for (const url of settings.endpoint.serverMetricsUrls)
    for (const message of explain(url.trim()))
      rules.refuse(true, "endpoint.serverMetricsUrls", message, "Write for example http://localhost:8002/metrics.");
}

/** Checks server addresses before anything is written. */
export function checkServers(rules: RuleSet): void {
  const { endpoint, rampart } = rules.settings;
  const check = (at: "endpoint.url" | "rampart.moreUrls", url: string): void => {
    const message = `${url === "" ? "an empty text" : url} is not an address`;
    rules.refuse(!isAddress(url), at, message, "Write host:port, http://host:port or https://host:port.");
  };
  check("endpoint.url", endpoint.url);
  for (const url of rampart.moreUrls) check("rampart.moreUrls", url);
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

/** Checks like GenAI-Perf, which does so only for Triton: requires a port, and `/metrics` in the path. */
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
