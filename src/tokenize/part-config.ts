import { isObject } from "../plan/objects.ts";
import { problem, UserError } from "../plan/problem.ts";

/** Access to the parts of a `tokenizer.json`: plain data whose fields depend on its `type`. */

/** One part, for example `{"type": "Strip", "content": " ", "start": 1, "stop": 0}`. */
export type PartConfig = Readonly<Record<string, unknown>>;

/** The hint for a `tokenizer.json` that cannot be used. */
export const TOKENIZER_FILE_HINT = "Give a tokenizer.json of HuggingFace's tokenizers library.";

/** Error for a `tokenizer.json` that cannot be used. Some errors occur only when a text is encoded. */
export class TokenizerFileError extends UserError {
  /** The part, and the reason. */
  readonly reason: string;

  constructor(reason: string) {
    super([problem("unsupported", { setting: "inputs.tokenizer" }, `cannot be used: ${reason}`, TOKENIZER_FILE_HINT)]);
    this.name = "TokenizerFileError";
    this.reason = reason;
  }
}

/** Returns a part of the file; undefined if it is null or absent. Throws {@link TokenizerFileError}. */
export function readPart(value: unknown, what: string): PartConfig | undefined {
  if (value === undefined || value === null) return undefined;
  if (!isObject(value)) throw new TokenizerFileError(`${what} is not an object`);
  return value;
}

/** Returns the parts of a sequence. Throws {@link TokenizerFileError}. */
export function readParts(config: PartConfig, field: string): PartConfig[] {
  const parts = config[field];
  if (!Array.isArray(parts) || !parts.every(isObject))
    throw new TokenizerFileError(`${field} is not a list of objects`);
  return parts;
}

/** Returns the text in a field, or the default. */
export function readText(config: PartConfig, field: string, otherwise: string): string {
  const value = config[field];
  return typeof value === "string" ? value : otherwise;
}

/** Returns the text in a field; undefined if it is null or absent. */
export function readOptionalText(config: PartConfig, field: string): string | undefined {
  const value = config[field];
  return typeof value === "string" ? value : undefined;
}

/** Returns the boolean in a field, or the default. */
export function readFlag(config: PartConfig, field: string, otherwise: boolean): boolean {
  const value = config[field];
  return typeof value === "boolean" ? value : otherwise;
}

/** Returns the number in a field, or the default. */
export function readNumber(config: PartConfig, field: string, otherwise: number): number {
  const value = config[field];
  return typeof value === "number" ? value : otherwise;
}

/** Returns the table's entry for the part's type. Throws {@link TokenizerFileError} for an unsupported type. */
export function pickPart<T>(table: Readonly<Record<string, T>>, config: PartConfig, what: string): T {
  const type = readText(config, "type", "");
  const found = Object.hasOwn(table, type) ? table[type] : undefined;
  if (found === undefined) {
    const known = Object.keys(table).join(", ");
    throw new TokenizerFileError(`${what} of type ${JSON.stringify(type)} is not supported (known: ${known})`);
  }
  return found;
}
