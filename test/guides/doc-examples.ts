import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { ROOT } from "../cli/rampart-process.ts";

/** The examples in the doc comments of the public API. */

/** An example of an exported function. */
export interface DocExample {
  /** The name of the function. */
  readonly name: string;
  readonly text: string;
}

/** A doc comment with what is exported behind it. */
const DOCUMENTED = /\/\*\*((?:(?!\*\/)[\s\S])*)\*\/\s*export function (\w+)/g;

/** Returns the examples of all functions that index.ts exports from `scenario/` or itself. */
export function readExamples(): DocExample[] {
  const folder = join(ROOT, "src", "scenario");
  const files = readdirSync(folder, { recursive: true, encoding: "utf8" }).filter((file) => file.endsWith(".ts"));
  return [join(ROOT, "src", "index.ts"), ...files.map((file) => join(folder, file))].flatMap((path) =>
    [...readFileSync(path, "utf8").matchAll(DOCUMENTED)].flatMap(([, comment = "", name = ""]) => {
      const text = comment.replace(/^ *\* ?/gm, "");
      return text
        .split(/^@example$/m)
        .slice(1)
        .map((example) => ({ name, text: (example.split(/^@\w/m)[0] as string).trim() }));
    }),
  );
}

/**
 * Returns a module with an example: a whole module as it is, otherwise an expression or a field of a scenario as a value.
 * @param api path of the module with the public API @param names the functions that it exports
 */
export function toModule({ text }: DocExample, api: string, names: readonly string[]): string {
  const from = JSON.stringify(api);
  if (text.startsWith("import ")) return text.replace(/"rampart"/g, from);
  const isField = /^\w+: /.test(text);
  const isExpression = !/^(const|export) /m.test(text);
  const body = isField ? `export const value = { ${text} };` : isExpression ? `export const value = ${text};` : text;
  return `import { ${names.join(", ")} } from ${from};\n${body}\n`;
}
