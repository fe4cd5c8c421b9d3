import { existsSync } from "node:fs";
import { word } from "../plan/messages.ts";
import { messageOf, UserError } from "../plan/problem.ts";
import type { ListedModel } from "../service/service.ts";
import { loadTokenizer, nearestTokenizer } from "../tokenize/load-tokenizer.ts";
import { findEncoding } from "../tokenize/tiktoken-names.ts";

/** Finds the tokenizer of a language model, if its server names it and it can be loaded here. */

/** The tokenizer to use. */
export interface FoundTokenizer {
  /** `none`: the server counts. */
  readonly name: string;
  /** A sentence for the user. Absent: there is nothing to report. */
  readonly text?: string;
  /** Whether a tokenizer was found that cannot be loaded here. Default: false */
  readonly isRefused?: boolean;
}

/** Loads a tokenizer. Rejects like `loadTokenizer`. */
export type TryTokenizer = (name: string) => Promise<unknown>;

/**
 * Returns the tokenizer that the server names, or that has the model's name; `none` if it cannot be loaded here.
 * @param load loads a tokenizer. Default: to discard it
 */
export async function findTokenizer(
  model: Pick<ListedModel, "name" | "tokenizer">,
  load: TryTokenizer = loadTokenizer,
): Promise<FoundTokenizer> {
  const reasons: string[] = [];
  for (const name of [model.tokenizer, model.name].filter((one) => one !== undefined)) {
    // A name without an organisation is rarely on the hub, and querying the hub takes time.
    if (!name.includes("/") && findEncoding(name) === undefined && !existsSync(name)) continue;
    const problem = await findTokenizerProblem(name, load);
    if (problem === undefined) return { name };
    reasons.push(`${name} ${problem}`);
  }
  const why = reasons.length === 0 ? "is not known" : "cannot be loaded";
  const detail = reasons.length === 0 ? "" : ` (${reasons[0]})`;
  const text = `The tokenizer of ${model.name} ${why}${detail}: the server counts tokens.`;
  return { name: "none", text, isRefused: reasons.length > 0 };
}

/** Returns why a tokenizer cannot be loaded; undefined if it can, and for `none`. @param load as in {@link findTokenizer} */
export async function findTokenizerProblem(
  name: string,
  load: TryTokenizer = loadTokenizer,
): Promise<string | undefined> {
  if (name === "none") return undefined;
  try {
    await load(name);
    return undefined;
  } catch (error) {
    return error instanceof UserError
      ? word(error.problems[0]?.message ?? "")
      : `cannot be loaded: ${messageOf(error)}`;
  }
}

/** Returns a sentence that suggests a tokenizer for a mistyped name, followed by a space; empty if no name is similar. */
export async function suggestTokenizer(name: string): Promise<string> {
  const near = await nearestTokenizer(name);
  return near === undefined ? "" : `Did you mean ${near}? `;
}
