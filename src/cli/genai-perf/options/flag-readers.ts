import { formatFloat } from "../../../report/genai-perf/python-format.ts";
import { JsonNumber, parseJson } from "../../../service/json-text.ts";
import type { FlagReader } from "./genai-option.ts";
import { parseDecimal, parseInteger } from "./numbers.ts";
import type { ValueSource, ValuesBuilder } from "./values-builder.ts";

/** Limits by metric: milliseconds, or tokens per second for throughputs. */
export type Limits = Readonly<Record<string, number>>;

/** Description of limits. */
export const LIMITED = { unit: "milliseconds, or tokens per second for throughputs" };

/** Whether requests or windows are counted. */
export type MeasuredIn = "interval" | "request_count";

/** Returns the value that earlier flags have set. Flags add to each other, but replace values from a file. */
function earlierOf(builder: ValuesBuilder, name: string, from: ValueSource): unknown {
  return builder.given.get(name)?.source === from.source ? builder.values.get(name) : undefined;
}

/** Returns a reader that adds a text to a list. */
export function addTo(name: string): FlagReader {
  return (builder, values, from) => {
    const earlier = (earlierOf(builder, name, from) ?? []) as readonly string[];
    builder.store(name, [...earlier, String(values[0])], from);
  };
}

/** Returns a reader of the amount to measure. */
export function readMeasurement(mode: MeasuredIn): FlagReader {
  return (builder, values, from) => {
    if ((values[0] as number) < 1) {
      builder.fail(from.place, "must be above 0", String(values[0]), "Give 1 or more.");
      return;
    }
    builder.store("perf_analyzer.measurement.mode", mode, from);
    builder.store("perf_analyzer.measurement.num", values[0], from);
  };
}

/** Returns a reader of limits in the form `metric:value`. */
export function readLimits(name: string): FlagReader {
  return (builder, values, from) => {
    const limits: [metric: string, limit: number][] = [];
    for (const item of values.map(String)) {
      const [metric = "", text = "", ...more] = item.split(":");
      const limit = parseDecimal(text);
      if (metric === "" || limit === undefined || more.length > 0) {
        const message = "Invalid format found for goodput constraints. The expected format is 'key:value' pairs";
        builder.fail(from.place, message, item, "Write for example request_latency:300.");
        continue;
      }
      const message = `Invalid value found, ${metric}: ${text}. The goodput constraint value should be non-negative.`;
      if (limit < 0) builder.fail(from.place, message, item, "Give 0 or more.");
      limits.push([metric, limit]);
    }
    builder.store(name, Object.fromEntries(limits), from);
  };
}

/** Reads `name:value`, with the type inferred from the value's text, `name` alone for null, or a JSON object. */
export const readExtraInput: FlagReader = (builder, values, from) => {
  const text = String(values[0]);
  const earlier = (earlierOf(builder, "input.extra", from) ?? {}) as Readonly<Record<string, unknown>>;
  const add = (more: Readonly<Record<string, unknown>>): void =>
    builder.store("input.extra", { ...earlier, ...more }, from);
  const fail = (message: string, hint: string): void => builder.fail(from.place, message, text, hint);
  if (text.startsWith("{") && text.endsWith("}")) {
    try {
      add(parseJson(text) as Record<string, unknown>);
    } catch {
      fail("the value is not a JSON object", "Write for example '{\"top_p\": 0.9}'.");
    }
    return;
  }
  const colon = text.indexOf(":");
  if (colon < 0) {
    add({ [text]: null });
    return;
  }
  const name = text.slice(0, colon);
  const value = text.slice(colon + 1);
  if (name === "" || value === "")
    fail("Input name or value is empty in --extra-inputs", "Write NAME:VALUE, or NAME alone for null.");
  else if (Object.hasOwn(earlier, name))
    fail(`Input name already exists in request_inputs dictionary: ${name}`, "Give it only once.");
  else add({ [name]: typedValue(value) });
};

/** Unlike GenAI-Perf, negative numbers and exponents are numbers: servers refuse a `presence_penalty` that is a text. */
function typedValue(text: string): unknown {
  const lower = text.toLowerCase();
  if (lower === "true" || lower === "false") return lower === "true";
  if (/^-?\d+$/.test(text)) return parseInteger(text) ?? new JsonNumber(BigInt(text).toString());
  if (!/^-?(\d+\.?\d*|\.\d+)(e[+-]?\d+)?$/i.test(text) || !Number.isFinite(Number(text))) return text;
  const value = Number(text);
  return Number.isInteger(value) ? new JsonNumber(formatFloat(value)) : value;
}
