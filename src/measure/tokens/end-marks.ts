import type { StreamEnd } from "../../service/openai/stream-end.ts";

/** Streams without an end mark after which a server counts as one that sends none. */
const MOST_UNKNOWN = 1000;

/**
 * Whether a server marks the end of its streams. Where it does, a stream without the mark was cut and is a failure; where it does not,
 * such a stream is whole. Known with the first mark, or after 1,000 streams without one.
 */
export class EndMarks {
  state: "unknown" | "marked" | "unmarked" = "unknown";
  private unmarkedCount = 0;

  /** Returns whether this stream decided it. */
  note(end: StreamEnd | undefined): boolean {
    if (end === undefined || this.state !== "unknown") return false;
    if (end.isMarked) this.state = "marked";
    else if (++this.unmarkedCount >= MOST_UNKNOWN) this.state = "unmarked";
    return this.state !== "unknown";
  }
}
