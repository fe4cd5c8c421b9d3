/** The requests in flight at one moment. */
export interface OpenRequests {
  readonly count: number;
  /** Sum of the times since each request was sent, in nanoseconds. */
  readonly ageSumNs: number;
}

export const NO_OPEN_REQUESTS: OpenRequests = { count: 0, ageSumNs: 0 };

/** Summarizes requests in flight. @param sentNs monotonic send time of each */
export function sumOpenRequests(sentNs: readonly number[], atNs: number): OpenRequests {
  return { count: sentNs.length, ageSumNs: sentNs.reduce((sum, ns) => sum + Math.max(0, atNs - ns), 0) };
}
