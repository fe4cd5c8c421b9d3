/** Requests that the client cancels on purpose, like users who close a page. */
export interface CancellationPlan {
  /** Percentage of the requests, above 0 to 100. */
  readonly sharePct: number;
  /** Delay after the complete request was handed to the socket, in milliseconds; 0: at once. */
  readonly delayMs: number;
  /** Selects the requests, by the order of sending. The same seed selects the same ones. */
  readonly seed: number;
}
