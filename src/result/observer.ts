import type { RecordColumns } from "../measure/records.ts";
import type { WindowResult } from "../measure/window.ts";
import type { MetricsWarning } from "../telemetry/metrics-poller.ts";
import type { FailedRequest, RequestRecord } from "./request-record.ts";
import type { LevelResult, PreparedRun } from "./run-result.ts";

/** The events of a run. */

/** Something traced under `-v -v`. */
export type TraceEvent =
  /** An answer to a question outside the load. */
  | { readonly kind: "answer"; readonly text: string }
  | { readonly kind: "request"; readonly text: string }
  | { readonly kind: "response"; readonly text: string }
  /** Heads of HTTP messages; `>` sent, `<` received. */
  | { readonly kind: "wire"; readonly direction: ">" | "<"; readonly head: string }
  /** A connection for questions outside the load was made. */
  | { readonly kind: "connect"; readonly url: string };

/** Something that came up during the run and that the user should know; nothing is told twice. */
export type RunWarning =
  | MetricsWarning
  /** Several versions of the model moved while none was asked for: the server's times are those of the highest. */
  | { readonly kind: "many-versions"; readonly model: string }
  /** The server does not have the calls for its statistics. */
  | { readonly kind: "no-statistics"; readonly reason: string }
  /** The server's trace settings could not be set back. */
  | { readonly kind: "trace-kept"; readonly settings: string; readonly reason: string }
  /** The server may still have a region of shared memory. */
  | { readonly kind: "memory-kept"; readonly reason: string };

/** The state of a run at the moment of asking, which costs it next to nothing. */
export interface RunProgress {
  readonly sentCount: number;
  readonly completedCount: number;
  readonly failedCount: number;
  /** Given up on purpose. */
  readonly cancelledCount: number;
  /** Requests sent and not answered. */
  readonly outstanding: number;
  /** Responses so far of the requests that are outstanding, where they may have several. */
  readonly openResponses: number;
  /** Hands what was recorded since the last time to `onBatch`. */
  handOver(): void;
}

/** Follows a run. All calls are synchronous and in order. */
export interface RunObserver {
  /** Ahead of all requests that are measured. */
  onProgress?(progress: RunProgress): void;
  /** Takes finished requests, the rows `[0, count)`, some at a time; they are overwritten afterwards. */
  onBatch?(records: RecordColumns, count: number): void;
  onTrace?(event: TraceEvent): void;
  onWarning?(warning: RunWarning): void;
  onPrepared?(prepared: PreparedRun): void;
  onLevelStart?(unit: "concurrency" | "request-rate", level: number, isWarmup: boolean): void;
  /** @param latencyNs the latency that stability looks at */
  onWindow?(trial: number, window: WindowResult, latencyNs: number): void;
  /** A window in which no request succeeded. */
  onEmptyWindow?(trial: number): void;
  /** All processes that measure together are stable. */
  onAllStable?(): void;
  onLevelEnd?(result: LevelResult): void;
  /** Every successful request in the order they ended; only when `wantsRecords`. */
  onRecord?(record: RequestRecord): void;
  /** Every request that failed, those outside of windows included. */
  onFailed?(request: FailedRequest): void;
  /** Records since the last call belong to the window just ended; `undefined` bounds: to none. */
  onRecordsCut?(bounds: { readonly startEpochNs: bigint; readonly endEpochNs: bigint } | undefined): void;
}

type Listener = (...args: readonly never[]) => void;

/** Every event once; the type makes a missing one a compile error. */
const EVENTS: Readonly<Record<keyof RunObserver, true>> = {
  onProgress: true,
  onBatch: true,
  onTrace: true,
  onWarning: true,
  onPrepared: true,
  onLevelStart: true,
  onWindow: true,
  onEmptyWindow: true,
  onAllStable: true,
  onLevelEnd: true,
  onRecord: true,
  onFailed: true,
  onRecordsCut: true,
};

/** One observer that passes each event on to all of a list, in its order. It only has the events that one of them listens to. */
export function broadcast(observers: readonly RunObserver[]): RunObserver {
  const joined: Record<string, Listener> = {};
  for (const event of Object.keys(EVENTS) as (keyof RunObserver)[]) {
    const listeners = observers.flatMap((observer) => {
      const listener = observer[event] as Listener | undefined;
      return listener === undefined ? [] : [listener.bind(observer) as Listener];
    });
    const [only] = listeners;
    if (only === undefined) continue;
    joined[event] =
      listeners.length === 1
        ? only
        : (...args) => {
            for (const listener of listeners) listener(...args);
          };
  }
  return joined as RunObserver;
}
