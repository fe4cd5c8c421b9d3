import { type Problem, UserError } from "../../plan/problem.ts";
import { drawNormal, type Random } from "../../runtime/random.ts";

/** How long prompts and answers are, in tokens. */

/** A normal distribution; with a deviation of 0 always the mean. */
export interface Spread {
  readonly mean: number;
  readonly stddev: number;
}

/** One kind of request of a mix. */
export interface SequencePair {
  readonly input: Spread;
  readonly output: Spread;
  /** How many of a hundred requests are of this kind. */
  readonly sharePct: number;
}

/**
 * A count of tokens, at least 1: a number of the distribution, cut to a whole one. (GenAI-Perf also makes empty prompts where the
 * distribution falls below 1; servers refuse them.)
 */
export function drawTokenCount(random: Random, { mean, stddev }: Spread): number {
  return Math.max(1, Math.trunc(drawNormal(random, mean, stddev)));
}

/** A prompt's tokens: none where none are asked for, and otherwise as {@link drawTokenCount}. */
export function drawInputTokens(random: Random, spread: Spread): number {
  return spread.mean === 0 && spread.stddev === 0 ? 0 : drawTokenCount(random, spread);
}

/** A whole number, `least` or more, rounded as Python rounds: halves to the even one. */
export function drawRounded(random: Random, { mean, stddev }: Spread, least: number): number {
  const value = Math.max(least, drawNormal(random, mean, stddev));
  const below = Math.floor(value);
  if (value - below !== 0.5) return Math.round(value);
  return below % 2 === 0 ? below : below + 1;
}

/** The kind of the next request. */
export function drawPair(random: Random, mix: readonly SequencePair[]): SequencePair {
  let rest = random() * 100;
  for (const pair of mix) {
    rest -= pair.sharePct;
    if (rest < 0) return pair;
  }
  return mix.at(-1) as SequencePair;
}

const PAIR = /^\(?(\d+)(?:\|(\d+(?:\.\d+)?))?,(\d+)(?:\|(\d+(?:\.\d+)?))?\)?:(\d+(?:\.\d+)?)$/;

/** Shares may miss 100 by this much, in percent: a third cannot be written exactly. */
const SHARE_TOLERANCE = 0.5;

/**
 * A mix of input and output lengths as AIPerf's `--sequence-distribution` writes it: `256,128:40;512,256:60`, with deviations
 * `256|10,128|5:40;…`, in brackets `[(256,128):40,(512,256):60]`, or JSON `{"pairs": [{"isl": 256, "osl": 128, "prob": 40}, …]}` with
 * `isl_stddev` and `osl_stddev`. Shares are percentages.
 * @throws UserError naming the part that cannot be read, and when shares do not add up to 100
 */
export function parseSequenceMix(text: string, path: string): SequencePair[] {
  const trimmed = text.trim();
  const pairs = trimmed.startsWith("{") ? parseJsonMix(trimmed, path) : parseTextMix(trimmed, path);
  const problems: Problem[] = [];
  const sum = pairs.reduce((total, pair) => total + pair.sharePct, 0);
  if (Math.abs(sum - 100) > SHARE_TOLERANCE) {
    problems.push({
      path,
      message: `its shares add up to ${Number(sum.toFixed(2))}, not to 100`,
      value: text,
      hint: "Give percentages, as 256,128:40;512,256:60.",
    });
  }
  if (pairs.some((pair) => pair.input.mean < 1 || pair.output.mean < 1)) {
    problems.push({ path, message: "has a length below 1", value: text, hint: "Give lengths of at least one token." });
  }
  if (problems.length > 0) throw new UserError(problems);
  return pairs;
}

function parseTextMix(text: string, path: string): SequencePair[] {
  const inner = text.replace(/^\[|\]$/g, "").replaceAll(/\s/g, "");
  const parts = inner.includes(";") ? inner.split(";") : inner.split(/,(?=\()/);
  return parts
    .filter((part) => part !== "")
    .map((part) => {
      const match = PAIR.exec(part);
      if (match === null) throw unreadableMix(part, path);
      const [, input, inputStddev = "0", output, outputStddev = "0", share] = match;
      return toPair([input, inputStddev, output, outputStddev, share].map(Number));
    });
}

function parseJsonMix(text: string, path: string): SequencePair[] {
  let pairs: unknown;
  try {
    pairs = (JSON.parse(text) as { pairs?: unknown }).pairs;
  } catch {
    throw unreadableMix(text, path);
  }
  if (!Array.isArray(pairs)) throw unreadableMix(text, path);
  return pairs.map((pair: Record<string, unknown>) => {
    const numbers = [pair["isl"], pair["isl_stddev"] ?? 0, pair["osl"], pair["osl_stddev"] ?? 0, pair["prob"]];
    if (!numbers.every((value) => typeof value === "number")) throw unreadableMix(JSON.stringify(pair), path);
    return toPair(numbers);
  });
}

function toPair(numbers: readonly number[]): SequencePair {
  const [input, inputStddev, output, outputStddev, sharePct] = numbers as [number, number, number, number, number];
  return {
    input: { mean: input, stddev: inputStddev },
    output: { mean: output, stddev: outputStddev },
    sharePct,
  };
}

function unreadableMix(part: string, path: string): UserError {
  return new UserError([
    {
      path,
      message: "is no mix of input and output lengths",
      value: part,
      hint: "Type INPUT,OUTPUT:PERCENT;…, as 256,128:40;512,256:60, with deviations 256|10,128|5:40;….",
    },
  ]);
}
