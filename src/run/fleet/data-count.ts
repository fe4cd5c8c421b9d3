/**
 * The number of requests that several senders have sent of the data together, from which the next load continues: at each load another number of
 * senders may own some of it, and their parts of a number of requests differ by one.
 */
export class DataCount {
  /** Infinite while it is unknown: the load has no number of requests. */
  private count = 0;
  /** Number of requests that were sent before the data began again. */
  private rewoundCount = 0;

  /** Begins a load of this number of requests. Returns the number of those before it; undefined: unknown. */
  begin(quota: number): number | undefined {
    const before = this.count;
    this.count += quota;
    return Number.isFinite(before) ? before : undefined;
  }

  /** Adds requests to those of the load. */
  add(quota: number): void {
    this.count += quota;
  }

  /** The data begins again. @param sentCount number of requests since the senders were opened */
  rewind(sentCount: number): void {
    this.count = 0;
    this.rewoundCount = sentCount;
  }

  /** Nothing is sent any more. @param sentCount number of requests since the senders were opened */
  set(sentCount: number): void {
    this.count = sentCount - this.rewoundCount;
  }
}
