import { ProtocolError } from "../../transport/failure.ts";
import type { TraceQueries, TraceValues } from "../service.ts";
import { httpQuery } from "./http-api.ts";

const PATH = "/v2/trace/setting";

/** Triton's trace extension over HTTP. */
export const httpTrace: TraceQueries = {
  read: () => httpQuery("GET", PATH),
  write: (values) => httpQuery("POST", PATH, toBody(values)),
  parse: parseSettings,
};

/** Only the levels are a list; all other values are strings. */
function toBody(values: TraceValues): string {
  const body: Record<string, unknown> = {};
  for (const [name, value] of Object.entries(values)) body[name] = name === "trace_level" ? value : value[0];
  return JSON.stringify(body);
}

function parseSettings(answer: unknown): TraceValues {
  if (typeof answer !== "object" || answer === null || Array.isArray(answer))
    throw new ProtocolError("trace settings are not an object");
  const values: Record<string, readonly string[]> = {};
  for (const [name, value] of Object.entries(answer))
    values[name] = (Array.isArray(value) ? value : [value]).map(String);
  return values;
}
