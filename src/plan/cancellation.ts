/** Requests that are given up on purpose, as users do who close a page. */
export interface CancellationPlan {
  /** Share of the requests, above 0 to 100. */
  readonly sharePct: number;
  /** From the moment when a request was handed to the socket as a whole; 0: at once. */
  readonly delayMs: number;
  /** Which requests they are: the same ones of a run for the same seed, counted in the order of sending. */
  readonly seed: number;
}
