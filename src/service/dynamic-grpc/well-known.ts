import type protobuf from "protobufjs";
import { msToSec, secToMs } from "../../plan/units.ts";

/** The fields of a message by name, as protobufjs encodes and decodes them. */
export interface Fields {
  [name: string]: unknown;
}

/** The fields of a well-known type, or the reason why the value is not valid for it. */
interface WellKnown {
  readonly fields: Fields;
  readonly problem?: string;
}

type Convert = (field: protobuf.Field, value: unknown) => unknown;

const PACKAGE = ".google.protobuf.";
const WRAPPERS: ReadonlySet<string> = new Set(
  ["Double", "Float", "Int64", "UInt64", "Int32", "UInt32", "Bool", "String", "Bytes"].map((name) => `${name}Value`),
);
/** Numbers of the fields of `google.protobuf.Value`. */
const VALUE = { nothing: 1, number: 2, text: 3, truth: 4, struct: 5, list: 6 } as const;

const TIMESTAMP = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.(\d{1,9}))?(?:Z|[+-]\d\d:\d\d)$/;
const DURATION = /^(-?)(\d{1,12})(?:\.(\d{1,9}))?s$/;

/**
 * Reads the JSON form of one of protobuf's well-known types. Undefined for other types, and for plain objects with the fields of a
 * `Timestamp` or a `Duration`.
 */
export function readWellKnown(type: protobuf.Type, value: unknown, convert: Convert): WellKnown | undefined {
  if (!type.fullName.startsWith(PACKAGE)) return undefined;
  const name = type.fullName.slice(PACKAGE.length);
  if (WRAPPERS.has(name)) return { fields: at(type, 1, convert(fieldOf(type, 1), value)) };
  if (name === "Value") return readValue(type, value, convert);
  if (name === "Struct") return readStruct(type, value, convert);
  if (name === "ListValue") return readList(type, value, convert);
  if (typeof value !== "string") return undefined;
  if (name === "Timestamp") return readTimestamp(type, value);
  if (name === "Duration") return readDuration(type, value);
  if (name === "FieldMask") return { fields: at(type, 1, value === "" ? [] : value.split(",")) };
  return undefined;
}

/**
 * Returns the JSON form of a decoded well-known type; undefined for other types. @param convert converts a field's value to JSON
 */
export function showWellKnown(
  type: protobuf.Type,
  fields: Fields,
  convert: Convert,
): { readonly value: unknown } | undefined {
  if (!type.fullName.startsWith(PACKAGE)) return undefined;
  const name = type.fullName.slice(PACKAGE.length);
  const shown = (number: number): unknown => convert(fieldOf(type, number), fields[fieldOf(type, number).name]);
  if (WRAPPERS.has(name)) return { value: shown(1) };
  if (name === "Timestamp") return { value: showTimestamp(Number(shown(1)), Number(shown(2))) };
  if (name === "Duration") return { value: showDuration(Number(shown(1)), Number(shown(2))) };
  if (name === "FieldMask") return { value: (shown(1) as readonly string[]).join() };
  if (name === "Struct" || name === "ListValue") return { value: shown(1) };
  if (name === "Value") {
    const set = Object.values(VALUE).find(
      (number) => fields[fieldOf(type, number).name] != null && Object.hasOwn(fields, fieldOf(type, number).name),
    );
    return { value: set === undefined || set === VALUE.nothing ? null : shown(set) };
  }
  return undefined;
}

function readValue(type: protobuf.Type, value: unknown, convert: Convert): WellKnown {
  const number = kindOf(value);
  if (number === undefined) return { fields: {}, problem: "must be a JSON value" };
  if (number === VALUE.nothing) return { fields: at(type, number, 0) };
  const isNested = number === VALUE.struct || number === VALUE.list;
  return { fields: at(type, number, isNested ? convert(fieldOf(type, number), value) : value) };
}

function kindOf(value: unknown): (typeof VALUE)[keyof typeof VALUE] | undefined {
  if (value === null) return VALUE.nothing;
  if (Array.isArray(value)) return VALUE.list;
  const kinds = { number: VALUE.number, string: VALUE.text, boolean: VALUE.truth, object: VALUE.struct } as const;
  return kinds[typeof value as keyof typeof kinds];
}

function readStruct(type: protobuf.Type, value: unknown, convert: Convert): WellKnown {
  if (typeof value !== "object" || value === null || Array.isArray(value))
    return { fields: {}, problem: "must be an object" };
  const field = fieldOf(type, 1);
  const { resolvedType } = field.resolve();
  const entry = field.map ? undefined : (resolvedType as protobuf.Type);
  const valueField = entry === undefined ? field : fieldOf(entry, 2);
  const pairs = Object.entries(value).map(([key, part]) => [key, convert(valueField, part)] as const);
  if (entry === undefined) return { fields: at(type, 1, Object.fromEntries(pairs)) };
  return {
    fields: at(
      type,
      1,
      pairs.map(([key, part]) => ({ ...at(entry, 1, key), ...at(entry, 2, part) })),
    ),
  };
}

function readList(type: protobuf.Type, value: unknown, convert: Convert): WellKnown {
  if (!Array.isArray(value)) return { fields: {}, problem: "must be a list" };
  return {
    fields: at(
      type,
      1,
      value.map((part) => convert(fieldOf(type, 1), part)),
    ),
  };
}

function readTimestamp(type: protobuf.Type, value: string): WellKnown {
  const match = TIMESTAMP.exec(value);
  const ms = match === null ? Number.NaN : Date.parse(value);
  if (match === null || Number.isNaN(ms)) return { fields: {}, problem: "must be a time such as 2026-01-31T12:00:00Z" };
  return { fields: { ...at(type, 1, Math.floor(msToSec(ms))), ...at(type, 2, toNanos(match[1])) } };
}

function readDuration(type: protobuf.Type, value: string): WellKnown {
  const match = DURATION.exec(value);
  if (match === null) return { fields: {}, problem: 'must be a duration such as "1.5s"' };
  const sign = match[1] === "-" ? -1 : 1;
  return { fields: { ...at(type, 1, sign * Number(match[2])), ...at(type, 2, sign * toNanos(match[3])) } };
}

function toNanos(digits = ""): number {
  return Number(digits.padEnd(9, "0"));
}

function showTimestamp(seconds: number, nanos: number): string {
  const whole = new Date(secToMs(seconds)).toISOString().slice(0, -".000Z".length);
  return `${whole}${showNanos(nanos)}Z`;
}

function showDuration(seconds: number, nanos: number): string {
  const sign = seconds < 0 || nanos < 0 ? "-" : "";
  return `${sign}${Math.abs(seconds)}${showNanos(Math.abs(nanos))}s`;
}

function showNanos(nanos: number): string {
  return nanos === 0 ? "" : `.${String(nanos).padStart(9, "0").replace(/0+$/, "")}`;
}

function fieldOf(type: protobuf.Type, number: number): protobuf.Field {
  return type.fieldsById[number] as protobuf.Field;
}

function at(type: protobuf.Type, number: number, value: unknown): Fields {
  return { [fieldOf(type, number).name]: value };
}
