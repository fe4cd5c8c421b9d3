import type { FailureCount } from "../../result/run-result.ts";
import { describeFailure, FAILURE_KINDS, type Failure } from "../../transport/failure.ts";

/** Counts failed requests by kind, status and server, with one example each. */
export class FailureLog {
  private readonly counts = new Map<string, { failure: Failure; count: number; isWarmup: boolean }>();
  private totalCount = 0;

  get total(): number {
    return this.totalCount;
  }

  add(failure: Failure, isWarmup = false): void {
    this.totalCount++;
    const key = `${failure.kind} ${failure.status ?? ""} ${failure.server ?? ""} ${isWarmup}`;
    const known = this.counts.get(key);
    if (known === undefined) this.counts.set(key, { failure, count: 1, isWarmup });
    else known.count++;
  }

  /** Returns the counts, ordered by kind. */
  list(): FailureCount[] {
    return [...this.counts.values()]
      .map(({ failure, count, isWarmup }) => {
        const { kind, status } = failure;
        return {
          kind,
          count,
          example: describeFailure(failure),
          status,
          ...(isWarmup ? { isWarmup } : {}),
        };
      })
      .sort((a, b) => FAILURE_KINDS.indexOf(a.kind) - FAILURE_KINDS.indexOf(b.kind) || b.count - a.count);
  }
}
