import type { RecordColumns } from "../../measure/records.ts";
import type { Clock } from "../../runtime/clock.ts";
import type { CreateAnswerCheck } from "../../transport/answer-check.ts";
import type { Call, ClientOptions, LoadClient } from "../../transport/client.ts";
import type { Failure } from "../../transport/failure.ts";
import type { Canceller } from "./canceller.ts";
import type { RequestFeed } from "./feed.ts";
import type { LaneOptions } from "./lanes.ts";
import type { Slots } from "./slots.ts";

/** What the driver is given. */

/** How the driver reaches the server. */
export interface DriverOptions extends LaneOptions {
  /** As {@link ClientOptions} has it. */
  readonly stallTimeoutNs: number;
  /** A request without its complete answer for this long has failed; absent: no limit. */
  readonly requestTimeoutNs?: number | undefined;
  /** As {@link ClientOptions} has it. */
  readonly maxResponseBytes: number;
  readonly createClient: (options: ClientOptions) => LoadClient;
  /** Gives up some of the requests; absent: none are. */
  readonly canceller?: Canceller | undefined;
  /** What paces requests and windows. Default: this thread's clock. */
  readonly clock?: Clock;
}

/** What the driver sends, and who is told of what came of it. */
export interface DriverWork {
  readonly feed: RequestFeed;
  /** Whether `judge` looks at the bodies of responses. */
  readonly needsBodies: boolean;
  /** Makes the checks of answers whose bodies are not kept. Absent: they are not checked. */
  readonly createCheck?: CreateAnswerCheck;
  /** Whether `judge` can wait for a quiet moment, in which the slot may have its next request already. */
  readonly canWait: boolean;
  /** Whether what has arrived is read before the next requests of a closed loop are sent. Default false. */
  readonly readsFirst?: boolean;
  /** Takes finished requests in batches. */
  readonly onRecords: (records: RecordColumns, count: number) => void;
  /** Judges a finished request, by its slot; returns what is wrong with it, in the server's own words where there are any. */
  readonly judge: (call: Call, slots: Slots) => Failure | undefined;
  readonly onFailure: (failure: Failure, lane: number) => void;
  /** Something that is called here threw while the run goes on: the run cannot. */
  readonly onError: (error: unknown) => void;
}
