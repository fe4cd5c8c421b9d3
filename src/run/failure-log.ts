import { FAILURE_KINDS, type Failure, type FailureKind } from "../transport/failure.ts";

/** Failures of one kind: how many, and one of them. */
export interface FailureCount {
  readonly kind: FailureKind;
  readonly count: number;
  /** The first one's message. */
  readonly example: string;
  readonly status: number | undefined;
}

/** Counts failed requests by kind and status, with one example each. */
export class FailureLog {
  private readonly counts = new Map<string, { failure: Failure; count: number }>();
  private totalCount = 0;

  get total(): number {
    return this.totalCount;
  }

  add(failure: Failure): void {
    this.totalCount++;
    const key = `${failure.kind} ${failure.status ?? ""}`;
    const known = this.counts.get(key);
    if (known === undefined) this.counts.set(key, { failure, count: 1 });
    else known.count++;
  }

  /** The counts in the order of the kinds. */
  list(): FailureCount[] {
    return [...this.counts.values()]
      .map(({ failure, count }) => ({ kind: failure.kind, count, example: failure.message, status: failure.status }))
      .sort((a, b) => FAILURE_KINDS.indexOf(a.kind) - FAILURE_KINDS.indexOf(b.kind) || b.count - a.count);
  }
}
