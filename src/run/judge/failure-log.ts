import type { FailureCount, TaggedCount, WrongResponse } from "../../result/run-result.ts";
import { describeFailure, FAILURE_KINDS, type Failure } from "../../transport/failure.ts";

/** Maximum number of wrong responses that are kept. */
const MOST_RESPONSES = 3;

/** Failures of one kind, status and server. */
interface Entry {
  /** The first one. */
  readonly failure: Failure;
  count: number;
  readonly isWarmup: boolean;
  readonly responses: WrongResponse[];
  /** Number of failures by the tags of their requests. */
  readonly tagged: Map<string, TaggedCount>;
}

/** Counts failed requests by kind, status and server, with one example each. */
export class FailureLog {
  private readonly counts = new Map<string, Entry>();
  private totalCount = 0;

  get total(): number {
    return this.totalCount;
  }

  add(failure: Failure, isWarmup = false): void {
    this.totalCount++;
    const key = `${failure.kind} ${failure.status ?? ""} ${failure.server ?? ""} ${isWarmup}`;
    const known = this.counts.get(key);
    const entry: Entry = known ?? { failure, count: 0, isWarmup, responses: [], tagged: new Map() };
    entry.count++;
    const { tags } = failure;
    if (tags !== undefined) {
      const tagKey = JSON.stringify(tags);
      entry.tagged.set(tagKey, { tags, count: (entry.tagged.get(tagKey)?.count ?? 0) + 1 });
    }
    const { message: reason, excerpt: response } = failure;
    if (response !== undefined && entry.responses.length < MOST_RESPONSES) entry.responses.push({ reason, response });
    if (known === undefined) this.counts.set(key, entry);
  }

  /** Returns the counts, ordered by kind. */
  list(): FailureCount[] {
    return [...this.counts.values()]
      .map(({ failure, count, isWarmup, responses, tagged }) => {
        const { kind, status } = failure;
        return {
          kind,
          count,
          example: describeFailure(failure),
          status,
          ...(responses.length > 0 ? { responses } : {}),
          ...(isWarmup ? { isWarmup } : {}),
          ...(tagged.size > 0 ? { tagged: [...tagged.values()] } : {}),
        };
      })
      .sort((a, b) => FAILURE_KINDS.indexOf(a.kind) - FAILURE_KINDS.indexOf(b.kind) || b.count - a.count);
  }
}
