import type { FailureCount, WrongResponse } from "../../result/run-result.ts";
import { describeFailure, FAILURE_KINDS, type Failure } from "../../transport/failure.ts";

/** Maximum number of wrong responses that are kept. */
const MOST_RESPONSES = 3;

/** Counts failed requests by kind, status and server, with one example each. */
export class FailureLog {
  private readonly counts = new Map<
    string,
    { failure: Failure; count: number; isWarmup: boolean; responses: WrongResponse[] }
  >();
  private totalCount = 0;

  get total(): number {
    return this.totalCount;
  }

  add(failure: Failure, isWarmup = false): void {
    this.totalCount++;
    const key = `${failure.kind} ${failure.status ?? ""} ${failure.server ?? ""} ${isWarmup}`;
    const known = this.counts.get(key);
    const entry = known ?? { failure, count: 0, isWarmup, responses: [] };
    entry.count++;
    const { message: reason, excerpt: response } = failure;
    if (response !== undefined && entry.responses.length < MOST_RESPONSES) entry.responses.push({ reason, response });
    if (known === undefined) this.counts.set(key, entry);
  }

  /** Returns the counts, ordered by kind. */
  list(): FailureCount[] {
    return [...this.counts.values()]
      .map(({ failure, count, isWarmup, responses }) => {
        const { kind, status } = failure;
        return {
          kind,
          count,
          example: describeFailure(failure),
          status,
          ...(responses.length > 0 ? { responses } : {}),
          ...(isWarmup ? { isWarmup } : {}),
        };
      })
      .sort((a, b) => FAILURE_KINDS.indexOf(a.kind) - FAILURE_KINDS.indexOf(b.kind) || b.count - a.count);
  }
}
