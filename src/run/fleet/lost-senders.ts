import type { LostShare } from "../../result/run-result.ts";
import type { LoadSender, SenderState } from "../send/messages.ts";
import { stateOfEnded } from "./join-parts.ts";

/** The part of a run that is missing after a sender was lost. */
export type LostPart = Pick<LostShare, "afterNs" | "fromNs" | "uncountedCount">;

/** Lost senders, and the parts of windows that are missing because of them. */
export class LostSenders {
  /** Their states when they were lost. */
  readonly states: SenderState[] = [];
  startNs: number;
  /** Start of the current window. Undefined: nothing is measured. */
  private windowStartNs: number | undefined;
  /** Number of requests that each sender had ended when its window began. */
  private readonly endedBefore = new Map<LoadSender, number>();

  /** @param startNs start of the run, if it has not begun yet */
  constructor(startNs: number) {
    this.startNs = startNs;
  }

  beginRun(startNs: number): void {
    this.startNs = startNs;
  }

  /** Records that a sender has begun a window, perhaps after another one. Call when its reply arrives. */
  senderBegan(sender: LoadSender): void {
    this.endedBefore.set(sender, endedOf(sender));
  }

  /** Records that a window has begun at all senders; undefined: nothing is measured. */
  beginWindow(startNs: number | undefined): void {
    this.windowStartNs = startNs;
  }

  /**
   * Adds a lost sender. Requests that it had reported as ended still count; the current window lacks them.
   * @param heardNs when it was last heard
   */
  add(sender: LoadSender, heardNs: number): LostPart {
    const { windowStartNs } = this;
    this.states.push(stateOfEnded(sender.progress()));
    const isCounting = windowStartNs !== undefined;
    return {
      afterNs: Math.max(0, heardNs - this.startNs),
      fromNs: isCounting ? Math.min(heardNs, windowStartNs) : heardNs,
      uncountedCount: isCounting ? endedOf(sender) - (this.endedBefore.get(sender) ?? 0) : 0,
    };
  }
}

/** Returns the number of a sender's requests that it reported as ended and that windows count. */
function endedOf(sender: LoadSender): number {
  const { completedCount, failedCount } = sender.progress();
  return completedCount + failedCount;
}
