import type { RecordColumns } from "../../measure/records.ts";
import type { Clock } from "../../runtime/clock.ts";
import type { Call } from "../../transport/call.ts";
import type { ClientOptions, LoadClient } from "../../transport/client.ts";
import type { Failure } from "../../transport/failure.ts";
import type { CreateResponseCheck } from "../../transport/response-check.ts";
import type { RequestGroups } from "../groups/request-groups.ts";
import type { LaneOptions } from "../lanes.ts";
import type { Canceller } from "./canceller.ts";
import type { Feed } from "./feed.ts";
import type { SenderListener } from "./messages.ts";
import type { Slots } from "./slots.ts";

/** Connection settings and limits of the driver. */
export interface DriverOptions extends LaneOptions {
  /** See {@link ClientOptions}. */
  readonly stallTimeoutNs: number;
  /** A request fails when its response is not complete after this time. Absent: no limit. */
  readonly requestTimeoutNs?: number | undefined;
  /** See {@link ClientOptions}. */
  readonly maxResponseBytes: number;
  /** See {@link ClientOptions}. */
  readonly connectionsPerSec?: number | undefined;
  readonly createClient: (options: ClientOptions) => LoadClient;
  /** See {@link ClientOptions.onConnectFailure}. */
  readonly onConnectFailure?: ClientOptions["onConnectFailure"];
  /** Cancels some requests. Absent: none. */
  readonly canceller?: Canceller | undefined;
  /** Maximum number of outstanding requests; sending ends when a load needs more. Default: no limit. */
  readonly maxOutstanding?: number | undefined;
  /** Whether to cancel requests without a response long after the end of a load, instead of waiting for them. Default: false. */
  readonly endsDrain?: boolean | undefined;
  /** Called before each event that may send requests. Absent: nothing has to be checked. */
  readonly beforeEvent?: (() => void) | undefined;
  /** Clock that paces requests and windows. Default: this thread's clock. */
  readonly clock?: Clock;
}

/** Work of a driver: the requests that it sends, and callbacks for the results. */
export interface DriverWork {
  readonly feed: Feed;
  /** The groups of its requests. Absent: one group. */
  readonly groups?: RequestGroups | undefined;
  /** Whether `judge` needs the bodies of responses. */
  readonly needsBodies: boolean;
  /** Whether `judge` needs the headers of HTTP responses. Default: false. */
  readonly needsHeaders?: boolean | undefined;
  /** Creates checks of responses whose bodies are not kept. Absent: such responses are not checked. */
  readonly createCheck?: CreateResponseCheck | undefined;
  /** Whether `judge` may run later, when the slot may already have its next request. */
  readonly canWait: boolean;
  /** Whether a response should be judged only after a later one, see {@link Judging}. Absent: never. */
  readonly isUndecided?: ((call: Call) => boolean) | undefined;
  /** Called with a response whose judging is deferred. `judge` gets the same call later. */
  readonly onUndecided?: ((call: Call, slots: Slots) => void) | undefined;
  /** Whether a closed loop reads everything that has arrived before it sends. Default: false. */
  readonly readsFirst?: boolean;
  /** Counts ended requests, before the listener receives them. */
  readonly meter: { add(records: RecordColumns, count: number): void };
  /** Judges a slot's completed request. Returns its failure, with the server's message if there is one. */
  readonly judge: (call: Call, slots: Slots) => Failure | undefined;
  readonly listener: Pick<SenderListener, "records" | "failed" | "limited" | "broken">;
}
