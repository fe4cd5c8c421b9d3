import {
  type Document,
  isMap,
  isScalar,
  isSeq,
  LineCounter,
  type Node,
  parseDocument,
  visit,
  type YAMLMap,
} from "yaml";
import { isTooDeep, TOO_DEEP } from "../../../plan/json-depth.ts";
import { nearestName } from "../../../plan/nearest-name.ts";
import { messageOf } from "../../../plan/problem.ts";
import { registerArguments } from "../../../plan/secrets.ts";
import { fileSystem } from "../../../runtime/files.ts";
import { type PlaceOf, readFieldValue } from "./config-values.ts";
import { type Field, type FieldGroup, isGroup } from "./field.ts";
import { FIELDS } from "./fields.ts";
import type { GivenSetting, SettingsBuilder } from "./settings-builder.ts";

/** YAML files with the settings of genai-perf. Errors name line and column, all of them at once. */

/** Reads a file into the builder. Returns whether it has settings at all, right or wrong ones. */
export function readConfig(builder: SettingsBuilder, path: string): boolean {
  let text: string;
  try {
    text = fileSystem().readFileSync(path, "utf8");
  } catch (error) {
    builder.fail(path, "the file can not be read", messageOf(error), "Give an existing YAML file with -f.");
    return false;
  }
  return readConfigText(builder, text, path);
}

/** Reads the text of a file. Returns as {@link readConfig}. @param path what errors call it */
export function readConfigText(builder: SettingsBuilder, text: string, path: string): boolean {
  // Before anything in it is shown as wrong.
  registerArguments(text.split("\n").map((line) => line.replace(/^[\s-]*["']?|["']?\s*$/g, "")));
  const lineCounter = new LineCounter();
  // 1.1, as PyYAML reads it: `yes` and `on` are booleans too.
  const document = parseDocument(text, { lineCounter, version: "1.1", prettyErrors: false });
  for (const error of document.errors) {
    const { line, col } = lineCounter.linePos(error.pos[0]);
    builder.fail(`${path}:${line}:${col}`, error.message.replace(/\.$/, ""), undefined, "Mend the YAML there.");
  }
  if (document.errors.length > 0 || !resolveAliases(builder, document, path)) return false;
  const placeOf: PlaceOf = (node) => {
    const { line, col } = lineCounter.linePos(node?.range?.[0] ?? 0);
    return `${path}:${line}:${col}`;
  };
  const root = document.contents;
  if (root === null) return true;
  if (isMap(root)) {
    readEntries(builder, root, FIELDS, "top-level", placeOf);
    return true;
  }
  builder.fail(placeOf(root), "the file must hold keys with values", undefined, "See genai-perf create-template.");
  return false;
}

/** Puts what they stand for in the place of aliases. Returns false after a report where that has no end, or a merge key has no map. */
function resolveAliases(builder: SettingsBuilder, document: Document.Parsed, path: string): boolean {
  try {
    if (isTooDeep(document.toJS())) throw new Error(`it ${TOO_DEEP}`);
  } catch (error) {
    const hint = "Write out what an alias (*) or a merge key (<<) stands for.";
    builder.fail(path, `cannot be read: ${messageOf(error)}`, undefined, hint);
    return false;
  }
  visit(document, { Alias: (_key, alias) => alias.resolve(document) });
  return true;
}

function readEntries(
  builder: SettingsBuilder,
  map: YAMLMap,
  entries: readonly (Field | FieldGroup)[],
  label: string,
  placeOf: PlaceOf,
): void {
  for (const pair of map.items) {
    const keyNode = pair.key as Node;
    const key = isScalar(keyNode) ? String(keyNode.value) : String(keyNode);
    const entry = entries.find((one) => one.key === key || (!isGroup(one) && one.alias === key));
    if (entry === undefined) {
      describeUnknownKey(builder, key, placeOf(keyNode), entries, label);
      continue;
    }
    const from: GivenSetting = {
      place: placeOf((pair.value as Node | null) ?? keyNode),
      source: "file",
      isFloat: hasFloat(pair.value),
    };
    if (!isGroup(entry)) readField(builder, entry, pair.value as Node | null, from, placeOf);
    else if (isMap(pair.value)) readEntries(builder, pair.value, entry.entries, entry.label, placeOf);
    else if (!isNull(pair.value as Node | null))
      builder.fail(
        from.place,
        `User Config: ${key} must hold keys with values`,
        String(pair.value),
        `Its keys: ${namesOf(entry.entries)}.`,
      );
  }
}

/** An empty value says nothing, except where something must be said. */
function readField(
  builder: SettingsBuilder,
  field: Field,
  node: Node | null,
  from: GivenSetting,
  placeOf: PlaceOf,
): void {
  if (!isNull(node)) {
    readFieldValue(builder, field, node as Node, from, placeOf);
    return;
  }
  if (field.isRequired === true)
    builder.fail(
      from.place,
      `User Config: ${field.key} must be a string or list`,
      undefined,
      `Write for example ${field.key}: my_model.`,
    );
}

function describeUnknownKey(
  builder: SettingsBuilder,
  key: string,
  place: string,
  entries: readonly (Field | FieldGroup)[],
  label: string,
): void {
  const near = nearestName(
    key,
    entries.map((entry) => entry.key),
  );
  builder.fail(
    place,
    `User Config: ${key} is not a valid ${label} parameter`,
    undefined,
    near === undefined ? `There are ${namesOf(entries)}.` : `Did you mean ${near}?`,
  );
}

function namesOf(entries: readonly (Field | FieldGroup)[]): string {
  return entries.map(({ key }) => key).join(", ");
}

function isNull(node: Node | null): boolean {
  return node === null || (isScalar(node) && (node.value === null || node.value === ""));
}

/** Whether a number, alone or below, is written with a point or an exponent: Python then has a float. */
function hasFloat(value: unknown): boolean {
  if (isScalar(value)) return typeof value.value === "number" && /[.eE]/.test(value.source ?? "");
  if (isSeq(value)) return value.items.some(hasFloat);
  return isMap(value) && value.items.some((pair) => hasFloat(pair.value));
}
