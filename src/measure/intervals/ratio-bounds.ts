const NORMAL_95 = 1.959964;

/**
 * Returns Wilson's 95 % interval of a ratio of requests, such as failed ones (Brown, Cai and DasGupta, Interval estimation for a binomial
 * proportion, 2001). @param total 1 or more
 */
export function ratioBounds(count: number, total: number): { readonly low: number; readonly high: number } {
  const squared = NORMAL_95 ** 2;
  const ratio = count / total;
  const center = (ratio + squared / (2 * total)) / (1 + squared / total);
  const half =
    (NORMAL_95 / (1 + squared / total)) * Math.sqrt((ratio * (1 - ratio)) / total + squared / (4 * total ** 2));
  return { low: count === 0 ? 0 : Math.max(0, center - half), high: count === total ? 1 : Math.min(1, center + half) };
}
