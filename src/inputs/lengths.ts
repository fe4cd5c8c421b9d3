import { parseJson } from "../plan/objects.ts";
import { type Problem, problem, UserError, userError } from "../plan/problem.ts";
import { drawNormal, type Random } from "../runtime/random.ts";

/** A normal distribution. With a deviation of 0, every value is the mean. */
export interface Spread {
  readonly mean: number;
  readonly stddev: number;
}

/** One kind of request in a mix. */
export interface SequencePair {
  readonly input: Spread;
  readonly output: Spread;
  /** Percentage of the requests, 0 to 100. */
  readonly sharePct: number;
}

/**
 * Draws a token count: a number from the distribution, truncated, at least 1. (GenAI-Perf also makes empty prompts when the number is below
 * 1, which servers reject.)
 */
export function drawTokenCount(random: Random, { mean, stddev }: Spread): number {
  return Math.max(1, Math.trunc(drawNormal(random, mean, stddev)));
}

/** Draws a prompt's token count: 0 if the mean is 0 without deviation, otherwise like {@link drawTokenCount}. */
export function drawInputTokens(random: Random, spread: Spread): number {
  return spread.mean === 0 && spread.stddev === 0 ? 0 : drawTokenCount(random, spread);
}

/** Draws an integer of at least `least`, rounded like Python: half to even. */
export function drawRounded(random: Random, { mean, stddev }: Spread, least: number): number {
  const value = Math.max(least, drawNormal(random, mean, stddev));
  const below = Math.floor(value);
  if (value - below !== 0.5) return Math.round(value);
  return below % 2 === 0 ? below : below + 1;
}

/** Draws the kind of the next request. */
export function drawPair(random: Random, mix: readonly SequencePair[]): SequencePair {
  let rest = random() * 100;
  for (const pair of mix) {
    rest -= pair.sharePct;
    if (rest < 0) return pair;
  }
  return mix.at(-1) as SequencePair;
}

const PAIR = /^\(?(\d+)(?:\|(\d+(?:\.\d+)?))?,(\d+)(?:\|(\d+(?:\.\d+)?))?\)?:(\d+(?:\.\d+)?)$/;

/** Tolerance for the sum of percentages, because one third cannot be written exactly. */
const SHARE_TOLERANCE = 0.5;

/**
 * Parses a mix of input and output lengths in AIPerf's `--sequence-distribution` syntax: `256,128:40;512,256:60`, with deviations
 * `256|10,128|5:40;…`, with brackets `[(256,128):40,(512,256):60]`, or JSON `{"pairs": [{"isl": 256, "osl": 128, "prob": 40}, …]}` with
 * `isl_stddev` and `osl_stddev`. Shares are percentages.
 * @throws UserError with the part that is not valid, and if shares do not add up to 100
 */
export function parseSequenceMix(text: string, path: string): SequencePair[] {
  const trimmed = text.trim();
  const pairs = trimmed.startsWith("{") ? parseJsonMix(trimmed, path) : parseTextMix(trimmed, path);
  const problems: Problem[] = [];
  const sum = pairs.reduce((total, pair) => total + pair.sharePct, 0);
  if (Math.abs(sum - 100) > SHARE_TOLERANCE) {
    const message = `its percentages add up to ${Number(sum.toFixed(2))}, not to 100`;
    problems.push(problem("invalid-value", path, message, "Give percentages, such as 256,128:40;512,256:60.", text));
  }
  if (pairs.some((pair) => pair.input.mean < 1 || pair.output.mean < 1)) {
    problems.push(problem("invalid-value", path, "has a length below 1", "Give lengths of at least one token.", text));
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
  const { pairs } = (parseJson(text) ?? {}) as { pairs?: unknown };
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
  const hint = "Write INPUT,OUTPUT:PERCENT;…, such as 256,128:40;512,256:60, or with deviations 256|10,128|5:40;….";
  return userError("invalid-value", path, "is not a mix of input and output lengths", hint, part);
}
