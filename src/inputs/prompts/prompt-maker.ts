import { UserError } from "../../plan/problem.ts";
import { setting } from "../../plan/setting-names.ts";
import { createRandomFor, drawIndex, type Random } from "../../runtime/random.ts";
import type { PromptEntry } from "../../service/openai/prompt-entry.ts";
import type { Tokenizer } from "../../tokenize/tokenizer.ts";
import type { MediaEncoders } from "../media/encoders.ts";
import { makeAudio } from "../media/synthetic-audio.ts";
import { makeImage } from "../media/synthetic-image.ts";
import { BlockPrompts } from "./block-prompts.ts";
import { drawInputTokens, drawPair, drawTokenCount } from "./lengths.ts";
import { PromptWriter } from "./prompt-writer.ts";
import type { PromptSettings } from "./settings.ts";

/** Which request something is made for: a list's name (a file's, or of the made-up data) and a position in it. */
export interface Slot {
  readonly list: string;
  /** From 0. */
  readonly position: number;
}

/** How long one request's prompt and answer are, in tokens. */
export interface Lengths {
  readonly input: number;
  /** Left to the server when absent. */
  readonly output?: number;
}

/** What a request or session begins with, before its first prompt. */
export interface Opening {
  readonly frame: Pick<PromptEntry, "system" | "userContext">;
  /** Joined to the first prompt. */
  readonly prefix: string | undefined;
  /** All of it joined as input lengths are counted; empty when there is none. */
  readonly before: string;
}

/** How a session's later turns begin. */
export const NO_OPENING: Opening = { frame: {}, prefix: undefined, before: "" };

/** Makes the parts of requests: everything for a slot follows from the seed and the slot alone, in whatever order it is asked for. */
export class PromptMaker {
  readonly settings: PromptSettings;
  private readonly tokenizer: Tokenizer | undefined;
  private writerMade: PromptWriter | undefined;
  private blocksMade: BlockPrompts | undefined;
  private readonly prefixes = new Map<number, string>();
  private systemMade: string | undefined;
  /** Where all requests have the same: nothing is drawn then. */
  private readonly fixedLengths: Lengths | undefined;

  /** @param tokenizer only needed where prompts are made up or counted */
  constructor(settings: PromptSettings, tokenizer: Tokenizer | undefined) {
    this.settings = settings;
    this.tokenizer = tokenizer;
    this.fixedLengths = findFixedLengths(settings);
  }

  /** Drawn from the mix, or from the run's input and output lengths. */
  lengths({ list, position }: Slot): Lengths {
    const { seed, mix, inputTokens, outputTokens } = this.settings;
    if (this.fixedLengths !== undefined) return this.fixedLengths;
    const random = createRandomFor(seed, "length", list, position);
    const pair = mix === undefined ? undefined : drawPair(random, mix);
    const input = drawInputTokens(random, pair?.input ?? inputTokens);
    const output = pair?.output ?? outputTokens;
    return output === undefined ? { input } : { input, output: drawTokenCount(random, output) };
  }

  /**
   * A text of exactly `tokenCount` tokens.
   * @param part which of the slot's texts, from 0
   * @param before what stands before it, joined by a space
   */
  text(tokenCount: number, { list, position }: Slot, part: number, before = ""): string {
    return this.writer.write(tokenCount, createRandomFor(this.settings.seed, "text", list, position, part), before);
  }

  /** The text of a list of block ids: see {@link BlockPrompts}. */
  blocks(tokenCount: number, hashIds: readonly number[], place: string): string {
    this.blocksMade ??= new BlockPrompts(this.writer, this.settings.seed);
    return this.blocksMade.write(tokenCount, hashIds, place);
  }

  /** The slot's images and sounds, those that the run makes up. */
  media({ list, position }: Slot, encoders: MediaEncoders): Pick<PromptEntry, "images" | "audio"> {
    const { seed, images, audio, imagesPerRequest, audioPerRequest } = this.settings;
    const make = <T>(what: string, count: number, makeOne: (random: Random) => T): T[] =>
      Array.from({ length: count }, (_, part) => makeOne(createRandomFor(seed, what, list, position, part)));
    return {
      ...(images === undefined
        ? {}
        : { images: make("image", imagesPerRequest, (random) => makeImage(random, images, encoders)) }),
      ...(audio === undefined
        ? {}
        : { audio: make("audio", audioPerRequest, (random) => makeAudio(random, audio, encoders)) }),
    };
  }

  /** System message, user context and prefix prompt, those that the run has. */
  opening(slot: Slot): Opening {
    const frame = this.frame(slot);
    const prefix = this.prefix(slot);
    return { frame, prefix, before: joinBefore(frame.system, frame.userContext, prefix) };
  }

  /** Whether the run has any of them. */
  get hasOpenings(): boolean {
    const { prefix, systemTokens = 0, userContextTokens = 0 } = this.settings;
    return systemTokens > 0 || userContextTokens > 0 || (prefix !== undefined && prefix.count > 0);
  }

  /** Tokens of a text; undefined without a tokenizer. */
  count(text: string): number | undefined {
    return this.tokenizer?.count(text);
  }

  private frame({ list, position }: Slot): Pick<PromptEntry, "system" | "userContext"> {
    const { seed, systemTokens = 0, userContextTokens = 0 } = this.settings;
    if (systemTokens > 0) this.systemMade ??= this.writer.write(systemTokens, createRandomFor(seed, "system"));
    const system = this.systemMade;
    if (userContextTokens <= 0) return system === undefined ? {} : { system };
    const random = createRandomFor(seed, "context", list, position);
    const userContext = this.writer.write(userContextTokens, random, system);
    return system === undefined ? { userContext } : { system, userContext };
  }

  private prefix({ list, position }: Slot): string | undefined {
    const { seed, prefix } = this.settings;
    if (prefix === undefined || prefix.count <= 0) return undefined;
    const index = drawIndex(createRandomFor(seed, "prefix choice", list, position), prefix.count);
    let text = this.prefixes.get(index);
    if (text === undefined) {
      text = this.writer.write(prefix.tokens, createRandomFor(seed, "prefix", index));
      this.prefixes.set(index, text);
    }
    return text;
  }

  private get writer(): PromptWriter {
    if (this.writerMade !== undefined) return this.writerMade;
    if (this.tokenizer === undefined) {
      throw new UserError([
        {
          path: setting("inputs.tokenizer"),
          message: "is needed to generate prompts: their length is counted in tokens",
          hint: `Name a tokenizer, or give the prompts with ${setting("inputs.file")}.`,
        },
      ]);
    }
    this.writerMade = new PromptWriter(this.tokenizer);
    return this.writerMade;
  }
}

/** What stands before a prompt, joined by spaces as input lengths are counted. */
export function joinBefore(...texts: readonly (string | undefined)[]): string {
  return texts.filter((text) => text !== undefined && text !== "").join(" ");
}

function findFixedLengths({ mix, inputTokens, outputTokens }: PromptSettings): Lengths | undefined {
  if (mix !== undefined || inputTokens.stddev !== 0 || (outputTokens?.stddev ?? 0) !== 0) return undefined;
  const draws = (): never => {
    throw new Error("nothing is drawn without a deviation");
  };
  const input = drawInputTokens(draws, inputTokens);
  return outputTokens === undefined ? { input } : { input, output: drawTokenCount(draws, outputTokens) };
}
