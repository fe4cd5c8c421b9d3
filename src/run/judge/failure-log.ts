import type { FailureCount, WrongAnswer } from "../../result/run-result.ts";
import { describeFailure, FAILURE_KINDS, type Failure } from "../../transport/failure.ts";

/** Most wrong answers that are kept. */
const MOST_ANSWERS = 3;

/** Counts failed requests by kind, status and server, with one example each. */
export class FailureLog {
  private readonly counts = new Map<
    string,
    { failure: Failure; count: number; isWarmup: boolean; answers: WrongAnswer[] }
  >();
  private totalCount = 0;

  get total(): number {
    return this.totalCount;
  }

  add(failure: Failure, isWarmup = false): void {
    this.totalCount++;
    const key = `${failure.kind} ${failure.status ?? ""} ${failure.server ?? ""} ${isWarmup}`;
    const known = this.counts.get(key);
    const entry = known ?? { failure, count: 0, isWarmup, answers: [] };
    entry.count++;
    const { message: reason, excerpt: answer } = failure;
    if (answer !== undefined && entry.answers.length < MOST_ANSWERS) entry.answers.push({ reason, answer });
    if (known === undefined) this.counts.set(key, entry);
  }

  /** Returns the counts, ordered by kind. */
  list(): FailureCount[] {
    return [...this.counts.values()]
      .map(({ failure, count, isWarmup, answers }) => {
        const { kind, status } = failure;
        return {
          kind,
          count,
          example: describeFailure(failure),
          status,
          ...(answers.length > 0 ? { answers } : {}),
          ...(isWarmup ? { isWarmup } : {}),
        };
      })
      .sort((a, b) => FAILURE_KINDS.indexOf(a.kind) - FAILURE_KINDS.indexOf(b.kind) || b.count - a.count);
  }
}
