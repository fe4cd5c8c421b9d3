const SEPARATION = 3;

/** The state after seeding with 1 and discarding 310 values. It never changes, so it is precomputed. */
const INITIAL_STATE: readonly number[] = [
  0x991539b1, 0x16a5bce3, 0x6774a4cd, 0x3e01511e, 0x4e508aaa, 0x61048c05, 0xf5500617, 0x846b7115, 0x6a19892c,
  0x896a97af, 0xdb48f936, 0x14898454, 0x37ffd106, 0xb58bff9c, 0x59e17104, 0xcf918a49, 0x09378c83, 0x52c7a471,
  0x8d293ea9, 0x1f4fc301, 0xc3db71be, 0x39b44e1c, 0xf8a44ef9, 0x4c8b80b1, 0x19edc328, 0x87bf4bdd, 0xc9b240e5,
  0xe9ee4b1b, 0x4382aee7, 0x535b6b41, 0xf3bec5da,
];
const DEGREE = INITIAL_STATE.length;

/**
 * Returns the low bytes of successive values of glibc's `rand()` with the default seed 1: `67 c6 69 73 51 ff 4a ec …`. perf_analyzer fills
 * random tensors with them. The generator is glibc's additive feedback generator of degree 31 (`random_r`, TYPE_3).
 */
export function glibcRandomBytes(count: number): Uint8Array {
  const state = new Uint32Array(INITIAL_STATE);
  const bytes = new Uint8Array(count);
  // The lagged sum r[n] = r[n-31] + r[n-3] in a ring: `front` is n-31, where the sum is stored, `rear` is n-3.
  let front = SEPARATION;
  let rear = 0;
  for (let i = 0; i < count; i++) {
    const sum = ((state[front] as number) + (state[rear] as number)) >>> 0;
    state[front] = sum;
    bytes[i] = sum >>> 1;
    if (++front === DEGREE) front = 0;
    if (++rear === DEGREE) rear = 0;
  }
  return bytes;
}
