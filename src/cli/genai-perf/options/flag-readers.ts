import { formatFloat } from "../../../report/genai-perf/python-format.ts";
import { JsonNumber, parseJson } from "../../../service/json-text.ts";
import { valueAt } from "../../options/place.ts";
import type { FlagReader } from "./genai-option.ts";
import { parseDecimal, parseInteger } from "./numbers.ts";
import type { SettingPath } from "./settings.ts";
import type { GivenSetting, SettingsBuilder } from "./settings-builder.ts";

/** Reports whether a flag already set this value. Flags add to each other, but replace values from a file. */
function isAdding(builder: SettingsBuilder, at: SettingPath, from: GivenSetting): boolean {
  return builder.given.get(at)?.source === from.source;
}

/** Returns a reader that adds a text to a list. */
export function addTo(at: SettingPath): FlagReader {
  return (builder, values, from) => {
    const earlier = isAdding(builder, at, from) ? (valueAt(builder.settings, at) as readonly string[]) : [];
    builder.store(at, [...earlier, String(values[0])], from);
  };
}

/** Reads the amount to measure. */
export function readMeasurement(mode: "interval" | "request_count"): FlagReader {
  return (builder, values, from) => {
    if ((values[0] as number) < 1) {
      builder.fail(from.place, "must be above 0", String(values[0]), "Give 1 or more.");
      return;
    }
    builder.store("perfAnalyzer.measurement.mode", mode, from);
    builder.store("perfAnalyzer.measurement.num", values[0], from);
  };
}

/** Reads limits as `metric:value`. */
export function readLimits(at: "input.goodput" | "rampart.searchLimits"): FlagReader {
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
    builder.store(at, Object.fromEntries(limits), from);
  };
}

/** Reads `name:value`, with the type inferred from the value's text, `name` alone for null, or a JSON object. */
export const readExtraInput: FlagReader = (builder, values, from) => {
  const text = String(values[0]);
  const earlier = isAdding(builder, "input.extra", from) ? (builder.settings.input.extra ?? {}) : {};
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

function typedValue(text: string): unknown {
  const lower = text.toLowerCase();
  if (lower === "true" || lower === "false") return lower === "true";
  if (/^\d+$/.test(text)) return parseInteger(text) ?? new JsonNumber(BigInt(text).toString());
  if (!/^(\d+\.\d*|\.\d+)$/.test(text)) return text;
  const value = Number(text);
  return Number.isInteger(value) ? new JsonNumber(formatFloat(value)) : value;
}
