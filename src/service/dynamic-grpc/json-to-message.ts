import protobuf from "protobufjs";
import { nearestName } from "../../plan/nearest-name.ts";
import { isObject } from "../../plan/objects.ts";
import { listNames, showValue } from "../../plan/show-value.ts";
import { fullName } from "./methods.ts";
import { type Fields, readWellKnown } from "./well-known.ts";

export interface MessageProblem {
  /** Place in the message: `items[2].name`; empty for the message itself. */
  readonly path: string;
  /** One sentence without the path and without a full stop. */
  readonly message: string;
}

export type EncodedMessage = { readonly bytes: Uint8Array } | { readonly problems: readonly MessageProblem[] };

/**
 * Encodes a message from plain data in protobuf's JSON mapping: fields by their name in the `.proto` file or in camel case, 64-bit integers
 * as numbers, bigints or strings, bytes as Base64, enums by name or number, well-known types like `Timestamp` in their JSON form. Fields
 * with a default value are not sent, unless their presence has a meaning.
 */
export function encodeMessageJson(type: protobuf.Type, value: unknown): EncodedMessage {
  const reader = new MessageFromJson();
  const fields = reader.message(type, value, "");
  if (reader.problems.length > 0) return { problems: reader.problems };
  return { bytes: type.encode(fields).finish() };
}

/** Integer types with their limits. */
const INTEGERS: Readonly<Record<string, readonly [least: bigint, most: bigint]>> = Object.fromEntries(
  ["int32", "sint32", "sfixed32", "uint32", "fixed32", "int64", "sint64", "sfixed64", "uint64", "fixed64"].map(
    (name) => {
      const bits = BigInt(name.endsWith("32") ? 32 : 64);
      const isUnsigned = name.startsWith("u") || name.startsWith("f");
      return [name, isUnsigned ? [0n, 2n ** bits - 1n] : [-(2n ** (bits - 1n)), 2n ** (bits - 1n) - 1n]];
    },
  ),
);
const BASE64 = /^[A-Za-z0-9+/_-]*={0,2}$/;
const MAX_DEPTH = 100; // protobuf's own limit

/** Converts plain data to the fields of a message, as protobufjs encodes them, and collects all problems. */
class MessageFromJson {
  readonly problems: MessageProblem[] = [];
  private depth = 0;

  message(type: protobuf.Type, value: unknown, path: string): Fields {
    const known = readWellKnown(type, value, (field, part) => this.single(field, part, path));
    if (known !== undefined) {
      if (known.problem !== undefined) this.report(path, known.problem, value);
      return known.fields;
    }
    if (!isObject(value)) return this.report(path, `must be an object (a message ${fullName(type)})`, value);
    if (++this.depth > MAX_DEPTH) return this.report(path, `is nested deeper than ${MAX_DEPTH} messages`);
    const fields: Fields = {};
    const chosen = new Map<protobuf.OneOf, string>();
    for (const [name, part] of Object.entries(value)) this.field(type, name, part, path, fields, chosen);
    for (const field of type.fieldsArray)
      if (field.required && fields[field.name] === undefined) this.report(join(path, field.name), "is required");
    this.depth--;
    return fields;
  }

  private field(
    type: protobuf.Type,
    name: string,
    value: unknown,
    path: string,
    fields: Fields,
    chosen: Map<protobuf.OneOf, string>,
  ): void {
    const place = join(path, name);
    const field = type.fieldsArray.find((one) => one.name === name || jsonName(one) === name);
    if (field === undefined) {
      const names = type.fieldsArray.map((one) => one.name);
      const near = nearestName(name, names);
      const known = near === undefined ? `its fields are ${names.join(", ") || "none"}` : `did you mean ${near}?`;
      this.report(place, `is not a field of ${fullName(type)}: ${known}`);
      return;
    }
    if (value === null && !acceptsNull(field)) return;
    const { partOf } = field;
    const other = partOf === null ? undefined : chosen.get(partOf);
    if (other !== undefined)
      this.report(place, `cannot be set together with ${other}: only one of ${partOf?.name} can`);
    if (partOf !== null) chosen.set(partOf, name);
    const converted = this.any(field, value, place);
    if (converted !== undefined) fields[field.name] = converted;
  }

  private any(field: protobuf.Field, value: unknown, path: string): unknown {
    const entry = mapEntryOf(field);
    if (field.map || entry !== undefined) return this.map(field, entry, value, path);
    if (!field.repeated) return this.isLeftOut(field, value) ? undefined : this.single(field, value, path);
    if (!Array.isArray(value)) return this.report(path, "must be a list", value);
    return value.map((item, index) => this.single(field, item, `${path}[${index}]`));
  }

  /** Whether a field can be omitted: a field without presence has its default when it is not sent. */
  private isLeftOut(field: protobuf.Field, value: unknown): boolean {
    if (field.hasPresence || field.required) return false;
    if (field.resolvedType instanceof protobuf.Enum)
      return value === 0 || field.resolvedType.values[String(value)] === 0;
    return isScalarDefault(field, value);
  }

  private map(field: protobuf.Field, entry: protobuf.Type | undefined, value: unknown, path: string): unknown {
    if (!isObject(value)) return this.report(path, "must be an object (a map)", value);
    // Types from reflection have repeated entries instead of maps.
    const keyField = entry?.fieldsById[1];
    const valueField = entry?.fieldsById[2] ?? field;
    const pairs = Object.entries(value).map(
      ([key, item]) => [key, this.single(valueField, item, `${path}[${JSON.stringify(key)}]`)] as const,
    );
    if (entry === undefined) return Object.fromEntries(pairs);
    return pairs.map(([key, item]) => ({
      [(keyField as protobuf.Field).name]: toMapKey(keyField as protobuf.Field, key),
      [valueField.name]: item,
    }));
  }

  private single(field: protobuf.Field, value: unknown, path: string): unknown {
    const { resolvedType } = field.resolve();
    if (resolvedType instanceof protobuf.Type) return this.message(resolvedType, value, path);
    if (resolvedType instanceof protobuf.Enum) return this.enumValue(resolvedType, value, path);
    return this.scalar(field.type, value, path);
  }

  private enumValue(type: protobuf.Enum, value: unknown, path: string): unknown {
    if (typeof value === "number" && Number.isInteger(value)) return value;
    const number = typeof value === "string" && Object.hasOwn(type.values, value) ? type.values[value] : undefined;
    const names = Object.keys(type.values);
    return number ?? this.report(path, `must be one of ${listNames(names)}`, value);
  }

  private scalar(type: string, value: unknown, path: string): unknown {
    if (type === "string") return typeof value === "string" ? value : this.report(path, "must be text", value);
    if (type === "bool") return typeof value === "boolean" ? value : this.report(path, "must be true or false", value);
    if (type === "bytes") return this.bytes(value, path);
    if (type === "float" || type === "double") return this.float(value, path);
    return this.integer(type, value, path);
  }

  private bytes(value: unknown, path: string): unknown {
    if (typeof value === "string" && BASE64.test(value))
      return new Uint8Array(Buffer.from(value.replaceAll("-", "+").replaceAll("_", "/"), "base64"));
    return this.report(path, "must be bytes in Base64", value);
  }

  private float(value: unknown, path: string): unknown {
    if (typeof value === "number") return value;
    if (value === "NaN" || value === "Infinity" || value === "-Infinity") return Number(value);
    if (typeof value === "bigint" || (typeof value === "string" && value.trim() !== "" && !Number.isNaN(Number(value))))
      return Number(value);
    return this.report(path, "must be a number", value);
  }

  private integer(type: string, value: unknown, path: string): unknown {
    const [least, most] = INTEGERS[type] as readonly [bigint, bigint];
    const whole = toBigInt(value);
    if (whole === undefined) return this.report(path, "must be a whole number", value);
    if (whole < least || whole > most) return this.report(path, `must be from ${least} to ${most} (${type})`, value);
    return type.endsWith("32") ? Number(whole) : String(whole);
  }

  /** Returns empty fields, so that reading can continue. */
  private report(path: string, message: string, ...got: readonly unknown[]): Fields {
    const value = got.length === 0 ? "" : `, and is ${showValue(got[0])}`;
    this.problems.push({ path, message: `${message}${value}` });
    return {};
  }
}

/** Returns the entry type of a map that is a repeated message; undefined for other fields. */
export function mapEntryOf(field: protobuf.Field): protobuf.Type | undefined {
  const { resolvedType } = field.resolve();
  if (!(resolvedType instanceof protobuf.Type) || resolvedType.getOption("map_entry") !== true) return undefined;
  // protobufjs also marks messages that have a map.
  const { fieldsArray, fieldsById, name } = resolvedType;
  const isEntry = fieldsArray.length === 2 && fieldsById[1]?.name === "key" && fieldsById[2]?.name === "value";
  return isEntry && name.endsWith("Entry") ? resolvedType : undefined;
}

/** Returns the name of a field in JSON: `json_name`, or the name in camel case. */
function jsonName(field: protobuf.Field): string {
  const given = field.getOption("json_name") as unknown;
  return typeof given === "string"
    ? given
    : field.name.replace(/_([a-z0-9])/g, (_, letter: string) => letter.toUpperCase());
}

function acceptsNull(field: protobuf.Field): boolean {
  const { resolvedType } = field.resolve();
  return (
    resolvedType !== null && [".google.protobuf.Value", ".google.protobuf.NullValue"].includes(resolvedType.fullName)
  );
}

function isScalarDefault({ type }: protobuf.Field, value: unknown): boolean {
  if (type === "string" || type === "bytes") return value === "";
  if (type === "bool") return value === false;
  return value === 0 || value === 0n || value === "0";
}

function toMapKey({ type }: protobuf.Field, key: string): unknown {
  if (type === "bool") return key === "true";
  return type === "string" || type.endsWith("64") ? key : Number(key);
}

function toBigInt(value: unknown): bigint | undefined {
  if (typeof value === "bigint") return value;
  if (typeof value === "number") return Number.isInteger(value) ? BigInt(value) : undefined;
  return typeof value === "string" && /^-?\d{1,20}$/.test(value) ? BigInt(value) : undefined;
}

function join(path: string, name: string): string {
  return path === "" ? name : `${path}.${name}`;
}
