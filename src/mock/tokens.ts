import { userError } from "../plan/problem.ts";
import { countRequestTokens } from "../service/openai/request-text.ts";
import type { ResponseKind } from "../service/openai/response-kind.ts";
import { loadTokenizer } from "../tokenize/load-tokenizer.ts";
import type { Tokenizer } from "../tokenize/tokenizer.ts";

/** Cached counts are dropped when their bodies together exceed this number of characters. */
const MOST_CACHED_CHARACTERS = 8 * 1024 * 1024;
/** Name of the tokenizer that counts words. */
export const WORDS = "words";
/** Words to try before the words of the vocabulary. */
const COMMON_WORDS = ["the", "a", "and", "I", "1", "."];
/** Number of ids of the vocabulary to try. */
const MOST_IDS = 20_000;
/** Numbers of tokens for which a word must be exact; short ones first, because they fail first. */
const CHECKED_COUNTS = [...Array.from({ length: 20 }, (_, index) => index + 1), 64, 127, 255, 1000];

/** Tokenization by the mock's language model: counts texts and writes responses. */
export interface MockTokens {
  /** Name of the tokenizer; `words` without one. */
  readonly name: string;
  /** Returns text of a number of tokens, also when joined with others. @param isStart whether the response begins with it */
  write(count: number, isStart: boolean): string;
  /** Returns the number of prompt tokens of a request. Each token id is one; roles, images and audio have none. */
  countPrompt(kind: ResponseKind, body: string): number;
}

/**
 * Creates the tokens of a tokenizer by name, as in the client's option.
 * @param name `none` or undefined: words are tokens
 * @throws UserError if it is not found, or has no word that is one token at every position; RunError if it cannot be fetched
 */
export async function createMockTokens(name: string | undefined): Promise<MockTokens> {
  if (name === undefined || name === "none")
    return withCache(WORDS, [" the", " the"], (text) => text.match(/\S+/g)?.length ?? 0);
  const tokenizer = await loadTokenizer(name);
  return withCache(tokenizer.name, findUnit(tokenizer), (text) => tokenizer.count(text));
}

/** Text of a response's first token, and text of each later one. */
type Unit = readonly [first: string, next: string];

function withCache(name: string, [first, next]: Unit, count: (text: string) => number): MockTokens {
  const counts = new Map<string, number>();
  let cachedCharacters = 0;
  return {
    name,
    write: (tokens, isStart) => (isStart && tokens > 0 ? first + next.repeat(tokens - 1) : next.repeat(tokens)),
    countPrompt: (kind, body) => {
      const known = counts.get(body);
      if (known !== undefined) return known;
      const total = countRequestTokens(kind, body, count);
      cachedCharacters += body.length;
      if (cachedCharacters > MOST_CACHED_CHARACTERS) {
        counts.clear();
        cachedCharacters = body.length;
      }
      counts.set(body, total);
      return total;
    },
  };
}

/** Returns a word that is one token at the start of a text and after itself. @throws UserError if there is none */
function findUnit(tokenizer: Tokenizer): Unit {
  const fits = ([first, next]: Unit): boolean =>
    CHECKED_COUNTS.every((count) => tokenizer.count(first + next.repeat(count - 1)) === count);
  for (const word of candidates(tokenizer))
    for (const unit of [
      [` ${word}`, ` ${word}`],
      [word, ` ${word}`],
      [word, word],
    ] as const)
      if (fits(unit)) return unit;
  const message = `cannot be used for the embedded language model: no word of ${tokenizer.name} is always one token`;
  throw userError("unsupported", { setting: "inputs.tokenizer" }, message, "Use another tokenizer.", tokenizer.name);
}

function* candidates(tokenizer: Tokenizer): Generator<string> {
  yield* COMMON_WORDS;
  for (let id = 0; id < MOST_IDS; id++) {
    const word = tokenizer.decode([id]).trim();
    if (word !== "") yield word;
  }
}
