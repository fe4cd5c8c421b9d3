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

/** A condition that the user should know. Each is reported once per run. */
export type RunWarning =
  | GaugeWarning
  /** Several versions of the model received requests although the plan names none. Server times are those of the highest version. */
  | { readonly kind: "many-versions"; readonly model: string }
  /** The server does not support the statistics calls. */
  | { readonly kind: "no-statistics" | "failed-statistics"; readonly reason: string }
  /** The server's trace settings could not be restored. */
  | { readonly kind: "trace-kept"; readonly settings: Text; readonly reason: string }
  /** The server may still have a shared-memory region registered. */
  | { readonly kind: "memory-kept"; readonly reason: string };

/** Counts of a run at one moment. */
export interface ProgressCounts extends RequestCounts {
  /** Requests in flight. */
  readonly outstanding: number;
  /** Responses received so far for requests in flight, if requests can have several. */
  readonly openResponses: number;
  /** The busiest of the threads that send, over the last second. Absent: this thread sends. */
  readonly client?: ClientLoad;
}

/** How busy what sends is. */
export interface ClientLoad {
  /** CPU time divided by wall time; 1 is one full core. */
  readonly cpuRatio: number;
  /** Maximum delay of the event loop, in nanoseconds. */
  readonly loopLagMaxNs: number;
}

/** How far a run is. Asking costs almost nothing. */
export interface RunProgress {
  counts(): ProgressCounts;
  /** Passes the records since the last call to `onBatch`. */
  drainRecords(): void;
  /**
   * Returns what the tokens of the run add up to since the first call, a moment later. Undefined when no tokens are measured. Rejects when what
   * measures them fails. Absent: no tokens are measured.
   */
  readonly tokenTotals?: (() => Promise<TotalledTokens | undefined>) | undefined;
}

/** A phase that begins, or a level of it. */
export interface PhasePlace {
  /** From 0. */
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

/** Follows a run. All calls are synchronous and in order. */
export interface RunObserver {
  /** Called before each run of a plan that is repeated. @param run from 1 @param atMost largest number of runs */
  onRun?(run: number, atMost: number): void;
  /** Called before the first measured request. */
  onProgress?(progress: RunProgress): void;
  /** Receives rows `[0, count)` of finished requests. The rows are reused after the call returns. */
  onBatch?(records: RecordColumns, count: number): void;
  onTrace?(event: TraceEvent): void;
  /** The server has not responded to a question for some seconds, and the run waits for it. @param url its address */
  onSlowServer?(url: string): void;
  onWarning?(warning: RunWarning): void;
  /** A reading of the GPU metrics of the server, in the measured time. */
  onMetrics?(reading: GaugeReading): void;
  onPrepared?(prepared: PreparedRun): void;
  /** @param phase absent if the load has no phases */
  onLevelStart?(unit: LevelUnitName, level: number, isWarmup: boolean, phase?: PhasePlace): void;
  /**
   * Called the moment the load changes to a phase or its next level: the requests that end from now on are counted there. Undefined after the
   * last phase. `onLevelEnd` of the level before it and its own `onLevelStart` follow later, because results take time.
   */
  onPhase?(start: PhaseStart | undefined): void;
  /** @param latencyNs the latency that the stability check uses */
  onWindow?(trial: number, window: Measurement, latencyNs: number): void;
  /** The run waits for requests in flight, for at most this long, which is not part of its measured time. Undefined: it does not any more. */
  onWait?(mostMs: number | undefined): void;
  /** A window in which no request succeeded. */
  onEmptyWindow?(trial: number): void;
  /** All processes that measure together are stable. */
  onAllStable?(): void;
  onLevelEnd?(result: LevelResult): void;
  /** Called for each successful request in the order of their ends; only when `wantsRecords`. */
  onRecord?(record: RequestRecord): void;
  /** Called for each failed request, also outside of windows. */
  onFailed?(request: FailedRequest): void;
  /**
   * Called for each successful request whose tokens are measured, when they are known: up to a second after its end, and not in the order of
   * the ends. A request whose response was never measured, because the run ended, has no call.
   */
  onTokens?(tokens: RequestTokens): void;
  /**
   * Called when a window begins: the requests that end from now on are counted in it, until `onRecordsCut`. A window that is not cut is part
   * of no level. @param number among the windows of the run, from 1, as in `Measurement.numbers`
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

/** Reports a wait for requests in flight while it lasts. @param mostMs after which the wait ends in any case */
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

/** Creates an observer that passes each event to all observers in order. It has only the events that one of them handles. */
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
