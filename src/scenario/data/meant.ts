import type { DataForm } from "../form.ts";
import type { Family } from "./families.ts";

/** The probable meaning of data that is not a builder's name with its options: the text to write instead. */

/** Names for the kinds of parameters in other languages. */
const KINDS: ReadonlyMap<string, string> = new Map([
  ["int", "integer"],
  ["float", "number"],
  ["double", "number"],
  ["string", "text"],
  ["str", "text"],
  ["bool", "flag"],
  ["boolean", "flag"],
  ["enum", "choice"],
  ["list", "choice"],
]);

const ADDRESS = /^(?:[a-z]+:\/\/)?[\w.-]+:\d+(?:\/\S*)?$/;
const FILE = /^[\w./ -]+\.(?:jsonl?|ya?ml|csv|txt)$/;
const CALL = /^([A-Za-z][\w.]*)\s*(?:\(\s*([^(){}]*?)\s*(?:,?\s*\{.*\}\s*)?\)|[:\s]\s*([^(){}]+))$/;

/** Returns the right way to write a value that is not a builder; undefined if it cannot be guessed. */
export function meantData(data: unknown, family: Family): string | undefined {
  const written = typeof data === "string" ? meantText(data, family) : meantValue(data, family);
  return written === undefined ? undefined : `Write ${written}.`;
}

/** Reads `hold 16`, `hold:16`, `ramp(1, 50)`, an address, or the name of a file. */
function meantText(text: string, { noun, entries }: Family): string | undefined {
  if (noun === "a target" && ADDRESS.test(text))
    return `{ triton: { url: "${text}", model: NAME } }, { openai: { url: "${text}", model: NAME } } or { http: "${text}" }`;
  if (noun === "inputs" && FILE.test(text))
    return text.endsWith(".json") ? `{ json: ${text} }` : `{ prompts: { file: ${text} } }`;
  const [, typed = "", inBrackets, after] = CALL.exec(text) ?? [];
  const name = typed.replace(/^input\./, "");
  const values = (inBrackets ?? after ?? "").split(",").map((value) => value.trim());
  const form = entries.get(name)?.form;
  if (form === undefined) return KINDS.get(text);
  if (!values.every((value) => /^(?:[\d.]+|"[^"]*"|'[^']*')$/.test(value)))
    return values.join("") === "" ? name : undefined;
  return call(name, form, values);
}

function meantValue(data: unknown, { noun, entries }: Family): string | undefined {
  const isLoad = noun === "a load";
  const ramp = entries.get("ramp")?.form;
  if (Array.isArray(data))
    return isLoad && ramp !== undefined && data.length === 2 && data.every((one) => typeof one === "number")
      ? call("ramp", ramp, data.map(String))
      : undefined;
  if (noun === "a parameter" && typeof data !== "object")
    return typeof data === "boolean"
      ? `{ flag: ${data} }`
      : `{ ${Number.isInteger(data) ? "integer" : "number"}: ${String(data)} }`;
  if (typeof data !== "object" || data === null) return undefined;
  const pairs = Object.entries(data);
  // The YAML parser reads `{ steps: 1,2,4 }` as three fields.
  const named = pairs.find(([key]) => entries.has(key));
  const numbers = pairs.filter(([, value]) => value === null).map(([key]) => key);
  const form = named && entries.get(named[0])?.form;
  if (named !== undefined && form?.takes === "list" && numbers.length > 0 && numbers.length === pairs.length - 1)
    return call(
      named[0],
      form,
      [...numbers, String(named[1])].toSorted((a, b) => Number(a) - Number(b)),
    );
  if (!isLoad || !pairs.every(([key]) => entries.has(key))) return undefined;
  const all = pairs.map(([key, value]) => `{ ${key}: ${typeof value === "object" ? "{ … }" : String(value)} }`);
  return `them as phases, one after the other: [${all.join(", ")}]`;
}

/** Returns the right way to write several arguments that were given as one text, such as `1..8`, or as a list; undefined for other values. */
export function meantArguments(form: DataForm, body: unknown): string | undefined {
  const values = Array.isArray(body) ? body.map(String) : String(body).split(/\s*(?:\.{2,3}|->|[-–:,]|\bto\b)\s*|\s+/);
  const areNumbers = values.length > 1 && values.every((value) => /^\d+(?:\.\d+)?$/.test(value));
  return areNumbers ? call(form.name, form, values) : undefined;
}

function call(
  name: string,
  { args = [], takes }: { readonly args?: readonly string[]; readonly takes?: string },
  values: readonly string[],
): string | undefined {
  if (takes === "list") return `{ ${name}: [${values.join(", ")}] }`;
  if (values.length > args.length) return undefined;
  if (args.length === 1) return `{ ${name}: ${values[0] ?? ""} }`;
  return `{ ${name}: { ${args.map((arg, index) => `${arg}: ${values[index] ?? "…"}`).join(", ")} } }`;
}
