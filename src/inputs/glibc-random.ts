/**
 * The numbers of glibc's `rand()` without a seed, which perf_analyzer fills random tensors with: the same bytes in every run, so
 * results stay comparable. The generator is glibc's additive feedback generator of degree 31 (`random_r`, TYPE_3), seed 1.
 */

const DEGREE = 31;
const SEPARATION = 3;
const DISCARDED = 310;

/** Fills a new array with the low bytes of successive `rand()` values: `67 c6 69 73 51 ff 4a ec …`. */
export function glibcRandomBytes(count: number): Uint8Array {
  const state = initialState();
  const bytes = new Uint8Array(count);
  // The lagged sum r[n] = r[n-31] + r[n-3] in a ring: `front` is n-31, where the sum goes, `rear` is n-3.
  let front = SEPARATION;
  let rear = 0;
  for (let i = -DISCARDED; i < count; i++) {
    const sum = ((state[front] as number) + (state[rear] as number)) >>> 0;
    state[front] = sum;
    if (i >= 0) bytes[i] = sum >>> 1;
    if (++front === DEGREE) front = 0;
    if (++rear === DEGREE) rear = 0;
  }
  return bytes;
}

function initialState(): Uint32Array {
  const state = new Uint32Array(DEGREE);
  let word = 1;
  state[0] = word;
  for (let i = 1; i < DEGREE; i++) {
    // 16807 * word mod (2^31 - 1), below 2^53 throughout.
    word = (16807 * word) % 2147483647;
    state[i] = word;
  }
  return state;
}
