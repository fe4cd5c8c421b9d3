import { readFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { createRandom } from "../../src/runtime/random.ts";
import { encodeGguf, type GgufTensor } from "./gguf.ts";

/** The vocabulary of the model, as a Hugging Face tokenizer folder. */
export const tinyTokenizer = fileURLToPath(new URL("../tokenize/fixtures/tiny/", import.meta.url));

const WIDTH = 64;
const LAYERS = 2;
const HEADS = 4;
const FEED_FORWARD = 128;
const CONTEXT_TOKENS = 131_072;
/** Far below all others: such a token is never drawn. */
const NEVER = -30;
const CHAT_TEMPLATE =
  "{% for m in messages %}<|im_start|>{{ m['role'] }}\n{{ m['content'] }}<|im_end|>\n{% endfor %}" +
  "{% if add_generation_prompt %}<|im_start|>assistant\n{% endif %}";

/**
 * A llama model of two layers with random weights: it answers nonsense in ASCII, and never ends by itself. Its first dimension is the same
 * everywhere; through it the output layer forbids special tokens and parts of UTF-8 characters.
 */
export function buildTinyLlama(): Uint8Array<ArrayBuffer> {
  const { tokens, merges, special } = readVocabulary();
  const random = createRandom(1);
  const draw = (count: number, scale: number): Float32Array =>
    Float32Array.from({ length: count }, () => (random() * 2 - 1) * Math.sqrt(3) * scale);
  const matrix = (name: string, rows: number, columns: number, scale: number): GgufTensor => ({
    name,
    shape: [columns, rows],
    values: draw(rows * columns, scale),
  });
  const ones = (name: string): GgufTensor => ({ name, shape: [WIDTH], values: new Float32Array(WIDTH).fill(1) });
  /** Leaves the first dimension as it is. */
  const keepFirst = (tensor: GgufTensor): GgufTensor => {
    tensor.values.fill(0, 0, tensor.shape[0]);
    return tensor;
  };
  const embedding = matrix("token_embd.weight", tokens.length, WIDTH, 1);
  const output = matrix("output.weight", tokens.length, WIDTH, 1);
  tokens.forEach((token, i) => {
    embedding.values[i * WIDTH] = 8;
    output.values[i * WIDTH] = special.has(token) || !/^[\u0120!-~]*$/.test(token) ? NEVER : 0;
  });
  const layers = Array.from({ length: LAYERS }, (_, layer): GgufTensor[] => [
    ones(`blk.${layer}.attn_norm.weight`),
    ones(`blk.${layer}.ffn_norm.weight`),
    matrix(`blk.${layer}.attn_q.weight`, WIDTH, WIDTH, 0.1),
    matrix(`blk.${layer}.attn_k.weight`, WIDTH, WIDTH, 0.1),
    matrix(`blk.${layer}.attn_v.weight`, WIDTH, WIDTH, 0.1),
    keepFirst(matrix(`blk.${layer}.attn_output.weight`, WIDTH, WIDTH, 0.1)),
    matrix(`blk.${layer}.ffn_gate.weight`, FEED_FORWARD, WIDTH, 0.1),
    matrix(`blk.${layer}.ffn_up.weight`, FEED_FORWARD, WIDTH, 0.1),
    keepFirst(matrix(`blk.${layer}.ffn_down.weight`, WIDTH, FEED_FORWARD, 0.1)),
  ]);
  const metadata = {
    "general.architecture": "llama",
    "general.name": "tiny-random-llama",
    "general.file_type": { u32: 0 },
    "llama.context_length": { u32: CONTEXT_TOKENS },
    "llama.embedding_length": { u32: WIDTH },
    "llama.block_count": { u32: LAYERS },
    "llama.feed_forward_length": { u32: FEED_FORWARD },
    "llama.attention.head_count": { u32: HEADS },
    "llama.attention.head_count_kv": { u32: HEADS },
    "llama.attention.layer_norm_rms_epsilon": { f32: 1e-5 },
    "llama.rope.dimension_count": { u32: WIDTH / HEADS },
    "llama.rope.freq_base": { f32: 10_000 },
    "llama.vocab_size": { u32: tokens.length },
    "tokenizer.ggml.model": "gpt2",
    "tokenizer.ggml.pre": "gpt-2",
    "tokenizer.ggml.tokens": { strings: tokens },
    "tokenizer.ggml.merges": { strings: merges },
    "tokenizer.ggml.token_type": { i32s: tokens.map((token) => (special.has(token) ? 3 : 1)) },
    "tokenizer.ggml.bos_token_id": { u32: 0 },
    "tokenizer.ggml.eos_token_id": { u32: 1 },
    "tokenizer.ggml.eot_token_id": { u32: 3 },
    "tokenizer.ggml.add_bos_token": false,
    "tokenizer.chat_template": CHAT_TEMPLATE,
  };
  return encodeGguf(metadata, [embedding, ones("output_norm.weight"), output, ...layers.flat()]);
}

interface Vocabulary {
  /** By id. */
  readonly tokens: string[];
  readonly merges: string[];
  readonly special: ReadonlySet<string>;
}

function readVocabulary(): Vocabulary {
  const { model, added_tokens: added } = JSON.parse(readFileSync(join(tinyTokenizer, "tokenizer.json"), "utf8")) as {
    model: { vocab: Record<string, number>; merges: (string | [string, string])[] };
    added_tokens: { content: string }[];
  };
  const tokens = Object.entries(model.vocab)
    .sort(([, a], [, b]) => a - b)
    .map(([token]) => token);
  const merges = model.merges.map((merge) => (typeof merge === "string" ? merge : merge.join(" ")));
  return { tokens, merges, special: new Set(added.map(({ content }) => content)) };
}
