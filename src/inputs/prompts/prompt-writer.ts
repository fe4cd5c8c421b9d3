import { UserError } from "../../plan/problem.ts";
import { drawIndex, type Random } from "../../runtime/random.ts";
import type { Tokenizer } from "../../tokenize/tokenizer.ts";
import { createPhrases, FILLERS, type Phrases } from "./phrases.ts";

/** What a piece's tokens are counted behind. */
const PROBE = "and";
/** Rounds in which a text is mended by estimate before each filler is tried and counted. */
const MOST_ROUNDS = 8;
/** Pieces taken from a text's end, one by one, while fillers are tried behind the rest. */
const MOST_DROPPED = 12;
/** What a piece without a token of its own is taken for: where two words are one token, that is right. */
const LEAST_COST = 0.5;
/** Fillers put one behind another. */
const MOST_STEPS = 40;
/** Openings tried until one has the same count at a text's start and behind a space. */
const MOST_OPENINGS = 30;

/** How many tokens a text has where it is to stand. */
type Measure = (text: string) => number;

/** A text that grows and shrinks by pieces, with what they are expected to count. */
interface Draft {
  readonly pieces: string[];
  readonly phrases: Phrases;
  readonly random: Random;
}

/**
 * Writes texts of an exact number of tokens. Words are added up by what each counts alone; the whole is then counted by the tokenizer
 * and mended until it agrees, so the number holds for any tokenizer, whatever it merges.
 */
export class PromptWriter {
  private readonly tokenizer: Tokenizer;
  private readonly costs = new Map<string, number>();
  private readonly probeCount: number;

  constructor(tokenizer: Tokenizer) {
    this.tokenizer = tokenizer;
    this.probeCount = tokenizer.count(PROBE);
  }

  /**
   * A text of exactly `tokenCount` tokens. The same tokenizer, count and random numbers give the same text, and a longer one begins
   * like a shorter one.
   * @param before text that stands before it, joined by a space: then the count is what the text adds to it (and, wherever such a text
   *   is found, what it counts alone)
   * @throws UserError when the tokenizer has no text of that length
   */
  write(tokenCount: number, random: Random, before = ""): string {
    if (tokenCount <= 0) return "";
    const measure = this.createMeasure(before);
    const draft: Draft = { pieces: [], phrases: createPhrases(random), random };
    let fitting: string | undefined;
    this.begin(draft, tokenCount);
    for (let round = 0; round < MOST_ROUNDS; round++) {
      const text = textOf(draft.pieces);
      const missing = tokenCount - measure(text);
      if (missing !== 0 || text === "") {
        this.adjust(draft, missing);
        continue;
      }
      if (before === "" || this.tokenizer.count(text) === tokenCount) return text;
      // It counts right where it stands, but not alone: another may do both.
      fitting ??= text;
      this.begin(draft, tokenCount);
    }
    if (fitting !== undefined) return fitting;
    const mended = mend(draft, tokenCount, measure);
    if (mended === undefined) throw new UserError([impossibleLength(this.tokenizer, tokenCount)]);
    return mended;
  }

  /** How many tokens the text has. */
  count(text: string): number {
    return this.tokenizer.count(text);
  }

  private createMeasure(before: string): Measure {
    if (before === "") return (text) => this.tokenizer.count(text);
    const start = `${before} `;
    const startCount = this.tokenizer.count(before);
    return (text) => (text === "" ? 0 : this.tokenizer.count(start + text) - startCount);
  }

  /** Writes anew. The first word counts the same at a text's start and behind a space, so that joined texts add up. */
  private begin(draft: Draft, tokenCount: number): void {
    let piece = draft.phrases();
    for (let tries = 0; tries < MOST_OPENINGS; tries++) {
      if (piece.startsWith(" ") && this.tokenizer.count(piece.trimStart()) === this.costOf(piece)) break;
      piece = draft.phrases();
    }
    draft.pieces.splice(0, draft.pieces.length, piece);
    this.adjust(draft, tokenCount - this.costOf(piece));
  }

  /** Lengthens the draft by about `missing` tokens, or shortens it when that is negative. */
  private adjust(draft: Draft, missing: number): void {
    let gap = missing;
    while (gap < 0 && draft.pieces.length > 0) gap += this.costOf(draft.pieces.pop() as string);
    while (gap > 0) {
      const piece = draft.phrases();
      const cost = this.costOf(piece);
      if (cost > gap) break;
      draft.pieces.push(piece);
      gap -= cost;
    }
    while (gap > 0) {
      const filler = this.findFiller(gap, draft.random);
      if (filler === undefined) return;
      draft.pieces.push(filler);
      gap -= this.costOf(filler);
    }
  }

  /** A filler that closes the gap, else one that leaves less of it. */
  private findFiller(gap: number, random: Random): string | undefined {
    const fillers = rotate(FILLERS, random);
    return (
      fillers.find((filler) => filler.startsWith(" ") && this.costOf(filler) === gap) ??
      fillers.find((filler) => this.costOf(filler) <= gap)
    );
  }

  /** What the piece counts behind another word. */
  private costOf(piece: string): number {
    let cost = this.costs.get(piece);
    if (cost === undefined) {
      cost = Math.max(LEAST_COST, this.tokenizer.count(PROBE + piece) - this.probeCount);
      this.costs.set(piece, cost);
    }
    return cost;
  }
}

/** Tries every filler, counted in its place, behind ever less of the draft; undefined when nothing has the wanted count. */
function mend(draft: Draft, tokenCount: number, measure: Measure): string | undefined {
  const fillers = rotate(FILLERS, draft.random);
  const fewest = Math.max(0, draft.pieces.length - MOST_DROPPED);
  for (let kept = draft.pieces.length; kept >= fewest; kept--) {
    const text = extend(textOf(draft.pieces.slice(0, kept)), tokenCount, measure, fillers);
    if (text !== undefined) return text;
  }
  return undefined;
}

function extend(start: string, tokenCount: number, measure: Measure, fillers: readonly string[]): string | undefined {
  let text = start;
  let have = measure(text);
  for (let steps = 0; have < tokenCount && steps < MOST_STEPS; steps++) {
    const next =
      lengthen(text, { least: have + 1, most: tokenCount }, measure, fillers) ??
      // Where one word more makes no token more, the one after it may.
      lengthen(text, { least: have, most: have }, measure, fillers);
    if (next === undefined) return undefined;
    text = next;
    have = measure(text);
  }
  return have === tokenCount ? text : undefined;
}

/** The text with the first filler that brings its count into the range. */
function lengthen(
  text: string,
  range: { readonly least: number; readonly most: number },
  measure: Measure,
  fillers: readonly string[],
): string | undefined {
  for (const filler of fillers) {
    const longer = (text + filler).trimStart();
    const count = measure(longer);
    if (count >= range.least && count <= range.most) return longer;
  }
  return undefined;
}

function textOf(pieces: readonly string[]): string {
  return pieces.join("").trimStart();
}

function rotate(list: readonly string[], random: Random): readonly string[] {
  const start = drawIndex(random, list.length);
  return [...list.slice(start), ...list.slice(0, start)];
}

function impossibleLength(tokenizer: Tokenizer, tokenCount: number) {
  return {
    path: `tokenizer ${tokenizer.name}`,
    message: `no text was found that has ${tokenCount} token${tokenCount === 1 ? "" : "s"}`,
    hint: "Ask for another input length, or check that it is a tokenizer for English text.",
  };
}
