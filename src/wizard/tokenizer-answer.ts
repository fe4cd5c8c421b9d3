import { messageOf, UserError } from "../plan/problem.ts";
import { loadTokenizer, nearestTokenizer } from "../tokenize/load-tokenizer.ts";

/** What the wizard says about the name of a tokenizer. */

/** Returns why a tokenizer cannot be loaded; undefined when it can. */
export async function findTokenizerProblem(name: string): Promise<string | undefined> {
  try {
    await loadTokenizer(name);
    return undefined;
  } catch (error) {
    return error instanceof UserError ? error.problems[0]?.message : `cannot be loaded: ${messageOf(error)}`;
  }
}

/** Returns a sentence that suggests a tokenizer for a mistyped name, with a space after it; empty when no name is similar. */
export async function suggestTokenizer(name: string): Promise<string> {
  const near = await nearestTokenizer(name);
  return near === undefined ? "" : `Did you mean ${near}? `;
}
