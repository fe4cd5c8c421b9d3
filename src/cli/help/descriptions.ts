import { readGuide } from "./guides.ts";

/** The doc comments of the scenario API, by the described item, read from the generated reference of scenarios. */

const PAGES = ["define-scenario", "targets", "loads", "inputs", "parameter-kinds"];
/** The chapters of the reference that list functions. */
const FUNCTIONS: readonly string[] = ["Targets", "Loads", "Inputs", "Parameters"];

/** Returns the texts of builders by name, of options by `builder.option`, and of a scenario's fields by `scenario.field`. */
export function readDescriptions(): Readonly<Record<string, string>> {
  const texts: Record<string, string> = {};
  const sections = PAGES.flatMap((page) => readGuide(`scenarios/reference/${page}.md`).split(/^## /m).slice(1));
  for (const section of sections) {
    const [heading = ""] = section.split("\n", 1);
    const rows = section.split("\n").flatMap((line) => (line.startsWith("| `") ? [cellsOf(line)] : []));
    const owners = ownersOf(heading);
    if (FUNCTIONS.includes(heading))
      for (const [call = "", meaning = ""] of rows) addOnce(texts, nameOf(call), meaning);
    for (const owner of owners)
      for (const [name = "", , initial = "", meaning = ""] of rows)
        addOnce(texts, `${owner}.${nameOf(name)}`, describe(meaning, initial));
  }
  return texts;
}

/** Returns the builders whose options a table lists. */
function ownersOf(heading: string): string[] {
  if (heading === "`defineScenario`") return ["scenario"];
  if (!heading.startsWith("Options of ")) return [];
  return [...heading.matchAll(/`(?:(?:input|param)\.)?([\w.]+)`/g)].map(([, name = ""]) => name);
}

/** Splits a row of a table at bars that are not escaped. */
function cellsOf(line: string): string[] {
  const cells = line.split(/(?<!\\)\|/).slice(1, -1);
  return cells.map((cell) => cell.trim().replaceAll("\\|", "|"));
}

/** Returns the name in `name(arguments)` or `name`, in its form for data: without the object of inputs and of parameters. */
function nameOf(cell: string): string {
  return /^`(?:(?:input|param)\.)?([\w.]+)/.exec(cell)?.[1] ?? "";
}

function describe(meaning: string, initial: string): string {
  return initial === "" || initial === "required" ? meaning : `${meaning} Default: ${initial}.`;
}

function addOnce(texts: Record<string, string>, name: string, text: string): void {
  texts[name] ??= text;
}
