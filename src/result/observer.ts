import type { LevelUnitName } from "../load/level-units.ts";
import type { GaugeReading } from "../measure/gauge-readings.ts";
import type { Measurement } from "../measure/measurement.ts";
import type { RecordColumns } from "../measure/records.ts";
import type { RequestTokens } from "../measure/tokens/request-tokens.ts";
import type { TotalledTokens } from "../measure/tokens/token-totals.ts";
import type { Text } from "../plan/messages.ts";
import type { GaugeWarning } from "../telemetry/gauge-poller.ts";
import type { FailedRequest, RequestRecord } from "./request-record.ts";
import type { LevelResult, PreparedRun, RequestCounts } from "./run-result.ts";

/** Events of a run. */

/** A trace event, printed with `-v -v`. */
export type TraceEvent =
  /** Response to a request that is not part of the load. */
  | { readonly kind: "reply"; readonly text: string }
  | { readonly kind: "request"; readonly text: string }
  | { readonly kind: "response"; readonly text: string }
  /** Head of an HTTP message: `>` sent, `<` received. */
  | { readonly kind: "wire"; readonly direction: ">" | "<"; readonly head: string }
  /** A connection was opened for requests that are not part of the load. */
  | { readonly kind: "connect"; readonly url: string };

/** A condition that the user should know about. Each is reported once per run. */
export type RunWarning =
  | GaugeWarning
  /** Several versions of the model received requests, although the plan names none. Server times are those of the highest version. */
  | { readonly kind: "many-versions"; readonly model: string }
  /** The server does not support the statistics calls. */
  | { readonly kind: "no-statistics" | "failed-statistics"; readonly reason: string }
  /** The server's trace settings could not be restored. */
  | { readonly kind: "trace-kept"; readonly settings: Text; readonly reason: string }
  /** The server may still have a shared-memory region registered. */
  | { readonly kind: "memory-kept"; readonly reason: string };

/** Counts of a run at one moment. */
export interface ProgressCounts extends RequestCounts {
  /** Number of requests in flight. */
  readonly outstanding: number;
  /** Responses received so far for requests in flight, if requests can have several. */
  readonly openResponses: number;
  /** Load of the busiest sending thread over the last second. Absent if this thread sends. */
  readonly client?: ClientLoad;
}

/** Load of a thread or process that sends. */
export interface ClientLoad {
  /** CPU time divided by wall time; 1 is one full core. */
  readonly cpuRatio: number;
  /** Maximum delay of the event loop, in nanoseconds. */
  readonly loopLagMaxNs: number;
}

/** Progress of a run. Reading it costs almost nothing. */
export interface RunProgress {
  /** Time by which the clock of requests and windows is set back against this thread's. Default: 0 */
  readonly delayNs?: number | undefined;
  counts(): ProgressCounts;
  /** Passes the records since the last call to `onBatch`. */
  drainRecords(): void;
  /** Returns totals since the first call, a moment later. Undefined or absent without tokens. Rejects if their measurement fails. */
  readonly tokenTotals?: (() => Promise<TotalledTokens | undefined>) | undefined;
}

/** A phase that begins, or a level of it. */
export interface PhasePlace {
  /** Index of the phase, from 0. */
  readonly index: number;
  readonly count: number;
  readonly label: string;
}

/** A level of a phase to which the load changes. */
export interface PhaseStart extends PhasePlace {
  readonly unit: LevelUnitName;
  readonly level: number;
  readonly isWarmup: boolean;
}

/** Observer of a run. All calls are synchronous and in order. */
export interface RunObserver {
  /** Called before each run of a plan that is repeated. @param run from 1 @param atMost largest number of runs */
  onRun?(run: number, atMost: number): void;
  /** Called before the first measured request. */
  onProgress?(progress: RunProgress): void;
  /** Receives rows `[0, count)` of finished requests. The rows are reused after the call returns. */
  onBatch?(records: RecordColumns, count: number): void;
  onTrace?(event: TraceEvent): void;
  /** Called when the server has not responded to a query for some seconds, and the run waits for it. @param url address of the server */
  onSlowServer?(url: string): void;
  onWarning?(warning: RunWarning): void;
  /** Called for each reading of the server's GPU metrics during the measured time. */
  onMetrics?(reading: GaugeReading): void;
  onPrepared?(prepared: PreparedRun): void;
  /** @param phase absent if the load has no phases */
  onLevelStart?(unit: LevelUnitName, level: number, isWarmup: boolean, phase?: PhasePlace): void;
  /**
   * Called when the load changes to a phase or its next level: requests that end from now on are counted there. Undefined after
   * the last phase. `onLevelEnd` of the previous level and `onLevelStart` of the new one follow later, because results take
   * time.
   */
  onPhase?(start: PhaseStart | undefined): void;
  /** @param latencyNs the latency that the stability check uses */
  onWindow?(trial: number, window: Measurement, latencyNs: number): void;
  /** Called when the run waits for requests in flight, outside of its measured time. Undefined: the wait has ended. */
  onWait?(mostMs: number | undefined): void;
  /** Called after a window in which no request succeeded. */
  onEmptyWindow?(trial: number): void;
  /** Called when all processes that measure together are stable. */
  onAllStable?(): void;
  onLevelEnd?(result: LevelResult): void;
  /** Called for each successful request, in order of end; only if `wantsRecords`. */
  onRecord?(record: RequestRecord): void;
  /** Called for each failed request, including those outside of windows. */
  onFailed?(request: FailedRequest): void;
  /**
   * Called for each successful request when its tokens have been measured: up to a second after its end, and not in order of
   * end. Not called for a response that was never measured because the run ended.
   */
  onTokens?(tokens: RequestTokens): void;
  /**
   * Called when a window begins: requests that end from now on are counted in it, until `onRecordsCut`. A window that is not
   * cut belongs to no level. @param number of the window in the run, from 1, as in `Measurement.numbers`
   */
  onWindowStart?(number: number): void;
  /** Records since the last call belong to the window that just ended, or to no window if `bounds` is undefined. */
  onRecordsCut?(bounds: { readonly startEpochNs: bigint; readonly endEpochNs: bigint } | undefined): void;
}

type Listener = (...args: readonly never[]) => void;

/** Lists every event. The type makes a missing event a compile error. */
const EVENTS: Readonly<Record<keyof RunObserver, true>> = {
  onRun: true,
  onProgress: true,
  onBatch: true,
  onTrace: true,
  onSlowServer: true,
  onWarning: true,
  onMetrics: true,
  onPrepared: true,
  onLevelStart: true,
  onPhase: true,
  onWindow: true,
  onWait: true,
  onEmptyWindow: true,
  onAllStable: true,
  onLevelEnd: true,
  onRecord: true,
  onFailed: true,
  onTokens: true,
  onWindowStart: true,
  onRecordsCut: true,
};

/** Reports a wait for requests in flight while it lasts. @param mostMs maximum length of the wait */
export async function reportWait<T>(
  observer: Pick<RunObserver, "onWait">,
  mostMs: number,
  wait: Promise<T>,
): Promise<T> {
  observer.onWait?.(mostMs);
  return wait.finally(() => observer.onWait?.(undefined));
}

/** The names of all events. */
export const RUN_EVENTS = Object.keys(EVENTS) as readonly (keyof RunObserver)[];

/** Creates an observer that passes each event to all observers in order. It has only the events that at least one of them handles. */
export function broadcast(observers: readonly RunObserver[]): RunObserver {
  const joined: Record<string, Listener> = {};
  for (const event of RUN_EVENTS) {
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
