import type { CommandIo, EndSignal } from "../execute.ts";
import { changedIo } from "../guarded-io.ts";

/** Several runs, one after another. */
export interface Series {
  /** Output for the runs. A run that begins after a signal receives the signal at once. */
  readonly io: CommandIo;
  /** Whether there was a signal, after which no run must begin. */
  readonly isInterrupted: boolean;
  /** Ends the series. A signal then has its usual effect. */
  end(): void;
}

/** Makes a signal between two runs end the series instead of the process, so that earlier measurements are reported. */
export function beginSeries(io: CommandIo): Series {
  let given: EndSignal | undefined;
  let listening = 0;
  const end = io.onInterrupt(
    (signal) => {
      given = signal;
    },
    // A run with a listener ends the process itself.
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
