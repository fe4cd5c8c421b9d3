import assert from "node:assert/strict";
import { test } from "node:test";
import { TokenColumns } from "../../../src/measure/tokens/token-columns.ts";
import { tokenRateInterval } from "../../../src/measure/tokens/token-rate-interval.ts";

/** The coverage of these intervals is simulated in `limits/coverage.test.ts`. */

/** A request that ends each 10 ms, from any origin of time. */
function makeColumns(count: number, originNs = 0): TokenColumns {
  const columns = new TokenColumns();
  for (let row = 0; row < count; row++) columns.addPlain(originNs + row * 1e7, 5e6);
  return columns;
}

const intervalOf = (weights: readonly number[], originNs = 0) =>
  tokenRateInterval(
    {
      columns: makeColumns(weights.length, originNs),
      weights: Float64Array.from(weights),
      durationNs: weights.length * 1e7,
    },
    (100 * weights.reduce((sum, one) => sum + (Number.isNaN(one) ? 0 : one), 0)) / weights.length,
    0.95,
  );
const widthOf = ({ low, high }: ReturnType<typeof intervalOf>): number => (high as number) - (low as number);
const even = new Array<number>(1024).fill(10);

test("lengths that vary widen the interval, wherever times begin", () => {
  const varied = even.map((_, at) => ((at * 7919) % 1024) / 51.2);
  assert.ok(widthOf(intervalOf(even)) < 20, String(widthOf(intervalOf(even))));
  assert.ok(widthOf(intervalOf(varied)) > 2 * widthOf(intervalOf(even)));
  assert.ok(Math.abs(widthOf(intervalOf(varied, 7e15)) - widthOf(intervalOf(varied))) < 1);
});

test("a request without a value adds nothing", () => {
  const gaps = even.map((one, at) => (at % 2 === 0 ? one : Number.NaN));
  const { low, high } = intervalOf(gaps);
  assert.ok(low !== null && high !== null && low <= 500 && 500 <= high);
});

test("nothing good at all has an upper end, and a short measurement no interval", () => {
  const { low, high } = intervalOf(even.map(() => 0));
  // -ln(0.025) in 10.24 s.
  assert.deepEqual([low, high?.toFixed(3)], [0, (3.68888 / 10.24).toFixed(3)]);
  const short = { columns: makeColumns(4), weights: Float64Array.of(1, 1, 1, 1), durationNs: 1e6 };
  assert.deepEqual(tokenRateInterval(short, 4000, 0.95), { low: null, high: null });
});
