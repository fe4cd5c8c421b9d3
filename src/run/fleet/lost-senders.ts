import type { LostShare } from "../../result/run-result.ts";
import type { LoadSender, SenderState } from "../send/messages.ts";
import { stateOfEnded } from "./join-parts.ts";

/** What a run lacks of a sender that was lost. */
export type LostPart = Pick<LostShare, "afterNs" | "fromNs" | "uncountedCount">;

/** What a fleet knows of senders that were lost, and what windows lack of them. */
export class LostSenders {
  /** Where they stood when they were lost. */
  readonly states: SenderState[] = [];
  /** Start of the run. */
  startNs: number;
  /** Start of the window that has begun. Undefined: nothing is measured. */
  private windowStartNs: number | undefined;
  /** How much had ended at each sender when its window began. */
  private readonly endedBefore = new Map<LoadSender, number>();

  /** @param startNs start of the run, until it is begun */
  constructor(startNs: number) {
    this.startNs = startNs;
  }

  /** The run begins. */
  beginRun(startNs: number): void {
    this.startNs = startNs;
  }

  /** A sender has begun a window, perhaps after another one. Call when its reply comes. */
  senderBegan(sender: LoadSender): void {
    this.endedBefore.set(sender, endedOf(sender));
  }

  /** A window has begun at all senders; undefined: nothing is measured. */
  beginWindow(startNs: number | undefined): void {
    this.windowStartNs = startNs;
  }

  /**
   * Adds a sender that was lost. What it had reported as ended still counts; the window that has begun lacks it.
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

/** Returns the number of requests that a sender reported as ended, of those that windows count. */
function endedOf(sender: LoadSender): number {
  const { completedCount, failedCount } = sender.progress();
  return completedCount + failedCount;
}
