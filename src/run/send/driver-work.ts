import type { RecordColumns } from "../../measure/records.ts";
import type { Clock } from "../../runtime/clock.ts";
import type { Call, ClientOptions, LoadClient } from "../../transport/client.ts";
import type { Failure } from "../../transport/failure.ts";
import type { CreateResponseCheck } from "../../transport/response-check.ts";
import type { RequestGroups } from "../groups/request-groups.ts";
import type { LaneOptions } from "../lanes.ts";
import type { Canceller } from "./canceller.ts";
import type { Feed } from "./feed.ts";
import type { SenderListener } from "./messages.ts";
import type { Slots } from "./slots.ts";

/** How the driver connects to the server. */
export interface DriverOptions extends LaneOptions {
  /** See {@link ClientOptions}. */
  readonly stallTimeoutNs: number;
  /** A request fails when its response is not complete after this time; absent: no limit. */
  readonly requestTimeoutNs?: number | undefined;
  /** See {@link ClientOptions}. */
  readonly maxResponseBytes: number;
  /** See {@link ClientOptions}. */
  readonly connectionsPerSec?: number | undefined;
  readonly createClient: (options: ClientOptions) => LoadClient;
  /** See {@link ClientOptions.onConnectFailure}. */
  readonly onConnectFailure?: ClientOptions["onConnectFailure"];
  /** Cancels some requests; absent: none. */
  readonly canceller?: Canceller | undefined;
  /** Maximum number of outstanding requests; sending ends when a load needs more. Default: no limit. */
  readonly maxOutstanding?: number | undefined;
  /** Whether to cancel what has no response long after the end of a load, instead of waiting for it. Default: wait. */
  readonly endsDrain?: boolean | undefined;
  /** What paces requests and windows. Default: this thread's clock. */
  readonly clock?: Clock;
}

/** What the driver sends, and callbacks for the results. */
export interface DriverWork {
  readonly feed: Feed;
  /** The groups of its requests. Absent: there is one. */
  readonly groups?: RequestGroups | undefined;
  /** Whether `judge` needs the bodies of responses. */
  readonly needsBodies: boolean;
  /** Whether it needs the headers of HTTP responses. Default: false. */
  readonly needsHeaders?: boolean | undefined;
  /** Creates checks of responses whose bodies are not kept. Absent: not checked. */
  readonly createCheck?: CreateResponseCheck | undefined;
  /** Whether `judge` may run later, when the slot may already have its next request. */
  readonly canWait: boolean;
  /** Whether judging a response should wait for that of a later one, see {@link Judging}. Absent: it never should. */
  readonly isUndecided?: ((call: Call) => boolean) | undefined;
  /** Hears of a response whose judging begins to wait. `judge` gets the same call later. */
  readonly onUndecided?: ((call: Call, slots: Slots) => void) | undefined;
  /** Whether a closed loop reads what has arrived before sending. Default: false. */
  readonly readsFirst?: boolean;
  /** Counts ended requests, before the listener hears of them. */
  readonly meter: { add(records: RecordColumns, count: number): void };
  /** Judges a slot's completed request. Returns its failure, with the server's message if there is one. */
  readonly judge: (call: Call, slots: Slots) => Failure | undefined;
  readonly listener: Pick<SenderListener, "records" | "failed" | "limited" | "broken">;
}
