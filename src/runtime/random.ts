/** Returns the next number in [0, 1). */
export type Random = () => number;

/**
 * Creates uniform numbers in [0, 1) with 53 random bits (xoshiro128**, seeded by splitmix32). The same seed gives the same numbers on every
 * runtime: like all functions here, it uses only operations that IEEE 754 defines exactly. `Math.log` may differ between engines.
 */
export function createRandom(seed: number): () => number {
  const state = seedState(seed);
  const next = (): number => {
    const [a, b, c, d] = state as unknown as [number, number, number, number];
    const result = Math.imul(rotateLeft(Math.imul(b, 5), 7), 9) >>> 0;
    const shifted = b << 9;
    state[2] = c ^ a;
    state[3] = d ^ b;
    state[1] = b ^ (state[2] as number);
    state[0] = a ^ (state[3] as number);
    state[2] = (state[2] as number) ^ shifted;
    state[3] = rotateLeft(state[3] as number, 11);
    return result;
  };
  return () => (next() * 2 ** 21 + (next() >>> 11)) / 2 ** 53;
}

function seedState(seed: number): Int32Array {
  const state = new Int32Array(4);
  let mixer = seed >>> 0;
  for (let i = 0; i < 4; i++) {
    mixer = (mixer + 0x9e3779b9) >>> 0;
    let mixed = mixer;
    mixed = Math.imul(mixed ^ (mixed >>> 16), 0x21f0aaad);
    mixed = Math.imul(mixed ^ (mixed >>> 15), 0x735a2d97);
    state[i] = mixed ^ (mixed >>> 15);
  }
  return state;
}

function rotateLeft(value: number, bits: number): number {
  return (value << bits) | (value >>> (32 - bits));
}

/**
 * Derives a seed for one purpose, so that draws for one purpose do not affect those for another, and entry 1000 does not depend
 * on the 999 before it.
 * @param purpose words and numbers, such as `"length", 12`
 */
export function deriveSeed(seed: number, ...purpose: readonly (string | number)[]): number {
  const text = [seed, ...purpose].join("\u0000");
  // FNV-1a over the characters, then the final mix of MurmurHash3, so that similar texts give unrelated seeds.
  let hash = 0x811c9dc5;
  for (let i = 0; i < text.length; i++) hash = Math.imul(hash ^ text.charCodeAt(i), 0x01000193);
  hash = Math.imul(hash ^ (hash >>> 16), 0x85ebca6b);
  hash = Math.imul(hash ^ (hash >>> 13), 0xc2b2ae35);
  return (hash ^ (hash >>> 16)) >>> 0;
}

/**
 * Returns the seed for one of several independent draws of the same kind: the seed itself for number 0, an unrelated seed for each other
 * number.
 * @param what kind: runs, levels, phases …
 */
export function seedOfNumber(seed: number, what: string, number: number): number {
  return number === 0 ? seed : deriveSeed(seed, what, number);
}

/** Creates a generator for one purpose; see {@link deriveSeed}. */
export function createRandomFor(seed: number, ...purpose: readonly (string | number)[]): Random {
  return createRandom(deriveSeed(seed, ...purpose));
}

/** Draws an integer from 0 to `count - 1`. */
export function drawIndex(random: Random, count: number): number {
  return Math.floor(random() * count);
}

/** Draws from the normal distribution (Marsaglia's polar method); returns the mean if the deviation is 0. */
export function drawNormal(random: Random, mean: number, stddev: number): number {
  if (stddev === 0) return mean;
  for (;;) {
    const x = 2 * random() - 1;
    const y = 2 * random() - 1;
    const square = x * x + y * y;
    if (square > 0 && square < 1) return mean + stddev * x * Math.sqrt((-2 * naturalLog(square)) / square);
  }
}

/** Draws from the exponential distribution with mean 1. */
export function drawExponential(random: Random): number {
  return -naturalLog(1 - random());
}

/** Draws from the gamma distribution with mean 1 and variance 1 / shape (Marsaglia and Tsang, 2000). @param shape above 0 */
export function drawGamma(random: Random, shape: number): number {
  // For a shape below 1, draw with shape + 1 and scale the result.
  const scale = (shape < 1 ? shape + 1 : shape) - 1 / 3;
  const width = 1 / Math.sqrt(9 * scale);
  for (;;) {
    const normal = drawNormal(random, 0, 1);
    const root = 1 + width * normal;
    const cube = root * root * root;
    if (cube <= 0) continue;
    const bound = (normal * normal) / 2 + scale * (1 - cube + naturalLog(cube));
    if (naturalLog(1 - random()) >= bound) continue;
    const shrink = shape < 1 ? naturalExp(naturalLog(1 - random()) / shape) : 1;
    return (scale * cube * shrink) / shape;
  }
}

const SERIES_TERMS = 18;

/**
 * Returns ln x for x > 0. Scales x by powers of two to [0.7, 1.4), where the series 2·artanh((x - 1) / (x + 1)) converges
 * fast.
 */
function naturalLog(x: number): number {
  let mantissa = x;
  let exponent = 0;
  while (mantissa < 0.7) {
    mantissa *= 2;
    exponent--;
  }
  while (mantissa >= 1.4) {
    mantissa /= 2;
    exponent++;
  }
  const ratio = (mantissa - 1) / (mantissa + 1);
  const square = ratio * ratio;
  let sum = 0;
  for (let term = SERIES_TERMS; term >= 0; term--) sum = sum * square + 1 / (2 * term + 1);
  return 2 * ratio * sum + exponent * Math.LN2;
}

/** Returns e to a power of 0 or less. Subtracts a multiple of ln 2 first, so that the series converges fast. */
function naturalExp(power: number): number {
  if (power < MIN_POWER) return 0;
  const halvings = Math.round(-power / Math.LN2);
  const rest = power + halvings * Math.LN2;
  let sum = 1;
  for (let term = SERIES_TERMS; term >= 1; term--) sum = 1 + (sum * rest) / term;
  for (let i = 0; i < halvings; i++) sum /= 2;
  return sum;
}

/** The exponential of a smaller number is below the smallest float64. */
const MIN_POWER = -745;
