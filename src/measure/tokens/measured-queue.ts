import type { FailedResponse, MeasuredRequest, MeasuredSink } from "./answered-request.ts";
import type { EndMarks } from "./end-marks.ts";

/** Passes on single requests in order. Some must wait until it is known whether they count. */

type Entry =
  /** `cutError` is the error to report if the server turns out to mark the end of its streams. */
  | { readonly kind: "measured"; readonly request: MeasuredRequest; readonly cutError: string | undefined }
  | { readonly kind: "failed"; readonly failure: FailedResponse };

/**
 * Passes on single requests in order. Requests with a response count only inside measured windows. Requests between two windows
 * wait until it is known whether another window follows. Streams without an end mark wait until it is known whether they were
 * cut off.
 */
export class MeasuredQueue {
  private readonly sink: MeasuredSink | undefined;
  private readonly endMarks: EndMarks;
  private isOpen = false;
  /** Requests between two windows. */
  private held: Entry[] | undefined;
  private undecided: Entry[] = [];

  /** @param sink receives the requests; without it, nothing is kept */
  constructor(sink: MeasuredSink | undefined, endMarks: EndMarks) {
    this.sink = sink;
    this.endMarks = endMarks;
  }

  add(request: MeasuredRequest, cutError: string | undefined): void {
    if (this.isOpen) this.put({ kind: "measured", request, cutError });
  }

  addFailure(failure: FailedResponse): void {
    this.put({ kind: "failed", failure });
  }

  /** Starts a measurement. */
  open(): void {
    this.close();
    this.isOpen = true;
  }

  /** Ends a window. */
  hold(): void {
    this.held ??= [];
  }

  /** Called when another window follows. */
  release(): void {
    const { held = [] } = this;
    this.held = undefined;
    for (const entry of held) this.put(entry);
  }

  /** Ends the measurement. Drops responses since its last window. */
  close(): void {
    const { held = [] } = this;
    this.held = undefined;
    this.isOpen = false;
    for (const entry of held) if (entry.kind === "failed") this.put(entry);
  }

  /** Called once it is known whether the server marks the end of its streams. */
  decide(): void {
    for (const entry of this.undecided.splice(0)) this.pass(entry);
  }

  /** Called when no more requests follow. */
  finish(): void {
    this.close();
    this.decide();
  }

  private put(entry: Entry): void {
    if (this.sink === undefined) return;
    const isUndecided = entry.kind === "measured" && entry.cutError !== undefined && this.endMarks.state === "unknown";
    if (this.held !== undefined) this.held.push(entry);
    else if (isUndecided || this.undecided.length > 0) this.undecided.push(entry);
    else this.pass(entry);
  }

  private pass(entry: Entry): void {
    if (entry.kind === "failed") this.sink?.onFailure?.(entry.failure);
    else if (entry.cutError === undefined || this.endMarks.state !== "marked") this.sink?.onMeasured(entry.request);
    else this.sink?.onMeasured({ ...entry.request, answered: undefined, error: entry.cutError });
  }
}
