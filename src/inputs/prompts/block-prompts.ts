import { UserError } from "../../plan/problem.ts";
import { createRandomFor } from "../../runtime/random.ts";
import type { PromptWriter } from "./prompt-writer.ts";

/** Tokens of one block, as Mooncake's traces hash them. */
export const BLOCK_TOKENS = 512;

/** Blocks kept for reuse; one that was dropped is written again, the same. */
const MOST_KEPT = 2048;

/**
 * Prompts made of blocks: the same id is the same text wherever it stands, so a server's prefix cache sees what it saw when the trace was
 * taken. The last block of a prompt may be a shorter one; it then begins as the whole block does.
 */
export class BlockPrompts {
  private readonly writer: PromptWriter;
  private readonly seed: number;
  private readonly kept = new Map<number, string>();

  constructor(writer: PromptWriter, seed: number) {
    this.writer = writer;
    this.seed = seed;
  }

  /**
   * A prompt of exactly `tokenCount` tokens.
   * @param place where the ids were read, for errors
   * @throws UserError when the ids do not make that many tokens
   */
  write(tokenCount: number, hashIds: readonly number[], place: string): string {
    const lastTokens = tokenCount - (hashIds.length - 1) * BLOCK_TOKENS;
    if (lastTokens <= 0 || lastTokens > BLOCK_TOKENS) throw mismatch(tokenCount, hashIds.length, place);
    const before = hashIds
      .slice(0, -1)
      .map((id) => this.whole(id))
      .join(" ");
    const lastId = hashIds.at(-1) as number;
    // Blocks add up, as each begins with a word that counts the same behind a space; should a tokenizer differ, the last block mends it.
    const open = before === "" ? tokenCount : tokenCount - this.writer.count(before);
    const last = this.writer.write(open, this.randomOf(lastId), before);
    return before === "" ? last : `${before} ${last}`;
  }

  private whole(id: number): string {
    const known = this.kept.get(id);
    if (known !== undefined) return known;
    if (this.kept.size >= MOST_KEPT) this.kept.delete(this.kept.keys().next().value as number);
    const text = this.writer.write(BLOCK_TOKENS, this.randomOf(id));
    this.kept.set(id, text);
    return text;
  }

  private randomOf(id: number): () => number {
    return createRandomFor(this.seed, "block", id);
  }
}

function mismatch(tokenCount: number, blockCount: number, place: string): UserError {
  const least = (blockCount - 1) * BLOCK_TOKENS + 1;
  return new UserError([
    {
      path: place,
      message: `'input_length' ${tokenCount} and ${blockCount} 'hash_ids' do not fit: a block has ${BLOCK_TOKENS} tokens`,
      hint: `Give an input_length from ${least} to ${blockCount * BLOCK_TOKENS}, or ${Math.ceil(tokenCount / BLOCK_TOKENS)} hash_ids.`,
    },
  ]);
}
