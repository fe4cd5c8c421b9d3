import type { RecordColumns } from "../measure/records.ts";
import type { CreateAnswerCheck } from "../transport/answer-check.ts";
import type { Call, ClientOptions, LoadClient } from "../transport/client.ts";
import type { Failure } from "../transport/failure.ts";
import type { Canceller } from "./canceller.ts";
import type { RequestFeed } from "./feed.ts";
import type { Slots } from "./slots.ts";

/** What the driver is given. */

/** How slots are dealt to lanes. */
export interface LaneOptions {
  /** Slots are dealt to so many lanes: slot `s` is lane `s % laneCount`'s. */
  readonly laneCount: number;
  /** A lane waits for its answer before it sends again; otherwise it may have several requests outstanding. */
  readonly isSync: boolean;
  /** Requests of a lane reach the server in the order in which they were sent, as on a stream. */
  readonly keepsOrder: boolean;
  /** Sequences that a schedule has under way at once. */
  readonly sequenceCount: number;
  /** A sequence waits for its answer before it goes on. */
  readonly isSerial: boolean;
}

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
