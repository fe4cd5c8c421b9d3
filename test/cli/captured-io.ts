import type { CommandIo } from "../../src/cli/execute.ts";

/** Input and output of a command that a test runs in its own process. */
export interface CapturedIo {
  readonly io: CommandIo;
  readonly out: string;
  readonly err: string;
}

/** Captures what a command prints. @param onInterrupt default: no signal arrives @param errColumns width of stderr. Default: no terminal */
export function captureIo(onInterrupt: CommandIo["onInterrupt"] = () => () => {}, errColumns?: number): CapturedIo {
  let out = "";
  let err = "";
  const io: CommandIo = {
    out: (text) => {
      out += text;
    },
    err: (text) => {
      err += text;
    },
    loadApi: () => Promise.resolve({}),
    onInterrupt,
    ...(errColumns === undefined ? {} : { errColumns }),
  };
  return {
    io,
    get out() {
      return out;
    },
    get err() {
      return err;
    },
  };
}
