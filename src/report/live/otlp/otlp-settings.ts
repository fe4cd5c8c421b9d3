import { registerHeaders, registerUrl } from "../../../plan/secrets.ts";

/** Endpoint and settings of OTLP from an option and the environment. Source: OpenTelemetry's specification of OTLP exporters. */

/** The option's value that selects the endpoint of the environment. */
const FROM_ENVIRONMENT = "env";

const METRICS_PATH = "/v1/metrics";
const DEFAULT_INTERVAL_MS = 5000;
const DEFAULT_TIMEOUT_MS = 5000;

type Environment = Readonly<Record<string, string | undefined>>;

/** The URL to which metrics are sent, or the reason why it cannot be determined, with the fix. */
type ResolvedOtlp = { readonly url: string } | { readonly message: string; readonly hint: string };

/** Resolves the value of an option: an address, to which the default path is added if it has none, or `env` for the standard variables. */
export function resolveOtlpUrl(text: string, env: Environment): ResolvedOtlp {
  const given = text === FROM_ENVIRONMENT ? endpointOf(env) : withPath(text);
  const fail = (message: string, hint: string): ResolvedOtlp => ({ message, hint });
  if (given === undefined)
    return text === FROM_ENVIRONMENT
      ? fail(
          "takes the address from the environment, where none is",
          "Set OTEL_EXPORTER_OTLP_ENDPOINT, or give the address of a collector.",
        )
      : fail("is not an HTTP address", "Give the address of a collector, such as http://localhost:4318.");
  const protocol = env["OTEL_EXPORTER_OTLP_METRICS_PROTOCOL"] ?? env["OTEL_EXPORTER_OTLP_PROTOCOL"] ?? "";
  if (text === FROM_ENVIRONMENT && protocol === "grpc")
    return fail("is for HTTP, and OTEL_EXPORTER_OTLP_PROTOCOL is grpc", "Give the HTTP address of the collector.");
  if (readHeaders(env) === undefined)
    return fail(
      "uses OTEL_EXPORTER_OTLP_HEADERS, which cannot be read",
      "Write OTEL_EXPORTER_OTLP_HEADERS=name=value,name=value with values in percent encoding.",
    );
  registerUrl(given);
  return { url: given };
}

/** Settings for sending the metrics. */
export interface OtlpSettings {
  readonly headers: Readonly<Record<string, string>>;
  readonly intervalMs: number;
  readonly timeoutMs: number;
  /** Attributes of the resource, in addition to Rampart's, which they override. */
  readonly attributes: Readonly<Record<string, string>>;
}

/** Reads the standard variables of the environment. Invalid intervals and timeouts are ignored, as the specification requires. */
export function readOtlpSettings(env: Environment): OtlpSettings {
  const headers = readHeaders(env) ?? {};
  registerHeaders(Object.entries(headers));
  const timeout = env["OTEL_EXPORTER_OTLP_METRICS_TIMEOUT"] ?? env["OTEL_EXPORTER_OTLP_TIMEOUT"];
  const { OTEL_SERVICE_NAME: name = "" } = env;
  return {
    headers,
    intervalMs: readMs(env["OTEL_METRIC_EXPORT_INTERVAL"], DEFAULT_INTERVAL_MS),
    timeoutMs: readMs(timeout, DEFAULT_TIMEOUT_MS),
    attributes: {
      ...readPairs(env["OTEL_RESOURCE_ATTRIBUTES"] ?? ""),
      ...(name === "" ? {} : { "service.name": name }),
    },
  };
}

function endpointOf(env: Environment): string | undefined {
  const metricsUrl = env["OTEL_EXPORTER_OTLP_METRICS_ENDPOINT"] ?? "";
  if (metricsUrl !== "") return toUrl(metricsUrl)?.href;
  const shared = toUrl(env["OTEL_EXPORTER_OTLP_ENDPOINT"] ?? "");
  if (shared === undefined) return undefined;
  shared.pathname = `${shared.pathname.replace(/\/$/, "")}${METRICS_PATH}`;
  return shared.href;
}

function withPath(text: string): string | undefined {
  const url = toUrl(text);
  if (url?.pathname === "/") url.pathname = METRICS_PATH;
  return url?.href;
}

function toUrl(text: string): URL | undefined {
  const address = text.includes("://") ? text : `http://${text}`;
  if (text === "" || text.trim() !== text || !URL.canParse(address)) return undefined;
  const url = new URL(address);
  // The HTTP client refuses an address with a login.
  if (!["http:", "https:"].includes(url.protocol) || url.username !== "" || url.password !== "") return undefined;
  return url;
}

/** Reads the headers; undefined if they are not valid. */
function readHeaders(env: Environment): Record<string, string> | undefined {
  const text = env["OTEL_EXPORTER_OTLP_METRICS_HEADERS"] ?? env["OTEL_EXPORTER_OTLP_HEADERS"] ?? "";
  const headers = readPairs(text);
  try {
    if (headers !== undefined) new Headers(headers);
    return headers;
  } catch {
    return undefined;
  }
}

/** Reads `name=value,name=value` with percent encoding; undefined if it is not such a list. */
function readPairs(text: string): Record<string, string> | undefined {
  const pairs: [string, string][] = [];
  for (const part of text.split(",")) {
    if (part.trim() === "") continue;
    const equals = part.indexOf("=");
    if (equals <= 0) return undefined;
    try {
      pairs.push([part.slice(0, equals).trim(), decodeURIComponent(part.slice(equals + 1).trim())]);
    } catch {
      return undefined;
    }
  }
  return Object.fromEntries(pairs);
}

function readMs(text: string | undefined, preset: number): number {
  const value = Number(text ?? "");
  return Number.isFinite(value) && value > 0 ? value : preset;
}
