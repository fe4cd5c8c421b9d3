import type { CommandIo, EndSignal } from "../execute.ts";
import { changedIo } from "../guarded-io.ts";

/** Several runs, one after the other. */
export interface Series {
  /** For the runs: one that begins after a signal gets it at once. */
  readonly io: CommandIo;
  /** Whether there was a signal. The next run must not begin. */
  readonly isInterrupted: boolean;
  /** Ends the series. A signal then has its usual effect. */
  end(): void;
}

/** Makes a signal between two runs end the series instead of the process, so that what was measured is reported. */
export function beginSeries(io: CommandIo): Series {
  let given: EndSignal | undefined;
  let listening = 0;
  const end = io.onInterrupt(
    (signal) => {
      given = signal;
    },
    // A run that listens ends the process itself.
    () => (listening > 0 ? new Promise<void>(() => {}) : undefined),
  );
  const onInterrupt: CommandIo["onInterrupt"] = (callback, leave) => {
    listening++;
    const stop = io.onInterrupt(callback, leave);
    if (given !== undefined) callback(given);
    return () => {
      listening--;
      stop();
    };
  };
  return {
    io: changedIo(io, { onInterrupt }),
    get isInterrupted() {
      return given !== undefined;
    },
    end,
  };
}
