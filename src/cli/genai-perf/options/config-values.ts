import { isMap, isScalar, isSeq, type Node } from "yaml";
import { showValue } from "../../../plan/show-value.ts";
import { JsonNumber, orderedKey } from "../../../service/json-text.ts";
import type { Field } from "./field.ts";
import { isFileOrFolder } from "./flag-values.ts";
import { parseDecimal } from "./numbers.ts";
import type { Stimulus, Sweep } from "./settings.ts";
import type { GivenSetting, SettingsBuilder } from "./settings-builder.ts";
import { makeRange, SWEEP_DEFAULTS, SWEEP_TYPES } from "./sweeps.ts";

/** The values of single YAML keys. */

/** What a kind of value should look like, for hints. */
const EXPECTED = {
  text: "a text",
  path: "a path",
  file: "a path, synthetic:… or payload:…",
  boolean: "true or false",
  integer: "a whole number",
  decimal: "a number",
  texts: "a string or list",
  integers: "a whole number or a list of them",
  decimals: "a number or a list of them",
  object: "keys with values, such as {temperature: 0.7}",
  goodput: "metrics with limits, such as {request_latency: 300}",
  headers: "a list of Name:Value",
  stimulus: "one of concurrency, request_rate or session_concurrency with a number, or fixed_schedule",
  sweeps: "what to vary, such as {concurrency: {start: 1, stop: 64}}",
} as const;

/** Reads one value that is not empty. */
export function readFieldValue(
  builder: SettingsBuilder,
  field: Field,
  node: Node,
  from: GivenSetting,
  placeOf: PlaceOf,
): void {
  const value: unknown = field.kind === "object" ? toWrittenJson(node) : node.toJSON();
  if (field.kind === "sweeps") {
    readSweeps(builder, field, node, from, placeOf);
    return;
  }
  const read = convert(field, value);
  if (read === undefined) describeWrongValue(builder, field, value, from);
  else if (field.kind === "file" && !isFileOrFolder(String(read)))
    builder.fail(
      from.place,
      `'${read}' is not a valid file or directory`,
      String(read),
      "Give an existing file or folder.",
    );
  else if (field.kind === "stimulus") readStimulus(builder, field, read as Record<string, unknown>, from);
  else builder.set(field, read, from);
}

/** A number as JSON writes it. */
const JSON_NUMBER = /^-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][-+]?\d+)?$/;

/** A node as a value whose numbers and order of keys `formatJson` prints as they stand in the file. */
function toWrittenJson(node: unknown): unknown {
  if (isMap(node))
    return Object.fromEntries(
      node.items.map(({ key, value }) => [orderedKey(String(isScalar(key) ? key.value : key)), toWrittenJson(value)]),
    );
  if (isSeq(node)) return node.items.map(toWrittenJson);
  if (!isScalar(node)) return (node as Node | null)?.toJSON() ?? null;
  const { value, source = "" } = node;
  const isOther = typeof value === "number" && JSON_NUMBER.test(source) && JSON.stringify(value) !== source;
  return isOther ? new JsonNumber(source) : value;
}

function describeWrongValue(builder: SettingsBuilder, field: Field, value: unknown, from: GivenSetting): void {
  const expected = EXPECTED[field.kind];
  builder.fail(
    from.place,
    `User Config: ${field.key} must be ${expected}`,
    typeof value === "string" ? value : showValue(value),
    `Give ${expected}.`,
  );
}

/** The value as its kind has it; undefined when it can not be one. */
function convert({ kind, choices }: Field, value: unknown): unknown {
  switch (kind) {
    case "text":
    case "path":
    case "file":
      // Choices are compared without case, as the original does.
      return isPlain(value) ? (choices === undefined ? String(value) : String(value).toLowerCase()) : undefined;
    case "boolean":
      return typeof value === "boolean" ? value : undefined;
    case "integer":
      return Number.isSafeInteger(value) ? value : undefined;
    case "decimal":
      return Number.isFinite(value) ? value : undefined;
    case "texts":
    case "headers":
      return toList(value, kind === "texts", (item) => (isPlain(item) ? String(item) : undefined));
    case "integers":
      return toList(value, true, (item) => toNumber(item, Number.isSafeInteger));
    case "decimals":
      return toList(value, true, (item) => toNumber(item, Number.isFinite));
    case "object":
      return isObject(value) ? value : undefined;
    case "goodput":
      return isObject(value) && Object.values(value).every((limit) => Number.isFinite(limit) && (limit as number) >= 0)
        ? value
        : undefined;
    case "stimulus":
      return typeof value === "string" ? { [value]: null } : isObject(value) ? value : undefined;
    case "sweeps":
      return undefined;
  }
}

function isPlain(value: unknown): boolean {
  return typeof value === "string" || typeof value === "number" || typeof value === "boolean";
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

function toNumber(value: unknown, isGood: (value: unknown) => boolean): number | undefined {
  const number = typeof value === "string" ? parseDecimal(value) : value;
  return isGood(number) ? (number as number) : undefined;
}

/** A list, a text with commas, or one value. */
function toList(
  value: unknown,
  isSplit: boolean,
  convertItem: (item: unknown) => string | number | undefined,
): (string | number)[] | undefined {
  const parts =
    typeof value === "string" && isSplit
      ? value.split(",").map((part) => part.trim())
      : Array.isArray(value)
        ? value
        : [value];
  const items = parts.map(convertItem);
  return items.includes(undefined) ? undefined : (items as (string | number)[]);
}

function readStimulus(
  builder: SettingsBuilder,
  field: Field,
  value: Readonly<Record<string, unknown>>,
  from: GivenSetting,
): void {
  const names = Object.keys(value);
  const stranger = names.find((name) => field.choices?.includes(name) !== true);
  if (stranger !== undefined || names.length !== 1) {
    if (stranger === undefined) describeWrongValue(builder, field, value, from);
    else builder.set(field, stranger, from);
    return;
  }
  const kind = names[0] as Stimulus["kind"];
  const number = value[kind];
  const isGood = kind === "request_rate" ? Number.isFinite(number) : Number.isSafeInteger(number);
  if (kind === "fixed_schedule") builder.store(field.at, { kind }, from);
  else if (!isGood || (number as number) <= 0)
    builder.fail(from.place, `User Config: ${kind} must be a number above 0`, showValue(number), `Write {${kind}: 1}.`);
  else builder.store(field.at, makeStimulus(kind, number as number), from);
}

function makeStimulus(kind: Exclude<Stimulus["kind"], "fixed_schedule">, number: number): Stimulus {
  switch (kind) {
    case "concurrency":
      return { kind, requests: number };
    case "request_rate":
      return { kind, ratePerSec: number };
    case "session_concurrency":
      return { kind, sessions: number };
  }
}

/** `analyze`: each type with start, stop and step, or with a list of values. */
function readSweeps(builder: SettingsBuilder, field: Field, node: Node, from: GivenSetting, placeOf: PlaceOf): void {
  if (!isMap(node)) {
    describeWrongValue(builder, field, node.toJSON(), from);
    return;
  }
  const sweeps: Sweep[] = [];
  for (const { key, value } of node.items) {
    const name = isScalar(key) ? String(key.value) : String(key);
    const type = Object.hasOwn(SWEEP_TYPES, name) ? SWEEP_TYPES[name] : undefined;
    const place = placeOf(key as Node);
    if (type === undefined) {
      const types = Object.keys(SWEEP_TYPES).join(", ");
      builder.fail(place, `User Config: ${name} is not a valid analyze parameter`, undefined, `There are ${types}.`);
      continue;
    }
    const sweep = readOneSweep(type, (value as Node | null)?.toJSON() ?? {});
    if ("message" in sweep) builder.fail(place, sweep.message, JSON.stringify(value), sweep.hint);
    else sweeps.push(sweep);
  }
  if (sweeps.length > 0) builder.store("analyze.sweeps", sweeps, from);
}

function readOneSweep(type: Sweep["type"], value: unknown): ReturnType<typeof makeRange> {
  if (Array.isArray(value) && value.length > 0 && value.every((item) => Number.isFinite(item) && item > 0))
    return { kind: "list", type, values: value as number[] };
  const hint = "Write {start: 1, stop: 64}, with step if you like, or a list of values.";
  if (!isObject(value)) return { message: `User Config: ${type} must hold start and stop, or a list`, hint };
  const stranger = Object.keys(value).find((key) => !["start", "stop", "step"].includes(key));
  if (stranger !== undefined) return { message: `User Config: ${stranger} is not a valid ${type} parameter`, hint };
  const { start = SWEEP_DEFAULTS[type].min, stop = SWEEP_DEFAULTS[type].max, step } = value;
  if (![start, stop, step ?? 1].every((number) => Number.isFinite(number)))
    return { message: `User Config: start, stop and step of ${type} must be numbers`, hint };
  return makeRange(type, start as number, stop as number, step as number | undefined);
}

/** Where in a file something stands: `cfg.yaml:3:5`. */
export type PlaceOf = (node: Node | null | undefined) => string;
