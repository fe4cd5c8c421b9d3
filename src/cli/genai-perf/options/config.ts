import { type Document, isMap, isScalar, isSeq, type Node, type YAMLMap } from "yaml";
import { readYaml } from "../../../plan/document/read-yaml.ts";
import { nameHint } from "../../../plan/nearest-name.ts";
import { messageOf } from "../../../plan/problem.ts";
import { registerArguments } from "../../../plan/secrets.ts";
import { showValue } from "../../../plan/show-value.ts";
import { MOST_SETTINGS_BYTES, readFileText } from "../../../runtime/files.ts";
import { JsonNumber, orderedKey } from "../../../service/json-text.ts";
import type { LoadName } from "../loads.ts";
import { valueNameOf } from "./genai-option.ts";
import { readStimulus } from "./read-load.ts";
import { readSweeps } from "./sweeps.ts";
import { isFileOrFolder, VALUE_KINDS } from "./value-kinds.ts";
import type { ValueSource, ValuesBuilder } from "./values-builder.ts";
import { isGroup, YAML_KEYS, type YamlGroup, type YamlKey } from "./yaml-keys.ts";

/** Reads genai-perf's YAML configuration files. Errors include line and column, and are all reported at once. */

/** Position of a node in a file: `cfg.yaml:3:5`. */
type PlaceOf = (node: Node | null | undefined) => string;

type Entries = readonly (YamlKey | YamlGroup)[];

/** Reads a file into the builder. Returns whether it contains any settings, valid or not. */
export function readConfig(builder: ValuesBuilder, path: string): boolean {
  let text: string;
  try {
    text = readFileText(path, MOST_SETTINGS_BYTES);
  } catch (error) {
    builder.fail(path, "the file cannot be read", messageOf(error), "Give an existing YAML file with -f.");
    return false;
  }
  return readConfigText(builder, text, path);
}

/** Reads the text of a file. Returns the same as {@link readConfig}. @param path name of the file in errors */
export function readConfigText(builder: ValuesBuilder, text: string, path: string): boolean {
  // Register secrets before any error quotes the file.
  registerArguments(text.split("\n").map((line) => line.replace(/^[\s-]*["']?|["']?\s*$/g, "")));
  // Version 1.1, like PyYAML: `yes` and `on` are also booleans.
  const { document, faults, at } = readYaml(text, { version: "1.1" });
  for (const fault of faults) builder.fail(`${path}:${fault.at}`, fault.message, undefined, "Correct the YAML there.");
  if (faults.length > 0 || !checkMerges(builder, document, path)) return false;
  const placeOf: PlaceOf = (node) => `${path}:${at(node?.range?.[0] ?? 0)}`;
  const root = document.contents;
  if (root === null) return true;
  if (isMap(root)) {
    readEntries(builder, root, YAML_KEYS, "top-level", placeOf);
    return true;
  }
  builder.fail(placeOf(root), "the file must hold keys with values", undefined, "See genai-perf create-template.");
  return false;
}

/** Reports a merge key without a map, and returns false. */
function checkMerges(builder: ValuesBuilder, document: Document.Parsed, path: string): boolean {
  try {
    document.toJS();
    return true;
  } catch (error) {
    const hint = "Write out what a merge key (<<) stands for.";
    builder.fail(path, `cannot be read: ${messageOf(error)}`, undefined, hint);
    return false;
  }
}

function readEntries(builder: ValuesBuilder, map: YAMLMap, entries: Entries, label: string, placeOf: PlaceOf): void {
  for (const pair of map.items) {
    const keyNode = pair.key as Node;
    const node = pair.value as Node | null;
    const key = isScalar(keyNode) ? String(keyNode.value) : String(keyNode);
    const entry = entries.find((one) => one.key === key || (!isGroup(one) && one.option.alias === key));
    if (entry === undefined) {
      describeUnknownKey(builder, key, placeOf(keyNode), entries, label);
      continue;
    }
    const from: ValueSource = { place: placeOf(node ?? keyNode), source: "file", isFloat: hasFloat(node) };
    if (!isGroup(entry)) {
      if (!isNull(node)) readValue(builder, entry, node as Node, from, placeOf);
      else if (entry.option.needsValue === true) {
        const hint = `Write for example ${entry.key}: my_model.`;
        builder.fail(from.place, describeWrong(entry), undefined, hint);
      }
    } else if (isMap(node)) readEntries(builder, node, entry.entries, entry.label, placeOf);
    else if (!isNull(node)) {
      const hint = `Its keys: ${namesOf(entry.entries)}.`;
      builder.fail(from.place, `User Config: ${key} must hold keys with values`, String(node), hint);
    }
  }
}

function describeUnknownKey(builder: ValuesBuilder, key: string, place: string, entries: Entries, label: string): void {
  const keys = entries.map((entry) => entry.key);
  const hint = nameHint(key, keys, `The keys are ${namesOf(entries)}.`);
  builder.fail(place, `User Config: ${key} is not a valid ${label} parameter`, undefined, hint);
}

/** Reads one value that is not empty. */
function readValue(builder: ValuesBuilder, entry: YamlKey, node: Node, from: ValueSource, placeOf: PlaceOf): void {
  const { kind, choices } = entry.option;
  const value: unknown = kind === "object" ? toWrittenJson(node) : node.toJSON();
  const read = VALUE_KINDS[kind].readYaml(value);
  const fail = (message: string, hint: string): void =>
    builder.fail(from.place, message, typeof value === "string" ? value : showValue(value), hint);
  const names = kind === "stimulus" ? Object.keys(read ?? {}) : [];
  const unknown = names.find((name) => choices?.includes(name) !== true);
  if (read === undefined || (kind === "stimulus" && unknown === undefined && names.length !== 1))
    fail(describeWrong(entry), `Give ${VALUE_KINDS[kind].expected}.`);
  else if (kind === "sweeps") readSweeps(builder, node, from, placeOf);
  else if (kind === "file" && !isFileOrFolder(String(read)))
    fail(`'${read}' is not a valid file or directory`, "Give an existing file or folder.");
  else if (kind === "stimulus" && unknown === undefined) {
    const name = names[0] as LoadName;
    readStimulus(builder, name, (read as Record<string, unknown>)[name], from);
  } else {
    // Choices are case-insensitive, like in GenAI-Perf.
    const item = unknown ?? (typeof read === "string" && choices !== undefined ? read.toLowerCase() : read);
    builder.set(valueNameOf(entry.option), item, from, entry.option);
  }
}

function describeWrong({ key, option }: YamlKey): string {
  return `User Config: ${key} must be ${VALUE_KINDS[option.kind].expected}`;
}

const JSON_NUMBER = /^-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][-+]?\d+)?$/;

/** Converts a node to a value that `formatJson` prints with the file's notation of numbers and order of keys. */
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

function namesOf(entries: Entries): string {
  return entries.map(({ key }) => key).join(", ");
}

function isNull(node: Node | null): boolean {
  return node === null || (isScalar(node) && (node.value === null || node.value === ""));
}

/** Reports whether a number in the node has a point or an exponent, which makes it a float in Python. */
function hasFloat(value: unknown): boolean {
  if (isScalar(value)) return typeof value.value === "number" && /[.eE]/.test(value.source ?? "");
  if (isSeq(value)) return value.items.some(hasFloat);
  return isMap(value) && value.items.some((pair) => hasFloat(pair.value));
}
