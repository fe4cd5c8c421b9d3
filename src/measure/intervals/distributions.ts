/** Distribution functions for confidence intervals. They are exact: none uses a normal approximation. */

/** Coefficients of Lanczos' approximation of the gamma function with g = 7. */
const LANCZOS = [
  0.99999999999980993, 676.5203681218851, -1259.1392167224028, 771.32342877765313, -176.61502916214059,
  12.507343278686905, -0.13857109526572012, 9.9843695780195716e-6, 1.5056327351493116e-7,
] as const;

/** Returns the natural logarithm of the gamma function. @param x 0.5 or more */
function logGamma(x: number): number {
  const [first, ...others] = LANCZOS;
  const series = others.reduce((sum, coefficient, index) => sum + coefficient / (x + index), first as number);
  const base = x + 6.5;
  return 0.5 * Math.log(2 * Math.PI) + (x - 0.5) * Math.log(base) - base + Math.log(series);
}

const TINY = 1e-300;
const PRECISION = 1e-14;
const MOST_STEPS = 1_000_000;

/** Evaluates the continued fraction of the incomplete beta function by Lentz' method (NIST DLMF 8.17.22). */
function betaFraction(x: number, a: number, b: number): number {
  const nonZero = (value: number): number => (Math.abs(value) < TINY ? TINY : value);
  let c = 1;
  let d = 1 / nonZero(1 - ((a + b) * x) / (a + 1));
  let result = d;
  for (let m = 1; m < MOST_STEPS; m++) {
    const even = (m * (b - m) * x) / ((a + 2 * m - 1) * (a + 2 * m));
    d = 1 / nonZero(1 + even * d);
    c = nonZero(1 + even / c);
    result *= d * c;
    const odd = (-(a + m) * (a + b + m) * x) / ((a + 2 * m) * (a + 2 * m + 1));
    d = 1 / nonZero(1 + odd * d);
    c = nonZero(1 + odd / c);
    result *= d * c;
    if (Math.abs(d * c - 1) < PRECISION) return result;
  }
  return result;
}

/**
 * Returns the regularized incomplete beta function I_x(a, b), 0 to 1.
 * @param x 0 to 1
 * @param a 0.5 or more
 * @param b 0.5 or more
 */
export function regularizedBeta(x: number, a: number, b: number): number {
  if (x <= 0) return 0;
  if (x >= 1) return 1;
  const front = Math.exp(logGamma(a + b) - logGamma(a) - logGamma(b) + a * Math.log(x) + b * Math.log1p(-x));
  // The fraction converges fast on this side of the mean.
  return x < (a + 1) / (a + b + 2) ? (front * betaFraction(x, a, b)) / a : 1 - (front * betaFraction(1 - x, b, a)) / b;
}

/** Returns the probability of at most `successes` in `trials`. @param ratio probability of a success, 0 to 1 */
export function binomialAtMost(successes: number, trials: number, ratio: number): number {
  if (successes < 0) return 0;
  if (successes >= trials) return 1;
  return regularizedBeta(1 - ratio, trials - successes, successes + 1);
}

/**
 * Returns a value slightly below the quantile of the normal distribution (Abramowitz and Stegun 26.2.23, error below 4.5e-4).
 * @param upper probability of a larger value, above 0 and up to 0.5
 */
function normalQuantileBelow(upper: number): number {
  const t = Math.sqrt(-2 * Math.log(upper));
  const above = 2.515517 + t * (0.802853 + t * 0.010328);
  return Math.max(0, t - above / (1 + t * (1.432788 + t * (0.189269 + t * 0.001308))) - 5e-4);
}

const MOST_NEWTON_STEPS = 100;
/** Degrees of freedom at which Student's t is the normal distribution to five digits. */
const NORMAL_FREEDOM = 1e5;

/** Returns the value that a standard normal variable stays below with this probability. @param probability 0.5 up to, but not including 1 */
export function normalQuantile(probability: number): number {
  return studentQuantile(probability, NORMAL_FREEDOM);
}

/**
 * Returns the value that Student's t stays below with this probability. Newton's method from the normal quantile: it is below the result,
 * and the tail is convex, so each step comes closer from the same side.
 * @param probability 0.5 up to, but not including 1
 * @param freedom degrees of freedom, 1 or more; need not be whole
 */
export function studentQuantile(probability: number, freedom: number): number {
  const tail = 2 * (1 - probability);
  if (tail >= 1) return 0;
  const logScale = logGamma((freedom + 1) / 2) - logGamma(freedom / 2) - 0.5 * Math.log(freedom * Math.PI);
  let t = normalQuantileBelow(tail / 2);
  for (let step = 0; step < MOST_NEWTON_STEPS; step++) {
    // P(|T| > t) = I_x(freedom / 2, 1 / 2) with x = freedom / (freedom + t²).
    const excess = regularizedBeta(freedom / (freedom + t * t), freedom / 2, 0.5) - tail;
    const density = Math.exp(logScale - ((freedom + 1) / 2) * Math.log1p((t * t) / freedom));
    const change = excess / (2 * density);
    t += change;
    if (Math.abs(change) <= 1e-12 * t) break;
  }
  return t;
}
