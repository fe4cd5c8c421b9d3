import { type UserError, userError } from "../../plan/problem.ts";
import { countOf } from "../../plan/units.ts";
import { drawIndex, type Random } from "../../runtime/random.ts";
import type { Tokenizer } from "../../tokenize/tokenizer.ts";
import { createPhrases, FILLERS, type Phrases } from "./phrases.ts";

/** Text after which a piece's tokens are counted. */
const PROBE = "and";
/** Number of attempts to correct a text by estimate, before trying every filler. */
const MOST_ROUNDS = 8;
/** Maximum number of pieces to remove from a text's end while trying fillers. */
const MOST_DROPPED = 12;
/** Cost of a piece that adds no token itself: correct if two words make one token. */
const LEAST_COST = 0.5;
/** Maximum number of consecutive fillers. */
const MOST_STEPS = 40;
/** Maximum number of first words to try until one has the same count at a text's start and after a space. */
const MOST_OPENINGS = 30;

/** Returns the number of tokens of a text in its position. */
type Measure = (text: string) => number;

/** A text under construction, as pieces. */
interface Draft {
  readonly pieces: string[];
  readonly phrases: Phrases;
  readonly random: Random;
}

/**
 * Writes texts with an exact number of tokens. Adds words by their individual token counts, then counts the whole text and corrects it
 * until the number is exact. This works for any tokenizer.
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
   * Returns a text of exactly `tokenCount` tokens. The same tokenizer, count and random numbers give the same text, and a longer text
   * starts like a shorter one.
   * @param before text before it, joined by a space. The count is then the number of tokens that the text adds, and if possible also the
   * count of the text alone
   * @throws UserError if no text of that length is found
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
      // The count is right after `before`, but not for the text alone. Another text may satisfy both.
      fitting ??= text;
      this.begin(draft, tokenCount);
    }
    if (fitting !== undefined) return fitting;
    const mended = mend(draft, tokenCount, measure);
    if (mended === undefined) throw impossibleLength(this.tokenizer, tokenCount);
    return mended;
  }

  count(text: string): number {
    return this.tokenizer.count(text);
  }

  private createMeasure(before: string): Measure {
    if (before === "") return (text) => this.tokenizer.count(text);
    const start = `${before} `;
    const startCount = this.tokenizer.count(before);
    return (text) => (text === "" ? 0 : this.tokenizer.count(start + text) - startCount);
  }

  /**
   * Starts a new text. Its first word has the same count at a text's start and after a space, so that counts of joined texts add
   * up.
   */
  private begin(draft: Draft, tokenCount: number): void {
    let piece = draft.phrases();
    for (let tries = 0; tries < MOST_OPENINGS; tries++) {
      if (piece.startsWith(" ") && this.tokenizer.count(piece.trimStart()) === this.costOf(piece)) break;
      piece = draft.phrases();
    }
    draft.pieces.splice(0, draft.pieces.length, piece);
    this.adjust(draft, tokenCount - this.costOf(piece));
  }

  /** Adds pieces of about `missing` tokens, or removes pieces if it is negative. */
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

  /** Returns a filler that closes the gap exactly, or otherwise one that reduces it. */
  private findFiller(gap: number, random: Random): string | undefined {
    const fillers = rotate(FILLERS, random);
    return (
      fillers.find((filler) => filler.startsWith(" ") && this.costOf(filler) === gap) ??
      fillers.find((filler) => this.costOf(filler) <= gap)
    );
  }

  /** Returns the number of tokens that the piece adds after another word. */
  private costOf(piece: string): number {
    let cost = this.costs.get(piece);
    if (cost === undefined) {
      cost = Math.max(LEAST_COST, this.tokenizer.count(PROBE + piece) - this.probeCount);
      this.costs.set(piece, cost);
    }
    return cost;
  }
}

/**
 * Tries every filler after ever shorter parts of the draft, counting the whole text. Returns undefined if no text has the wanted count.
 */
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
      // A word may add no token, although the next one does.
      lengthen(text, { least: have, most: have }, measure, fillers);
    if (next === undefined) return undefined;
    text = next;
    have = measure(text);
  }
  return have === tokenCount ? text : undefined;
}

/** Returns the text with the first filler that brings its count into the range. */
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

function impossibleLength(tokenizer: Tokenizer, tokenCount: number): UserError {
  const message = `found no text with ${countOf(tokenCount, "token")}`;
  const hint = "Use another input length, or check that this is a tokenizer for English text.";
  return userError("unsupported", `tokenizer ${tokenizer.name}`, message, hint);
}
