import { Call, Constant, fieldsOf, isFields, partsOfSource, type Source } from "./source.ts";

/** Formats scenarios like the examples: lines of up to 120 columns, two spaces, trailing commas. */

const MOST_COLUMNS = 120;
const PACKAGE = JSON.stringify("rampart");

/** A field of a scenario, with a comment above it. */
export interface ScenarioField {
  readonly name: string;
  readonly value: Source;
  /** One line. Absent: none. */
  readonly comment?: string | undefined;
}

/** A file with a scenario. */
export interface ScenarioFile {
  /** One sentence above the scenario. */
  readonly title: string;
  readonly fields: readonly ScenarioField[];
  /** The file of the scenario that this one extends, such as `./base.ts`. Absent: none. */
  readonly base?: string;
}

/** Returns the text of the file. */
export function formatFile({ title, fields, base }: ScenarioFile): string {
  const names = new Set(["defineScenario"]);
  const constants = new Map<string, Source>();
  for (const { value } of fields) collect(value, names, constants);
  const declared = [...constants].map(([name, value]) => `const ${name} = ${formatAt(value, 0, name.length + 10)};`);
  return [
    "#!/usr/bin/env -S rampart run",
    formatImport([...names].sort(compareNames)),
    ...(base === undefined ? [] : [`import base from ${JSON.stringify(base)};`]),
    "",
    ...(declared.length === 0 ? [] : [...declared, ""]),
    `/** ${title.replaceAll("*/", "*")} */`,
    "export default defineScenario({",
    ...(base === undefined ? [] : ["  ...base.definition,"]),
    ...fields.flatMap(({ name, value, comment }) => [
      ...(comment === undefined ? [] : [`  // ${comment}`]),
      `  ${formatField(name, value, 2)},`,
    ]),
    "});",
    "",
  ].join("\n");
}

/** Biome's order: by letter, then by case. */
function compareNames(a: string, b: string): number {
  return a.localeCompare(b, "en");
}

function collect(source: Source, names: Set<string>, constants: Map<string, Source>): void {
  for (const part of partsOfSource(source)) collect(part, names, constants);
  if (source instanceof Call) names.add(source.name.split(".")[0] as string);
  if (source instanceof Constant) constants.set(source.name, source.value);
}

function formatImport(names: readonly string[]): string {
  const flat = `import { ${names.join(", ")} } from ${PACKAGE};`;
  return flat.length <= MOST_COLUMNS
    ? flat
    : ["import {", ...names.map((name) => `  ${name},`), `} from ${PACKAGE};`].join("\n");
}

function formatField(name: string, value: Source, indent: number): string {
  if (value instanceof Constant && value.name === name) return name;
  const key = /^[A-Za-z_$][\w$]*$/.test(name) ? name : JSON.stringify(name);
  return `${key}: ${formatAt(value, indent, indent + key.length + 3)}`;
}

/** Formats on one line if it fits. @param taken columns of the line that other text needs */
function formatAt(source: Source, indent: number, taken: number): string {
  const flat = formatFlat(source);
  return taken + flat.length <= MOST_COLUMNS && !mustBreak(source) ? flat : formatBroken(source, indent, taken);
}

/** Reports whether an expression contains a list of several objects with several fields each, which Biome never formats on one line. */
function mustBreak(source: Source): boolean {
  const isList = Array.isArray(source) && source.length > 1;
  const items = isList ? (source as readonly Source[]) : [];
  const isTable = isList && items.every((item) => isFields(item) && fieldsOf(item).length > 1);
  return isTable || (!(source instanceof Constant) && partsOfSource(source).some(mustBreak));
}

function formatBroken(source: Source, indent: number, taken: number): string {
  const inner = " ".repeat(indent + 2);
  const wrap = (open: string, lines: readonly string[], close: string): string =>
    [open, ...lines.map((line) => `${inner}${line},`), `${" ".repeat(indent)}${close}`].join("\n");
  if (source instanceof Call && source.methods.length === 0) {
    const last = source.args.at(-1);
    if (last === undefined || typeof last !== "object" || last instanceof Constant) return formatFlat(source);
    const start = `${source.name}(${source.args
      .slice(0, -1)
      .map((arg) => `${formatFlat(arg)}, `)
      .join("")}`;
    return `${start}${formatBroken(last, indent, taken + start.length)})`;
  }
  if (Array.isArray(source))
    return wrap(
      "[",
      (source as readonly Source[]).map((item) => formatAt(item, indent + 2, indent + 3)),
      "]",
    );
  if (typeof source !== "object" || source instanceof Call || !isFields(source)) return formatFlat(source);
  return wrap(
    "{",
    fieldsOf(source).map(([name, value]) => formatField(name, value, indent + 2)),
    "}",
  );
}

function formatFlat(source: Source): string {
  if (source instanceof Constant) return source.name;
  if (source instanceof Call) {
    const calls: Call["methods"] = [[source.name, source.args], ...source.methods];
    return calls.map(([name, args]) => `${name}(${args.map(formatFlat).join(", ")})`).join(".");
  }
  if (Array.isArray(source)) return `[${(source as readonly Source[]).map(formatFlat).join(", ")}]`;
  if (!isFields(source)) return JSON.stringify(source);
  const fields = fieldsOf(source).map(([name, value]) => formatFlatField(name, value));
  return fields.length === 0 ? "{}" : `{ ${fields.join(", ")} }`;
}

function formatFlatField(name: string, value: Source): string {
  if (value instanceof Constant && value.name === name) return name;
  return `${/^[A-Za-z_$][\w$]*$/.test(name) ? name : JSON.stringify(name)}: ${formatFlat(value)}`;
}
