import protobuf from "protobufjs";
import { messageOf } from "../../plan/problem.ts";
import { ProtocolError } from "../../transport/failure.ts";
import { mapEntryOf } from "./json-to-message.ts";
import { fullName } from "./methods.ts";
import { type Fields, showWellKnown } from "./well-known.ts";

/**
 * Decodes a message to plain data: fields by their name in the `.proto` file, with defaults for absent fields without presence, 64-bit
 * integers as numbers (as text above 2^53), bytes as Base64, enums by name, well-known types in their JSON form.
 * @throws ProtocolError if the bytes are not such a message
 */
export function decodeToJson(type: protobuf.Type, bytes: Uint8Array): unknown {
  try {
    return showMessage(type, type.decode(bytes) as protobuf.Message & Fields);
  } catch (error) {
    throw new ProtocolError(`the message is not a ${fullName(type)}: ${messageOf(error)}`);
  }
}

function showMessage(type: protobuf.Type, fields: Fields): unknown {
  const known = showWellKnown(type, fields, showField);
  if (known !== undefined) return known.value;
  const shown: Fields = {};
  for (const field of type.fieldsArray) {
    const { name, repeated, map } = field;
    const isSet = Object.hasOwn(fields, name) && fields[name] !== null && fields[name] !== undefined;
    if (isSet || repeated || map || (!field.hasPresence && !(field.resolve().resolvedType instanceof protobuf.Type)))
      shown[name] = showField(field, isSet ? fields[name] : field.typeDefault);
  }
  return shown;
}

/** @param value as protobufjs decodes it; undefined for the default */
function showField(field: protobuf.Field, value: unknown): unknown {
  const entry = mapEntryOf(field);
  if (entry !== undefined) return showEntries(entry, (value ?? []) as readonly Fields[]);
  if (field.map) {
    const pairs = Object.entries((value ?? {}) as Fields);
    return Object.fromEntries(
      pairs.map(([key, item]) => [showKey(field as unknown as protobuf.MapField, key), showOne(field, item)]),
    );
  }
  if (field.repeated) return ((value ?? []) as readonly unknown[]).map((item) => showOne(field, item));
  return showOne(field, value ?? field.typeDefault);
}

function showEntries(entry: protobuf.Type, entries: readonly Fields[]): unknown {
  const key = entry.fieldsById[1] as protobuf.Field;
  const value = entry.fieldsById[2] as protobuf.Field;
  return Object.fromEntries(
    entries.map((one) => [String(showOne(key, one[key.name] ?? key.typeDefault)), showOne(value, one[value.name])]),
  );
}

/** protobufjs represents 64-bit keys as eight characters. */
function showKey({ keyType }: protobuf.MapField, key: string): string {
  if (!keyType.endsWith("64")) return key;
  const isUnsigned = keyType.startsWith("u") || keyType.startsWith("f");
  return String(protobuf.util.longFromHash(key, isUnsigned));
}

function showOne(field: protobuf.Field, value: unknown): unknown {
  const { resolvedType } = field.resolve();
  if (resolvedType instanceof protobuf.Type) return showMessage(resolvedType, (value ?? {}) as Fields);
  if (resolvedType instanceof protobuf.Enum) return resolvedType.valuesById[Number(value)] ?? value ?? 0;
  if (value instanceof Uint8Array) return Buffer.from(value).toString("base64");
  if (field.type === "bytes") return "";
  if (typeof value === "object" && value !== null) return showLong(value);
  return value;
}

/** protobufjs decodes 64-bit integers as objects. */
function showLong(long: object): number | string {
  const number = Number(String(long));
  return Number.isSafeInteger(number) ? number : String(long);
}
