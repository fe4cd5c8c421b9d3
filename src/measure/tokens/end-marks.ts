import type { StreamEnd } from "../../service/openai/stream-end.ts";

/** Number of streams without an end mark after which the server is assumed to send none. */
const MOST_UNKNOWN = 1000;

/**
 * Decides whether a server marks the end of its streams. If so, a stream without the mark was cut off and has failed; otherwise
 * such a stream is complete. The first mark decides, or 1,000 streams without one.
 */
export class EndMarks {
  state: "unknown" | "marked" | "unmarked" = "unknown";
  private unmarkedCount = 0;

  /** Returns whether this stream decided. */
  note(end: StreamEnd | undefined): boolean {
    if (end === undefined || this.state !== "unknown") return false;
    if (end.isMarked) this.state = "marked";
    else if (++this.unmarkedCount >= MOST_UNKNOWN) this.state = "unmarked";
    return this.state !== "unknown";
  }
}
