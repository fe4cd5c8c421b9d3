import { defined } from "../../plan/objects.ts";
import { userError } from "../../plan/problem.ts";
import { MOST_PROMPT_TOKENS } from "../../plan/prompts.ts";
import { createRandomFor, drawIndex, type Random } from "../../runtime/random.ts";
import type { AudioClip, PromptEntry } from "../../service/openai/prompt-entry.ts";
import type { Tokenizer } from "../../tokenize/tokenizer.ts";
import { drawInputTokens, drawPair, drawTokenCount } from "../lengths.ts";
import type { MediaEncoders } from "../media/encoders.ts";
import { makeAudio } from "../media/synthetic-audio.ts";
import { makeImage } from "../media/synthetic-image.ts";
import { BlockPrompts } from "./block-prompts.ts";
import { PromptWriter } from "./prompt-writer.ts";
import type { PromptSettings } from "./settings.ts";

/** Maximum for all generated texts, which stay in memory. */
const MOST_CHARACTERS = 1024 * 1024 * 1024; // 1 GiB
/** Maximum for the images and clips of one request. */
const MOST_MEDIA_CHARACTERS = 256 * 1024 * 1024; // 256 MiB

/** Identifies a request: the name of a list (a file or generated data), and a position in it. */
export interface Slot {
  readonly list: string;
  /** Position, from 0. */
  readonly position: number;
}

/** Lengths of a request's prompt and response, in tokens. */
export interface Lengths {
  readonly input: number;
  /** Absent: the server decides. */
  readonly output?: number;
}

/** Texts before the first prompt of a request or session. */
export interface Opening {
  readonly frame: Pick<PromptEntry, "system">;
  /** Text that is joined to the first prompt. */
  readonly prefix: string | undefined;
  /** The whole opening as one text, for counting tokens. May be empty. */
  readonly before: string;
}

/** The empty opening of a session's later turns. */
export const NO_OPENING: Opening = { frame: {}, prefix: undefined, before: "" };

/** Generates the parts of requests. The result for a slot depends only on the seed and the slot, not on the order of calls. */
export class PromptMaker {
  readonly settings: PromptSettings;
  private readonly tokenizer: Tokenizer | undefined;
  private writerMade: PromptWriter | undefined;
  private blocksMade: BlockPrompts | undefined;
  private readonly prefixes = new Map<number, string>();
  private systemMade: string | undefined;
  private characterCount = 0;
  /** Set if all requests have the same lengths, so that none are drawn. */
  private readonly fixedLengths: Lengths | undefined;

  /** @param tokenizer needed only to generate or count prompts */
  constructor(settings: PromptSettings, tokenizer: Tokenizer | undefined) {
    this.settings = settings;
    this.tokenizer = tokenizer;
    this.fixedLengths = findFixedLengths(settings);
  }

  /** Returns lengths drawn from the mix, or from the run's input and output lengths. */
  lengths({ list, position }: Slot): Lengths {
    const { seed, mix, isl, osl } = this.settings;
    if (this.fixedLengths !== undefined) return this.fixedLengths;
    const random = createRandomFor(seed, "length", list, position);
    const pair = mix === undefined ? undefined : drawPair(random, mix);
    const input = drawInputTokens(random, pair?.input ?? isl);
    const output = pair?.output ?? osl;
    return output === undefined ? { input } : { input, output: drawTokenCount(random, output) };
  }

  /**
   * Returns a text of exactly `tokenCount` tokens.
   * @param part index of the text in the slot, from 0
   * @param before text before it, joined by a space
   */
  text(tokenCount: number, { list, position }: Slot, part: number, before = ""): string {
    return this.write(tokenCount, createRandomFor(this.settings.seed, "text", list, position, part), before);
  }

  /** Returns the text for a list of block ids; see {@link BlockPrompts}. */
  blocks(tokenCount: number, hashIds: readonly number[], place: string): string {
    this.blocksMade ??= new BlockPrompts(this.writer, this.settings.seed);
    return this.blocksMade.write(tokenCount, hashIds, place);
  }

  /**
   * Returns the slot's generated images and audio clips. @throws UserError if one of them, or all together, would be too
   * large
   */
  media({ list, position }: Slot, encoders: MediaEncoders): Pick<PromptEntry, "images" | "audio"> {
    const { seed, images, audio, imagesPerRequest, audioPerRequest } = this.settings;
    let characterCount = 0;
    const make = <T extends string | AudioClip>(what: string, count: number, makeOne: (random: Random) => T): T[] =>
      Array.from({ length: count }, (_, part) => {
        const made = makeOne(createRandomFor(seed, what, list, position, part));
        characterCount += typeof made === "string" ? made.length : made.base64.length;
        if (characterCount > MOST_MEDIA_CHARACTERS) {
          const message = "the generated images and clips of one request take more than 256 MiB";
          throw userError("invalid-value", "inputs", message, "Give fewer or smaller ones.");
        }
        return made;
      });
    return {
      ...(images === undefined
        ? {}
        : { images: make("image", imagesPerRequest, (random) => makeImage(random, images, encoders)) }),
      ...(audio === undefined
        ? {}
        : { audio: make("audio", audioPerRequest, (random) => makeAudio(random, audio, encoders)) }),
    };
  }

  /** Returns the run's system message and prefix prompt for a slot. */
  opening(slot: Slot): Opening {
    const { seed, systemTokens = 0 } = this.settings;
    if (systemTokens > 0) this.systemMade ??= this.write(systemTokens, createRandomFor(seed, "system"));
    const system = this.systemMade;
    const prefix = this.prefix(slot);
    return { frame: defined({ system }), prefix, before: joinBefore(system, prefix) };
  }

  /** Whether the run has any of these openings. */
  get hasOpenings(): boolean {
    const { prefix, systemTokens = 0 } = this.settings;
    return systemTokens > 0 || (prefix !== undefined && prefix.count > 0);
  }

  /** Returns the number of tokens in a text; undefined without a tokenizer. */
  count(text: string): number | undefined {
    return this.tokenizer?.count(text);
  }

  private prefix({ list, position }: Slot): string | undefined {
    const { seed, prefix } = this.settings;
    if (prefix === undefined || prefix.count <= 0) return undefined;
    const index = drawIndex(createRandomFor(seed, "prefix choice", list, position), prefix.count);
    let text = this.prefixes.get(index);
    if (text === undefined) {
      text = this.write(prefix.tokens, createRandomFor(seed, "prefix", index));
      this.prefixes.set(index, text);
    }
    return text;
  }

  /** @throws UserError immediately, if one text, or all texts of at least this number of requests together, would be too long */
  expect(requestCount: number): void {
    const { input } = this.fixedLengths ?? { input: 0 };
    limitTokens(input);
    // Each token has at least one character.
    limitCharacters(input * this.settings.textsPerRequest * requestCount);
  }

  /** @throws UserError if the text, or all texts together, would be too long */
  private write(tokenCount: number, random: Random, before?: string): string {
    limitTokens(tokenCount);
    const text = this.writer.write(tokenCount, random, before);
    this.characterCount += text.length;
    limitCharacters(this.characterCount);
    return text;
  }

  private get writer(): PromptWriter {
    if (this.writerMade !== undefined) return this.writerMade;
    if (this.tokenizer === undefined) {
      const message = "is needed to generate prompts, because their length is counted in tokens";
      throw userError("missing", { setting: "inputs.tokenizer" }, message, { say: "give-tokenizer" });
    }
    this.writerMade = new PromptWriter(this.tokenizer);
    return this.writerMade;
  }
}

function limitTokens(count: number): void {
  if (count <= MOST_PROMPT_TOKENS) return;
  const message = `a text of ${count} tokens is above the maximum of ${MOST_PROMPT_TOKENS}`;
  throw userError("invalid-value", "inputs", message, "Give shorter lengths.");
}

function limitCharacters(count: number): void {
  if (count <= MOST_CHARACTERS) return;
  const hint = "Give shorter lengths, or fewer different requests.";
  throw userError("invalid-value", "inputs", "the generated texts take more than 1 GiB", hint);
}

/** Joins the texts before a prompt with spaces, for counting tokens. Skips empty texts. */
export function joinBefore(...texts: readonly (string | undefined)[]): string {
  return texts.filter((text) => text !== undefined && text !== "").join(" ");
}

function findFixedLengths({ mix, isl, osl }: PromptSettings): Lengths | undefined {
  if (mix !== undefined || isl.stddev !== 0 || (osl?.stddev ?? 0) !== 0) return undefined;
  const draws = (): never => {
    throw new Error("nothing is drawn without a deviation");
  };
  const input = drawInputTokens(draws, isl);
  return osl === undefined ? { input } : { input, output: drawTokenCount(draws, osl) };
}
