import { formatFloat } from "../../../report/genai-perf/python-format.ts";
import { JsonNumber, parseJson } from "../../../service/json-text.ts";
import { fieldOf } from "./fields.ts";
import { parseDecimal, parseInteger } from "./numbers.ts";
import type { SettingPath, Stimulus } from "./settings.ts";
import type { GivenSetting, SettingsBuilder } from "./settings-builder.ts";
import { readSweepList, readSweepRange, SWEEP_DEFAULTS, SWEEP_TYPES } from "./sweeps.ts";

/** Flags that do more than storing their value. */

/** The values of one occurrence of a flag, read. */
export type FlagValues = readonly (string | number)[];

/** Reads one occurrence. */
export type FlagReader = (builder: SettingsBuilder, values: FlagValues, from: GivenSetting) => void;

/** By a flag's first name. */
export const FLAG_READERS: Readonly<Record<string, FlagReader>> = {
  "--extra-inputs": readExtraInput,
  "--header": (builder, values, from) => {
    const earlier = hasFlag(builder, "input.headers", from) ? builder.settings.input.headers : [];
    builder.store("input.headers", [...earlier, String(values[0])], from);
  },
  "--goodput": (builder, values, from) => readLimits(builder, "input.goodput", values, from),
  "--search-limits": (builder, values, from) => readLimits(builder, "rampart.searchLimits", values, from),
  "--measurement-interval": (builder, values, from) => readMeasurement(builder, "interval", values, from),
  "--request-count": (builder, values, from) => readMeasurement(builder, "request_count", values, from),
};

/** The last occurrence of a flag by its first name; undefined when it is not given. */
export type LastFlag = (
  name: string,
) => { readonly value: string | number | undefined; readonly from: GivenSetting } | undefined;

/** The load that the flags ask for: sessions, then concurrency, rate and schedule, as the original asks them. */
export function readLoad(builder: SettingsBuilder, last: LastFlag): void {
  const candidates: readonly (readonly [name: string, make: (value: number) => Stimulus])[] = [
    ["--session-concurrency", (sessions) => ({ kind: "session_concurrency", sessions })],
    ["--concurrency", (requests) => ({ kind: "concurrency", requests })],
    ["--request-rate", (ratePerSec) => ({ kind: "request_rate", ratePerSec })],
  ];
  for (const [name, make] of candidates) {
    const found = last(name);
    if (found === undefined) continue;
    const value = Number(found.value);
    if (value <= 0)
      builder.fail(found.from.place, `the load must be above 0`, String(found.value), "Leave it out, or give more.");
    else builder.store("perfAnalyzer.stimulus", make(value), found.from);
    return;
  }
  const schedule = last("--fixed-schedule");
  if (schedule === undefined) return;
  const text = String(schedule.value ?? "true").toLowerCase();
  if (["true", "1", "yes"].includes(text))
    builder.store("perfAnalyzer.stimulus", { kind: "fixed_schedule" }, schedule.from);
  else if (!["false", "0", "no"].includes(text))
    builder.fail(schedule.from.place, "is true or false", text, "Write --fixed-schedule alone.");
}

/** What the flags of `analyze` ask for. @param isNeeded whether there must be a sweep */
export function readSweep(builder: SettingsBuilder, last: LastFlag, isNeeded: boolean): void {
  const typeFlag = last("--sweep-type");
  const list = last("--sweep-list");
  const range = last("--sweep-range");
  if (typeFlag === undefined) {
    if (isNeeded || list !== undefined || range !== undefined)
      builder.fail(
        "--sweep-type",
        "nothing says what to vary",
        undefined,
        "Add for example --sweep-type concurrency --sweep-range 1:64.",
      );
    return;
  }
  const type = SWEEP_TYPES[String(typeFlag.value)];
  if (type === undefined) return;
  const given = list ?? range;
  const sweep =
    list !== undefined
      ? readSweepList(type, String(list.value))
      : range !== undefined
        ? readSweepRange(type, String(range.value))
        : ({ kind: "range", type, ...SWEEP_DEFAULTS[type] } as const);
  if ("message" in sweep)
    builder.fail(given?.from.place ?? "--sweep-range", sweep.message, String(given?.value), sweep.hint);
  else builder.store("analyze.sweeps", [sweep], typeFlag.from);
}

function readMeasurement(
  builder: SettingsBuilder,
  mode: "interval" | "request_count",
  values: FlagValues,
  from: GivenSetting,
): void {
  if ((values[0] as number) < 1) {
    builder.fail(from.place, "must be above 0", String(values[0]), "Give 1 or more.");
    return;
  }
  builder.store("perfAnalyzer.measurement.mode", mode, from);
  builder.store("perfAnalyzer.measurement.num", values[0], from);
}

/** Limits as `metric:value`. */
function readLimits(
  builder: SettingsBuilder,
  at: "input.goodput" | "rampart.searchLimits",
  values: FlagValues,
  from: GivenSetting,
): void {
  const limits: Record<string, number> = {};
  for (const item of values) {
    const [metric = "", text = "", ...more] = String(item).split(":");
    const limit = parseDecimal(text);
    if (metric === "" || limit === undefined || more.length > 0) {
      builder.fail(
        from.place,
        "Invalid format found for goodput constraints. The expected format is 'key:value' pairs",
        String(item),
        "Write for example request_latency:300.",
      );
      continue;
    }
    if (limit < 0)
      builder.fail(
        from.place,
        `Invalid value found, ${metric}: ${text}. The goodput constraint value should be non-negative.`,
        String(item),
        "Give 0 or more.",
      );
    limits[metric] = limit;
  }
  builder.store(at, limits, from);
}

/** `name:value` with the value's type seen from its text, `name` alone for null, or a JSON object. */
function readExtraInput(builder: SettingsBuilder, values: FlagValues, from: GivenSetting): void {
  const text = String(values[0]);
  const earlier = hasFlag(builder, "input.extra", from) ? (builder.settings.input.extra ?? {}) : {};
  const add = (more: Readonly<Record<string, unknown>>): void =>
    builder.store("input.extra", { ...earlier, ...more }, from);
  if (text.startsWith("{") && text.endsWith("}")) {
    try {
      add(parseJson(text) as Record<string, unknown>);
    } catch {
      builder.fail(from.place, "the value is no JSON object", text, "Write for example '{\"top_p\": 0.9}'.");
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
    builder.fail(
      from.place,
      "Input name or value is empty in --extra-inputs",
      text,
      "Write NAME:VALUE, or NAME alone for null.",
    );
  else if (Object.hasOwn(earlier, name))
    builder.fail(
      from.place,
      `Input name already exists in request_inputs dictionary: ${name}`,
      text,
      "Give it only once.",
    );
  else add({ [name]: typedValue(value) });
}

function typedValue(text: string): unknown {
  const lower = text.toLowerCase();
  if (lower === "true" || lower === "false") return lower === "true";
  if (/^\d+$/.test(text)) return parseInteger(text) ?? new JsonNumber(BigInt(text).toString());
  if (!/^(\d+\.\d*|\.\d+)$/.test(text)) return text;
  const value = Number(text);
  return Number.isInteger(value) ? new JsonNumber(formatFloat(value)) : value;
}

/** Whether a flag has set this already: flags add to each other, and replace what a file says. */
function hasFlag(builder: SettingsBuilder, at: SettingPath, from: GivenSetting): boolean {
  return fieldOf(at) !== undefined && builder.given.get(at)?.source === from.source;
}
