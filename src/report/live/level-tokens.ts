import { LAST_TOTALS_WAIT_MS } from "../../measure/tokens/run-tokens.ts";
import { TokenTotals, type TotalledTokens } from "../../measure/tokens/token-totals.ts";
import { msToNs, nsToSec } from "../../plan/units.ts";
import type { RunProgress } from "../../result/observer.ts";
import { sleepUnless } from "../../runtime/clock.ts";

/** Token totals of the levels of a run while it lasts. They are counted in another thread, which is queried from time to time. */

/** Time between two queries, except at the beginning of a level, when numbers still change between frames. */
const ASK_NS = 1e9;
const BEGINNING_NS = 3e9;
/** Time between two queries of readers that need them at once. */
const MIN_ASK_MS = 300;

/** Token totals of a level, up to a moment ago. */
export class LevelTokens {
  readonly totals = new TokenTotals();
  /** Time in which the level was the current one, up to that moment. */
  spentNs = 0;

  /** Undefined before the first tokens. */
  get outputTokensPerSec(): number | undefined {
    const { sum } = this.totals.sums.outputTokens;
    return sum === 0 || this.spentNs <= 0 ? undefined : sum / nsToSec(this.spentNs);
  }
}

interface FollowedLevel {
  readonly spentNs: number;
  /** Undefined if the level has no tokens. */
  readonly tokens: LevelTokens | undefined;
}

/** Reads the tokens of a run, and adds them to its levels. */
export class FollowedTokens {
  private progress: RunProgress | undefined;
  /** Totals that have already been added to a level. */
  private seen = new TokenTotals();
  private askedNs = 0;
  private openCount = 0;
  private lastReply: Promise<void> = Promise.resolve();

  /** Starts to follow another run. */
  begin(progress: RunProgress): void {
    this.progress = progress;
    this.seen = new TokenTotals();
  }

  /** Queries again after a second, and earlier at the beginning of a level, unless the last reply is still pending. */
  askAgain(level: FollowedLevel, atNs: number): void {
    const isDue = level.spentNs < BEGINNING_NS || atNs - this.askedNs >= ASK_NS;
    if (this.openCount === 0 && isDue) this.ask(level, atNs);
  }

  /** Queries the tokens that have arrived so far, which belong to a level. */
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
      // If the tokens of a run cannot be measured, the run ends with the error when its levels are merged.
      .catch(() => {})
      .finally(() => {
        this.openCount--;
      });
  }

  /** Queries the tokens that have arrived so far, and waits for the reply. */
  async askAndWait(level: FollowedLevel, atNs: number): Promise<void> {
    if (this.openCount === 0 && atNs - this.askedNs >= msToNs(MIN_ASK_MS)) this.ask(level, atNs);
    await this.waitForReply();
  }

  /** Waits briefly for the reply to the last query. Undefined if none is pending. */
  waitForReply(): Promise<void> | undefined {
    if (this.openCount === 0) return undefined;
    return sleepUnless(LAST_TOTALS_WAIT_MS, this.lastReply);
  }

  private add(tokens: LevelTokens, totals: TotalledTokens, spentNs: number): void {
    const { seen } = this;
    this.seen = new TokenTotals();
    this.seen.addAll(totals);
    // A new sender counts from the beginning, and a lost one takes its counts with it.
    if (!seen.isWithin(totals)) return;
    tokens.totals.addAll(totals);
    tokens.totals.addAll(seen, -1);
    tokens.spentNs = spentNs;
  }
}
