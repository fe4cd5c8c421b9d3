import { existsSync } from "node:fs";
import { word } from "../plan/messages.ts";
import { messageOf, UserError } from "../plan/problem.ts";
import type { ListedModel } from "../service/service.ts";
import { loadTokenizer, nearestTokenizer } from "../tokenize/load-tokenizer.ts";
import { findEncoding } from "../tokenize/tiktoken-names.ts";

/** Which tokenizer a language model has, as far as its server says it and it can be loaded here. */

/** The tokenizer to use. */
export interface FoundTokenizer {
  /** `none`: the server counts. */
  readonly name: string;
  /** A sentence for the user. Absent: there is nothing to say. */
  readonly text?: string;
  /** Whether there is one, and it cannot be loaded here. Default: false */
  readonly isRefused?: boolean;
}

/** Returns the tokenizer that the server names, or that has the model's name; without one that can be loaded here, `none`. */
export async function findTokenizer(model: Pick<ListedModel, "name" | "tokenizer">): Promise<FoundTokenizer> {
  const reasons: string[] = [];
  for (const name of [model.tokenizer, model.name].filter((one) => one !== undefined)) {
    // A name without an organisation is rarely one of the hub, and asking for it there takes time.
    if (!name.includes("/") && findEncoding(name) === undefined && !existsSync(name)) continue;
    const problem = await findTokenizerProblem(name);
    if (problem === undefined) return { name };
    reasons.push(`${name} ${problem}`);
  }
  const why = reasons.length === 0 ? "is not known" : "cannot be loaded";
  const detail = reasons.length === 0 ? "" : ` (${reasons[0]})`;
  const text = `The tokenizer of ${model.name} ${why}${detail}: the server counts tokens.`;
  return { name: "none", text, isRefused: reasons.length > 0 };
}

/** Returns why a tokenizer cannot be loaded; undefined when it can, and for `none`. */
export async function findTokenizerProblem(name: string): Promise<string | undefined> {
  if (name === "none") return undefined;
  try {
    await loadTokenizer(name);
    return undefined;
  } catch (error) {
    return error instanceof UserError
      ? word(error.problems[0]?.message ?? "")
      : `cannot be loaded: ${messageOf(error)}`;
  }
}

/** Returns a sentence that suggests a tokenizer for a mistyped name, with a space after it; empty when no name is similar. */
export async function suggestTokenizer(name: string): Promise<string> {
  const near = await nearestTokenizer(name);
  return near === undefined ? "" : `Did you mean ${near}? `;
}
