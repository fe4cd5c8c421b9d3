import fc from "fast-check";

/** Seed and number of runs of every fuzz test: the same inputs each time, unless FUZZ_RUNS asks for more. */
export const RUNS: fc.Parameters<unknown> = {
  seed: Number(process.env["FUZZ_SEED"] ?? 20_261_121),
  numRuns: Number(process.env["FUZZ_RUNS"] ?? 600),
  endOnFailure: true,
};

/** `RUNS` over `divisor`, for properties that cost more. */
export function fewerRuns(divisor: number): fc.Parameters<unknown> {
  return { ...RUNS, numRuns: Math.max(5, Math.floor((RUNS.numRuns ?? 600) / divisor)) };
}

/** Where to cut a sequence of bytes. */
export function cuts(): fc.Arbitrary<number[]> {
  return fc.array(fc.nat({ max: 4000 }), { maxLength: 8 });
}

/** The bytes cut at the given points, taken modulo their length. */
export function cutAt(bytes: Uint8Array, points: readonly number[]): Uint8Array[] {
  const sorted = points.map((point) => (bytes.length === 0 ? 0 : point % bytes.length)).sort((a, b) => a - b);
  const pieces: Uint8Array[] = [];
  let start = 0;
  for (const point of [...sorted, bytes.length]) {
    pieces.push(bytes.slice(start, point));
    start = point;
  }
  return pieces;
}

/** Changes to bytes: overwritten, taken out, put in, cut off. */
export type Mutation =
  | { readonly kind: "set"; readonly at: number; readonly byte: number }
  | { readonly kind: "drop"; readonly at: number; readonly count: number }
  | { readonly kind: "insert"; readonly at: number; readonly bytes: Uint8Array }
  | { readonly kind: "cut"; readonly at: number };

export function mutations(): fc.Arbitrary<Mutation[]> {
  const at = fc.nat({ max: 4000 });
  const change: fc.Arbitrary<Mutation> = fc.oneof(
    fc.record({ kind: fc.constant("set" as const), at, byte: fc.nat({ max: 255 }) }),
    fc.record({ kind: fc.constant("drop" as const), at, count: fc.integer({ min: 1, max: 20 }) }),
    fc.record({ kind: fc.constant("insert" as const), at, bytes: fc.uint8Array({ minLength: 1, maxLength: 20 }) }),
    fc.record({ kind: fc.constant("cut" as const), at }),
  );
  return fc.array(change, { minLength: 1, maxLength: 5 });
}

export function mutate(bytes: Uint8Array, changes: readonly Mutation[]): Uint8Array {
  let list = [...bytes];
  for (const change of changes) {
    const at = list.length === 0 ? 0 : change.at % list.length;
    if (change.kind === "set") list[at] = change.byte;
    else if (change.kind === "drop") list.splice(at, change.count);
    else if (change.kind === "insert") list.splice(at, 0, ...change.bytes);
    else list = list.slice(0, at);
  }
  return new Uint8Array(list);
}
