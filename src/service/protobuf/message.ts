import { ProtocolError } from "../../transport/failure.ts";
import { ProtoReader, ProtoWriter, WIRE } from "./wire.ts";

/** Messages described by tables: decoding into plain objects, encoding from them, and protobuf's text format. */

/** A scalar's type as `.proto` files name it. */
export type ScalarType = "string" | "bytes" | "bool" | "int32" | "int64" | "uint32" | "uint64" | "float" | "double";

/** One field of a message. */
export interface FieldSpec {
  readonly number: number;
  readonly type: ScalarType | MessageSpec | EnumSpec;
  readonly isRepeated?: boolean;
  /** A map is a repeated message of `key` and `value`; it is decoded into an object. */
  readonly isMap?: boolean;
}

/** A message type: its fields by name. */
export interface MessageSpec {
  readonly fields: Readonly<Record<string, FieldSpec>>;
}

/** An enum type: its names by number. */
export interface EnumSpec {
  readonly names: readonly string[];
}

/** A decoded message. Absent fields are absent; maps are objects; 64-bit integers are numbers. */
export interface ProtoObject {
  [field: string]: ProtoValue | undefined;
}

/** A decoded field. */
export type ProtoValue = string | number | boolean | Uint8Array | ProtoObject | ProtoValue[];

/** A message's table from `name: [number, type]` pairs, with `"repeated"` or `"map"` as a third element. */
export function message(
  fields: Readonly<Record<string, readonly [number: number, type: FieldSpec["type"], label?: "repeated" | "map"]>>,
): MessageSpec {
  const specs: Record<string, FieldSpec> = {};
  for (const [name, [number, type, label]] of Object.entries(fields)) {
    specs[name] = {
      number,
      type: label === "map" ? { fields: { key: { number: 1, type: "string" }, value: { number: 2, type } } } : type,
      isRepeated: label !== undefined,
      isMap: label === "map",
    };
  }
  return { fields: specs };
}

/** Decodes a message; unknown fields are skipped, as protobuf requires. Throws {@link ProtocolError}. */
export function decodeMessage(spec: MessageSpec, bytes: Uint8Array): ProtoObject {
  const result: ProtoObject = {};
  const reader = new ProtoReader(bytes);
  while (reader.next()) {
    const found = Object.entries(spec.fields).find(([, field]) => field.number === reader.fieldNumber);
    if (found === undefined) reader.skip();
    else decodeField(result, found[0], found[1], reader);
  }
  return result;
}

function decodeField(result: ProtoObject, name: string, field: FieldSpec, reader: ProtoReader): void {
  if (field.isMap === true) {
    const entry = decodeMessage(field.type as MessageSpec, reader.bytes());
    const map = (result[name] ?? {}) as ProtoObject;
    map[String(entry["key"] ?? "")] = entry["value"] ?? emptyValue((field.type as MessageSpec).fields["value"] as FieldSpec);
    result[name] = map;
    return;
  }
  if (field.isRepeated !== true) {
    result[name] = decodeValue(field, reader);
    return;
  }
  const list = (result[name] ?? []) as ProtoValue[];
  if (reader.wireType === WIRE.bytes && isPackable(field)) list.push(...decodePacked(field, reader.bytes()));
  else list.push(decodeValue(field, reader));
  result[name] = list;
}

function isPackable(field: FieldSpec): boolean {
  return typeof field.type === "string" ? field.type !== "string" && field.type !== "bytes" : "names" in field.type;
}

/** A packed list is a run of values without tags. */
function decodePacked(field: FieldSpec, bytes: Uint8Array): ProtoValue[] {
  const values: ProtoValue[] = [];
  const reader = new ProtoReader(bytes);
  while (!reader.isAtEnd) values.push(readScalar(field.type as ScalarType | EnumSpec, reader));
  return values;
}

function decodeValue(field: FieldSpec, reader: ProtoReader): ProtoValue {
  const { type } = field;
  if (typeof type === "object" && "fields" in type) return decodeMessage(type, reader.bytes());
  const expected = wireTypeOf(type);
  if (reader.wireType !== expected) {
    throw new ProtocolError(`protobuf field ${field.number} has wire type ${reader.wireType}, expected ${expected}`);
  }
  return readScalar(type, reader);
}

function readScalar(type: ScalarType | EnumSpec, reader: ProtoReader): ProtoValue {
  if (typeof type === "object") {
    const number = reader.varint();
    return type.names[number] ?? number;
  }
  switch (type) {
    case "string":
      return reader.string();
    case "bytes":
      return reader.bytes();
    case "bool":
      return reader.varint() !== 0;
    case "float":
      return reader.float();
    case "double":
      return reader.double();
    case "uint32":
    case "uint64":
      return reader.varint();
    case "int32":
    case "int64":
      return reader.signedVarint();
  }
}

function wireTypeOf(type: ScalarType | EnumSpec): number {
  if (typeof type === "object") return WIRE.varint;
  if (type === "string" || type === "bytes") return WIRE.bytes;
  if (type === "double") return WIRE.fixed64;
  return type === "float" ? WIRE.fixed32 : WIRE.varint;
}

function emptyValue(field: FieldSpec): ProtoValue {
  const { type } = field;
  if (typeof type === "object") return "fields" in type ? {} : (type.names[0] as string);
  if (type === "string") return "";
  if (type === "bytes") return new Uint8Array(0);
  return type === "bool" ? false : 0;
}

/** Encodes a message's fields in ascending order of their numbers; absent ones are left out. */
export function encodeMessage(spec: MessageSpec, value: ProtoObject): Uint8Array {
  const writer = new ProtoWriter();
  for (const [name, field] of fieldsInOrder(spec)) {
    const content = value[name];
    if (content === undefined) continue;
    if (field.isMap === true) {
      for (const [key, entry] of Object.entries(content as ProtoObject)) {
        writer.bytes(field.number, encodeMessage(field.type as MessageSpec, { key, value: entry }));
      }
    } else if (field.isRepeated === true) {
      encodeRepeated(writer, field, content as ProtoValue[]);
    } else {
      encodeValue(writer, field, content);
    }
  }
  return writer.finish();
}

function encodeRepeated(writer: ProtoWriter, field: FieldSpec, values: readonly ProtoValue[]): void {
  if (!isPackable(field)) {
    for (const value of values) encodeValue(writer, field, value);
    return;
  }
  const packed = new ProtoWriter();
  for (const value of values) writeScalar(packed, field.type as ScalarType | EnumSpec, value);
  writer.bytes(field.number, packed.finish());
}

function encodeValue(writer: ProtoWriter, field: FieldSpec, value: ProtoValue): void {
  const { type } = field;
  if (typeof type === "object" && "fields" in type) writer.bytes(field.number, encodeMessage(type, value as ProtoObject));
  else if (type === "string") writer.string(field.number, value as string);
  else if (type === "bytes") writer.bytes(field.number, value as Uint8Array);
  else {
    writer.tag(field.number, wireTypeOf(type));
    writeScalar(writer, type, value);
  }
}

function writeScalar(writer: ProtoWriter, type: ScalarType | EnumSpec, value: ProtoValue): void {
  if (typeof type === "object") writer.varint(type.names.indexOf(value as string));
  else if (type === "double") writer.double(value as number);
  else if (type === "float") writer.float(value as number);
  else writer.varint(Number(value));
}

function fieldsInOrder(spec: MessageSpec): [string, FieldSpec][] {
  return Object.entries(spec.fields).sort(([, a], [, b]) => a.number - b.number);
}

/** Protobuf's text format, as `DebugString` prints it: two blanks per level, one field per line. */
export function formatText(spec: MessageSpec, value: ProtoObject, indent = ""): string {
  let text = "";
  for (const [name, field] of fieldsInOrder(spec)) {
    const content = value[name];
    if (content === undefined) continue;
    const items = field.isMap === true ? toEntries(content as ProtoObject) : field.isRepeated === true ? (content as ProtoValue[]) : [content];
    for (const item of items) text += formatField(name, field, item, indent);
  }
  return text;
}

function toEntries(map: ProtoObject): ProtoObject[] {
  return Object.entries(map).map(([key, value]) => ({ key, value }));
}

function formatField(name: string, field: FieldSpec, item: ProtoValue, indent: string): string {
  const { type } = field;
  if (typeof type === "object" && "fields" in type) {
    return `${indent}${name} {\n${formatText(type, item as ProtoObject, `${indent}  `)}${indent}}\n`;
  }
  // proto3 leaves defaults out, and so does its text.
  if (field.isRepeated !== true && isDefault(type, item)) return "";
  return `${indent}${name}: ${formatScalar(type, item)}\n`;
}

function isDefault(type: ScalarType | EnumSpec, item: ProtoValue): boolean {
  if (typeof type === "object") return item === type.names[0];
  return item === "" || item === 0 || item === false || (item instanceof Uint8Array && item.length === 0);
}

const encoder = new TextEncoder();

function formatScalar(type: ScalarType | EnumSpec, item: ProtoValue): string {
  if (item instanceof Uint8Array) return `"${escapeBytes(item)}"`;
  if (type === "string") return `"${escapeBytes(encoder.encode(String(item)))}"`;
  return String(item);
}

const ESCAPES: Readonly<Record<number, string>> = { 9: "\\t", 10: "\\n", 13: "\\r", 34: '\\"', 39: "\\'", 92: "\\\\" };

function escapeBytes(bytes: Uint8Array): string {
  let text = "";
  for (const byte of bytes) {
    const known = ESCAPES[byte];
    if (known !== undefined) text += known;
    else if (byte >= 0x20 && byte < 0x7f) text += String.fromCharCode(byte);
    else text += `\\${byte.toString(8).padStart(3, "0")}`;
  }
  return text;
}
