import type { Plan } from "../../plan/plan.ts";
import type { GoodputPlan } from "../../plan/tokens.ts";
import type { WindowTokens } from "../measurement.ts";
import type { ResponseSink } from "./packed-responses.ts";
import type { RequestTokens } from "./request-tokens.ts";
import type { MeteredTokens } from "./token-meter.ts";
import type { Span } from "./token-tally.ts";
import type { TotalledTokens } from "./token-totals.ts";

/** Maximum wait for the last totals of a run. The thread that counts tokens needs it on a busy machine only. */
export const LAST_TOTALS_WAIT_MS = 3000;

export type LevelTokens = MeteredTokens & WindowTokens;

/** Options for the token metrics of a run. */
export interface BeginOptions {
  /** Time by which the clock of the requests is set back against the conductor's. Default: 0 */
  readonly delayNs?: number | undefined;
  /** Whether `takeRequests` returns the tokens of single requests. Default: false */
  readonly keepsRequests?: boolean | undefined;
  /** Whether levels also contain the metrics of each request. Default: false, unless the plan keeps all windows */
  readonly keepsRows?: boolean | undefined;
  /** The limits of each goodput to count. Default: none */
  readonly goodputs?: readonly GoodputPlan[] | undefined;
}

/** Measures the tokens of a run's responses, level by level. */
export interface RunTokens {
  /** Receives each finished request of the load. */
  readonly responses: ResponseSink;
  /** Begins a run. @param startNs the start on this thread's monotonic clock */
  begin(plan: Plan, startNs: number, options?: BeginOptions): void;
  /** Starts a warm-up with the following requests. */
  warmUp(): void;
  /** Starts a level: drops all measurements. */
  reset(): void;
  /** Ends a window. @param span time of the window on the clock of the requests */
  cut(span: Span): void;
  /** Starts another window. */
  resume(): void;
  /** Ends the level. Waits until all responses are measured, and returns the last windows, or all if the plan says so, as one. */
  mergeLevel(windowCount: number): Promise<LevelTokens>;
  /**
   * Returns the measurements since the last call for the same tap, including warm-ups; nothing at the first call, which opens
   * the tap. Independent of windows and levels. Rejects when the measuring thread fails or is closed.
   */
  takeRecent(tap: number): Promise<LevelTokens>;
  /** Returns totals of the run's tokens since the first call, for displays. Independent of windows and levels. */
  readTotals(): Promise<TotalledTokens>;
  /**
   * Returns the tokens of single requests since the last call, if the run keeps them. Requests of different groups are in any
   * order.
   * @param isLast whether the run has ended
   */
  takeRequests(isLast: boolean): Promise<readonly RequestTokens[]>;
}
