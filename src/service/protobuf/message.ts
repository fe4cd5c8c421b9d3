import { encoder } from "../../runtime/text.ts";
import { ProtocolError } from "../../transport/failure.ts";
import { ProtoReader, ProtoWriter, WIRE } from "./wire.ts";

/** Protobuf messages described by tables: conversion from and to plain objects, and the text format. */

/** A scalar type, named as in `.proto` files. */
export type ScalarType = "string" | "bytes" | "bool" | "int32" | "int64" | "uint32" | "uint64" | "float" | "double";

interface FieldSpec {
  readonly name: string;
  readonly number: number;
  readonly type: ScalarType | MessageSpec | EnumSpec;
  readonly isRepeated: boolean;
  /** A map is a repeated message of `key` and `value`; it is decoded into an object. */
  readonly isMap: boolean;
}

type FieldTable = Readonly<
  Record<string, readonly [number: number, type: FieldSpec["type"], label?: "repeated" | "map"]>
>;

/** A message type. Its table and fields are created on demand, because most runs use only a few of a service's messages. */
export class MessageSpec {
  private readonly makeTable: () => FieldTable;
  private table: FieldTable | undefined;
  private ordered: FieldSpec[] | undefined;
  private readonly byNumber: (FieldSpec | undefined)[] = [];

  constructor(makeTable: () => FieldTable) {
    this.makeTable = makeTable;
  }

  get inOrder(): readonly FieldSpec[] {
    if (this.ordered === undefined) {
      this.ordered = [];
      const { rows } = this;
      for (const name in rows) this.ordered.push(this.at((rows[name] as FieldTable[string])[0]) as FieldSpec);
    }
    return this.ordered;
  }

  /** Returns the field with a number; undefined for an unknown number. */
  at(number: number): FieldSpec | undefined {
    const known = this.byNumber[number];
    if (known !== undefined) return known;
    const { rows } = this;
    for (const name in rows) {
      const row = rows[name] as FieldTable[string];
      if (row[0] !== number) continue;
      const [, type, label] = row;
      const isMap = label === "map";
      const field = { name, number, type: isMap ? mapEntry(type) : type, isRepeated: label !== undefined, isMap };
      this.byNumber[number] = field;
      return field;
    }
    return undefined;
  }

  private get rows(): FieldTable {
    this.table ??= this.makeTable();
    return this.table;
  }
}

function mapEntry(valueType: FieldSpec["type"]): MessageSpec {
  return new MessageSpec(() => ({ key: [1, "string"], value: [MAP_VALUE, valueType] }));
}

const MAP_VALUE = 2;

/** An enum type: its names by number. */
export interface EnumSpec {
  readonly names: readonly string[];
}

/** Returns an enumeration whose numbers are 0, 1, 2 … @param names separated by spaces, without the common prefix */
export function enumOf(prefix: string, names: string): EnumSpec {
  return { names: names.split(" ").map((name) => `${prefix}${name}`) };
}

/** A message. Absent fields are left out; maps are objects; 64-bit integers are numbers (for encoding also bigints). */
export interface ProtoObject {
  [field: string]: ProtoValue | undefined;
}

/** A decoded field. */
export type ProtoValue = string | number | bigint | boolean | Uint8Array | ProtoObject | ProtoValue[];

/** Creates a message type from `name: [number, type]` pairs ordered by number, with `"repeated"` or `"map"` as a third element. */
export function message(makeTable: () => FieldTable): MessageSpec {
  return new MessageSpec(makeTable);
}

/** Decodes a message; skips unknown fields, as protobuf requires. @throws ProtocolError */
export function decodeMessage(spec: MessageSpec, bytes: Uint8Array): ProtoObject {
  const result: ProtoObject = {};
  const reader = new ProtoReader(bytes);
  while (reader.next()) {
    const field = spec.at(reader.fieldNumber);
    if (field === undefined) reader.skip();
    else decodeField(result, field, reader);
  }
  return result;
}

function decodeField(result: ProtoObject, field: FieldSpec, reader: ProtoReader): void {
  const { name } = field;
  if (field.isMap) {
    const entry = decodeMessage(field.type as MessageSpec, reader.bytes());
    const map = (result[name] ?? {}) as ProtoObject;
    map[String(entry["key"] ?? "")] =
      entry["value"] ?? emptyValue((field.type as MessageSpec).at(MAP_VALUE) as FieldSpec);
    result[name] = map;
    return;
  }
  if (!field.isRepeated) {
    result[name] = decodeValue(field, reader);
    return;
  }
  const list = (result[name] ?? []) as ProtoValue[];
  if (reader.wireType === WIRE.bytes && isPackable(field)) readPacked(field, reader.bytes(), list);
  else list.push(decodeValue(field, reader));
  result[name] = list;
}

function isPackable(field: FieldSpec): boolean {
  return typeof field.type === "string"
    ? field.type !== "string" && field.type !== "bytes"
    : !(field.type instanceof MessageSpec);
}

/** Reads a packed list: values without tags. Uses a loop, because passing a long list as arguments would overflow the stack. */
function readPacked(field: FieldSpec, bytes: Uint8Array, into: ProtoValue[]): void {
  const reader = new ProtoReader(bytes);
  while (!reader.isAtEnd) into.push(readScalar(field.type as ScalarType | EnumSpec, reader));
}

function decodeValue(field: FieldSpec, reader: ProtoReader): ProtoValue {
  const { type } = field;
  if (type instanceof MessageSpec) return decodeMessage(type, reader.bytes());
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
  if (type instanceof MessageSpec) return {};
  if (typeof type === "object") return type.names[0] as string;
  if (type === "string") return "";
  if (type === "bytes") return new Uint8Array(0);
  return type === "bool" ? false : 0;
}

/** Encodes a message's fields, ordered by number, without absent ones. */
export function encodeMessage(spec: MessageSpec, value: ProtoObject): Uint8Array {
  const writer = new ProtoWriter();
  for (const field of spec.inOrder) {
    const content = value[field.name];
    if (content === undefined) continue;
    if (field.isMap) {
      for (const [key, entry] of Object.entries(content as ProtoObject)) {
        writer.bytes(field.number, encodeMessage(field.type as MessageSpec, { key, value: entry }));
      }
    } else if (field.isRepeated) {
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
  if (type instanceof MessageSpec) writer.bytes(field.number, encodeMessage(type, value as ProtoObject));
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
  else writer.varint(typeof value === "bigint" ? value : Number(value));
}

/** Formats a message in protobuf's text format, like `DebugString`: two spaces per level, one field per line. */
export function formatText(spec: MessageSpec, value: ProtoObject, indent = ""): string {
  let text = "";
  for (const field of spec.inOrder) {
    const content = value[field.name];
    if (content === undefined) continue;
    const items = field.isMap
      ? Object.entries(content as ProtoObject).map(([key, value]) => ({ key, value }))
      : field.isRepeated
        ? (content as ProtoValue[])
        : [content];
    for (const item of items) text += formatField(field, item, indent);
  }
  return text;
}

function formatField(field: FieldSpec, item: ProtoValue, indent: string): string {
  const { name, type } = field;
  if (type instanceof MessageSpec) {
    return `${indent}${name} {\n${formatText(type, item as ProtoObject, `${indent}  `)}${indent}}\n`;
  }
  // proto3 omits defaults, and so does its text format.
  if (!field.isRepeated && isDefault(type, item)) return "";
  return `${indent}${name}: ${formatScalar(type, item)}\n`;
}

function isDefault(type: ScalarType | EnumSpec, item: ProtoValue): boolean {
  if (typeof type === "object") return item === type.names[0];
  return item === "" || item === 0 || item === false || (item instanceof Uint8Array && item.length === 0);
}

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
