import { type UserError, userError } from "../../plan/problem.ts";
import { createRandomFor } from "../../runtime/random.ts";
import type { PromptWriter } from "./prompt-writer.ts";

/** Tokens per block, as in Mooncake's traces. */
const BLOCK_TOKENS = 512;

/** Maximum number of cached blocks. A dropped block is written again with the same text. */
const MOST_KEPT = 2048;

/**
 * Writes prompts from blocks. The same id always gives the same text, so that a server's prefix cache has the same hits as in the recorded
 * trace. The last block of a prompt may be shorter. It is then a prefix of the whole block.
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
   * Returns a prompt of exactly `tokenCount` tokens.
   * @param place of the ids, for errors
   * @throws UserError if the number of ids does not match the token count
   */
  write(tokenCount: number, hashIds: readonly number[], place: string): string {
    const lastTokens = tokenCount - (hashIds.length - 1) * BLOCK_TOKENS;
    if (lastTokens <= 0 || lastTokens > BLOCK_TOKENS) throw mismatch(tokenCount, hashIds.length, place);
    const before = hashIds
      .slice(0, -1)
      .map((id) => this.whole(id))
      .join(" ");
    const lastId = hashIds.at(-1) as number;
    // Token counts of blocks add up, because each block starts with a word that has the same count after a space. The last block
    // corrects any difference.
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
  const message = `'input_length' ${tokenCount} and ${blockCount} 'hash_ids' do not fit: a block has ${BLOCK_TOKENS} tokens`;
  const hint = `Give an input_length from ${least} to ${blockCount * BLOCK_TOKENS}, or ${Math.ceil(tokenCount / BLOCK_TOKENS)} hash_ids.`;
  return userError("conflict", place, message, hint);
}
