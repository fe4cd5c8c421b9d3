import { parseMetricsUrl } from "../../../telemetry/metrics-url.ts";
import { ENDPOINT_TYPES } from "../endpoints.ts";
import type { RuleSet } from "./rule-set.ts";

/** What is asked, and where its metrics are. */
export function checkEndpoint(rules: RuleSet): void {
  const { settings } = rules;
  const { type, backend } = settings.endpoint;
  const { serviceKind } = ENDPOINT_TYPES[type];
  rules.refuse(
    settings.modelNames.length === 0 || settings.modelNames.includes(""),
    "modelNames",
    "-m",
    "Required field model_names is not set",
    "Name the model with -m, or as model_names in the file.",
  );
  rules.refuse(
    rules.isChosen("endpoint.backend") && type !== "kserve",
    "endpoint.backend",
    "--backend",
    "The backend should only be used with the following combination: 'service_kind: triton' & 'type: kserve'",
    `Leave the backend ${backend} out, or add --endpoint-type kserve.`,
  );
  rules.refuse(
    type === "dynamic_grpc" || type === "tensorrtllm_engine",
    "endpoint.type",
    "--endpoint-type",
    `the endpoint type ${type} is not supported yet`,
    "The README lists the types that are.",
  );
  if (rules.isChosen("endpoint.serverMetricsUrls"))
    for (const url of settings.endpoint.serverMetricsUrls) checkMetricsUrl(rules, url.trim(), serviceKind === "triton");
}

/** @param isStrict as the original checks it for Triton only: with a port, and `/metrics` in the path */
function checkMetricsUrl(rules: RuleSet, text: string, isStrict: boolean): void {
  const at = "endpoint.serverMetricsUrls";
  const flag = "--server-metrics-url";
  const hint = "Write for example http://localhost:8002/metrics.";
  if (!isStrict) {
    const shown = text.replace(/\/\/[^/]*@/, "//<hidden>@");
    const message = `${shown} is no http or https URL without a name and password`;
    rules.refuse(parseMetricsUrl(text) === undefined, at, flag, message, hint);
    return;
  }
  const scheme = /^([a-z][a-z0-9+.-]*):\/\//i.exec(text)?.[1] ?? "";
  if (scheme !== "http" && scheme !== "https") {
    rules.refuse(true, at, flag, `Invalid scheme '${scheme}' in URL: ${text}. Use 'http' or 'https'.`, hint);
    return;
  }
  const [authority = "", ...path] = text.slice(scheme.length + 3).split("/");
  const pathText = path.length === 0 ? "" : `/${path.join("/")}`;
  rules.refuse(
    authority === "",
    at,
    flag,
    `Invalid domain in URL: ${text}. Use a valid hostname or 'localhost'.`,
    hint,
  );
  rules.refuse(
    !pathText.includes("/metrics"),
    at,
    flag,
    `Invalid URL path '${pathText}' in ${text}. The path must include '/metrics'.`,
    hint,
  );
  rules.refuse(
    !/:\d+$/.test(authority),
    at,
    flag,
    `Port missing in URL: ${text}. A port number is required (e.g., ':8002').`,
    hint,
  );
}
