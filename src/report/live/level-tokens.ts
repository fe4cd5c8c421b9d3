import { TokenTotals, type TotalledTokens } from "../../measure/tokens/token-totals.ts";
import { msToNs, nsToSec } from "../../plan/units.ts";
import type { RunProgress } from "../../result/observer.ts";
import { sleepUnless } from "../../runtime/clock.ts";

/** The tokens of the levels of a run while it lasts. They are counted in another thread, which is asked for them now and then. */

/** Time between two questions, but not at the beginning of a level, when numbers still change from one frame to the next. */
const ASK_NS = 1e9;
const BEGINNING_NS = 3e9;
/** Who wants them at once waits no longer than this, and asks no more often. */
const MOST_WAIT_MS = 300;

/** The tokens of a level, up to a moment ago. */
export class LevelTokens {
  readonly totals = new TokenTotals();
  /** Time in which the level was the current one until that moment. */
  spentNs = 0;

  /** Undefined before the first tokens. */
  get outputTokensPerSec(): number | undefined {
    const { sum } = this.totals.sums.outputTokens;
    return sum === 0 || this.spentNs <= 0 ? undefined : sum / nsToSec(this.spentNs);
  }
}

/** A level whose tokens are followed. */
interface FollowedLevel {
  readonly spentNs: number;
  /** Undefined when it has none. */
  readonly tokens: LevelTokens | undefined;
}

/** Reads the tokens of a run, and adds them to its levels. */
export class FollowedTokens {
  private progress: RunProgress | undefined;
  /** What is part of a level already. */
  private seen = new TokenTotals();
  private askedNs = 0;
  private openCount = 0;
  private lastReply: Promise<void> = Promise.resolve();

  /** Follows another run. */
  begin(progress: RunProgress): void {
    this.progress = progress;
    this.seen = new TokenTotals();
  }

  /** Asks again after a second, and sooner at the beginning of a level, unless the last reply is still to come. */
  askAgain(level: FollowedLevel, atNs: number): void {
    const isDue = level.spentNs < BEGINNING_NS || atNs - this.askedNs >= ASK_NS;
    if (this.openCount === 0 && isDue) this.ask(level, atNs);
  }

  /** Asks for the tokens that came until now, which belong to a level. */
  ask({ tokens, spentNs }: FollowedLevel, atNs: number): void {
    const { progress } = this;
    if (progress?.tokenTotals === undefined || tokens === undefined) return;
    this.askedNs = atNs;
    this.openCount++;
    this.lastReply = progress
      .tokenTotals()
      .then((totals) => {
        if (totals !== undefined && progress === this.progress) this.add(tokens, totals, spentNs);
      })
      // A run whose tokens cannot be measured ends with the error where its levels are merged.
      .catch(() => {})
      .finally(() => {
        this.openCount--;
      });
  }

  /** Asks for the tokens that came until now, and waits for the reply. */
  async askAndWait(level: FollowedLevel, atNs: number): Promise<void> {
    if (this.openCount === 0 && atNs - this.askedNs >= msToNs(MOST_WAIT_MS)) this.ask(level, atNs);
    await this.waitForReply();
  }

  /** Waits for the reply to the last question, but not for long. Undefined when none is open. */
  waitForReply(): Promise<void> | undefined {
    if (this.openCount === 0) return undefined;
    return sleepUnless(MOST_WAIT_MS, this.lastReply);
  }

  private add(tokens: LevelTokens, totals: TotalledTokens, spentNs: number): void {
    const { seen } = this;
    this.seen = new TokenTotals();
    this.seen.addAll(totals);
    // Another sender counts from the beginning, and one that is lost takes its counts with it.
    if (!seen.isWithin(totals)) return;
    tokens.totals.addAll(totals);
    tokens.totals.addAll(seen, -1);
    tokens.spentNs = spentNs;
  }
}
