import { compileC } from "../../../runtime/ffi/compile-c.ts";
import { openLibrary } from "../../../runtime/ffi/ffi.ts";
import { NativeError } from "../../../runtime/ffi/native.ts";
import { createWake } from "../../../runtime/ffi/wake.ts";
import { FrameReader } from "../../../transport/in-process/frames.ts";
import type { FrameHost, ServerCallbacks } from "./callbacks.ts";
import { REQUESTS_SOURCE } from "./compiled-requests.ts";
import { RESPONSES_SOURCE } from "./compiled-responses.ts";

const SOURCE = REQUESTS_SOURCE + RESPONSES_SOURCE;

/** The functions of {@link SOURCE} that return the addresses of the others. */
const NAMES = [
  "address_of_allocate",
  "address_of_release",
  "address_of_begin",
  "address_of_use",
  "address_of_run",
  "address_of_take",
  "address_of_free",
  "address_of_infer",
  "address_of_forget",
  "address_of_post",
  "address_of_end",
] as const;

/** The functions of Triton's library that {@link SOURCE} calls, in the same order. */
export const TRITON_FUNCTIONS = [
  "ErrorNew",
  "ErrorMessage",
  "ErrorDelete",
  "ServerInferAsync",
  "InferenceRequestDelete",
  "InferenceRequestSetReleaseCallback",
  "InferenceRequestSetResponseCallback",
  "InferenceResponseError",
  "InferenceResponseModel",
  "InferenceResponseId",
  "InferenceResponseOutputCount",
  "InferenceResponseOutput",
  "InferenceResponseDelete",
] as const;

/** Types of frames that {@link SOURCE} itself sends: no request uses a forgotten template, and the run has ended. */
const UNUSED = 254;
const ENDED = 255;

const P = "pointer";

/** The files that connect the process with the run. */
export interface PipeFiles {
  readonly input: number;
  readonly output: number;
}

/** Compiles the callbacks, and ties this process to the run's. @throws NativeError if there is no compiler */
export async function openCompiledCallbacks(runPid: number, files: PipeFiles): Promise<ServerCallbacks> {
  const { callbacks, tieTo } = await compileCallbacks(files);
  tieTo(runPid);
  return callbacks;
}

/** Compiles the callbacks, without tying this process to a run. @throws NativeError if there is no compiler */
export async function compileCallbacks({ input, output }: PipeFiles): Promise<{
  readonly callbacks: ServerCallbacks;
  readonly tieTo: (runPid: number) => void;
  /** Call when the run has ended. Until then this process does not end by itself. */
  readonly close: () => void;
}> {
  const at = await compileC(SOURCE, NAMES);
  const { functionAt, readMemory } = await openLibrary(["libc.so.6", "libc.so"], {});
  const take = functionAt(at.address_of_take, { args: ["buffer"], result: P });
  const free = functionAt(at.address_of_free, { args: [P], result: "void" });
  const infer = functionAt(at.address_of_infer, { args: [P, "u32", "u32", "i32", P], result: P });
  const forget = functionAt(at.address_of_forget, { args: ["u32"], result: "void" });
  const post = functionAt(at.address_of_post, { args: ["buffer", "usize"], result: "void" });
  const run = functionAt(at.address_of_run, { args: [P, P, "i32", "i32"], result: "i32" });
  const end = functionAt(at.address_of_end, { args: ["i32"], result: "void" });
  const size = new BigInt64Array(1);
  const sizeBytes = new Uint8Array(size.buffer);
  let host: FrameHost | undefined;
  const reader = new FrameReader((frame) => {
    if (frame.type === UNUSED) host?.endTemplate(frame.id);
    else if (frame.type === ENDED) host?.end();
    else host?.receive(frame);
  });
  const wake = await createWake(() => {
    for (let frame = take(sizeBytes); frame !== 0n; frame = take(sizeBytes)) {
      const bytes = readMemory(frame, Number(size[0]));
      free(frame);
      reader.feed(bytes);
    }
  });
  const callbacks: ServerCallbacks = {
    warning: "",
    allocate: at.address_of_allocate,
    release: at.address_of_release,
    use: ({ addressOf }) => {
      const functions = BigUint64Array.from(TRITON_FUNCTIONS, (name) => addressOf(name));
      const use = functionAt(at.address_of_use, { args: [P, "i32", "buffer"], result: "void" });
      use(wake.address, wake.file, new Uint8Array(functions.buffer));
    },
    run: (opened) => {
      host = opened;
      if (run(host.server, host.allocator, input, output) === 0) throw new NativeError("no thread can be started");
    },
    infer: (request, { call, template, places, isSame }) => infer(request, call, template, isSame ? 1 : 0, places),
    forget,
    write: (frame) => post(frame, BigInt(frame.length)),
    end: () => end(0),
  };
  const begin = functionAt(at.address_of_begin, { args: ["i32"], result: "void" });
  return { callbacks, tieTo: begin, close: wake.close };
}
