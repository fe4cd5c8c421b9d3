import { NativeError } from "../../../runtime/ffi/native.ts";
import { runtimeName } from "../../../runtime/runtime.ts";
import {
  encodeFrame,
  encodeResponseFrame,
  FROM_SERVER,
  type Frame,
  RESPONSE_FLAGS,
  TO_SERVER,
} from "../../../transport/in-process/frames.ts";
import { removeSharedMemory } from "../shared-memory-files.ts";
import type { ServerCallbacks } from "./callbacks.ts";
import { openCompiledCallbacks } from "./compiled-callbacks.ts";
import { RequestTemplate } from "./infer-request.ts";
import { Cell, openTritonLibrary, type TritonLibrary } from "./library.ts";
import { type NativeMemory, openMemory } from "./memory.ts";
import { QueryResponses, type ServerQuery } from "./queries.ts";
import { Regions } from "./regions.ts";
import { openScriptCallbacks } from "./script-callbacks.ts";
import { type ServerSettings, startServer } from "./start-server.ts";
import { RUN_FILE, writeToRun } from "./write-to-run.ts";

const encoder = new TextEncoder();

/**
 * Runs Triton's library in this process for a run, whose frames it reads from standard input until the run ends. Then this process and the
 * models' processes end. Resolves only if the library cannot be started, after sending the reason.
 */
export async function serveTriton(settings: ServerSettings): Promise<void> {
  let end = (): void => {};
  try {
    const callbacks = await openCallbacks(settings.runPid);
    end = callbacks.end;
    const triton = await openTritonLibrary(settings.library);
    callbacks.use(triton);
    const host = new TritonHost(triton, await openMemory(), callbacks);
    host.listen(startServer(triton, settings), () => {
      removeSharedMemory(settings.memoryPrefix);
      callbacks.end();
    });
  } catch (error) {
    writeToRun(
      encodeFrame(FROM_SERVER.refused, 0, encoder.encode(error instanceof Error ? error.message : String(error))),
    );
    end();
    return;
  }
  await new Promise(() => {});
}

/** Stores a run's templates, makes requests from them, and answers queries. */
class TritonHost {
  private readonly triton: TritonLibrary;
  private readonly memory: NativeMemory;
  private readonly regions: Regions;
  private readonly callbacks: ServerCallbacks;
  private readonly allocator = new Cell();
  private readonly templates = new Map<number, RequestTemplate>();
  /** Reasons why templates cannot be used, by number. */
  private readonly broken = new Map<number, string>();
  /** Templates that calls in flight may still use, by number. */
  private readonly forgotten = new Map<number, RequestTemplate>();
  private server = 0n;
  private queries: QueryResponses | undefined;

  constructor(triton: TritonLibrary, memory: NativeMemory, callbacks: ServerCallbacks) {
    this.triton = triton;
    this.memory = memory;
    this.regions = new Regions(memory);
    this.callbacks = callbacks;
    triton.call("ResponseAllocatorNew", this.allocator.bytes, callbacks.allocate, callbacks.release, 0n);
  }

  /** Starts reading frames. @param end ends the process when the run has ended */
  listen(server: bigint, end: () => void): void {
    this.server = server;
    this.queries = new QueryResponses(this.triton, server, this.regions);
    // Until here, no JavaScript could run, because models were being loaded.
    process.on("SIGTERM", end);
    // A run that was killed reads no responses: a write may fail before the end of the run is noticed.
    process.on("exit", end);
    this.callbacks.run({
      server,
      allocator: this.allocator.value,
      receive: (frame) => this.receive(frame),
      endTemplate: (id) => {
        this.forgotten.get(id)?.release();
        this.forgotten.delete(id);
      },
      end,
    });
    this.callbacks.write(encodeFrame(FROM_SERVER.ready, 0, encoder.encode(this.callbacks.warning)));
  }

  private receive({ type, id, body }: Frame): void {
    switch (type) {
      case TO_SERVER.template:
        this.keep(id, body);
        break;
      case TO_SERVER.infer:
        this.send(id, body);
        break;
      case TO_SERVER.query:
        this.answer(id, body);
        break;
      default:
        this.forget(id);
    }
  }

  private keep(id: number, body: Uint8Array): void {
    const stampOffset = new DataView(body.buffer, body.byteOffset).getUint32(0, true);
    try {
      this.templates.set(id, new RequestTemplate(body.slice(4), stampOffset, this.memory, this.regions));
    } catch (error) {
      this.broken.set(id, messageOf(error));
    }
  }

  private forget(id: number): void {
    const template = this.templates.get(id);
    this.templates.delete(id);
    this.broken.delete(id);
    if (template === undefined) return;
    this.forgotten.set(id, template);
    this.callbacks.forget(id);
  }

  /** Sends a request. `call` is repeated in its responses. */
  private send(call: number, body: Uint8Array): void {
    const templateId = new DataView(body.buffer, body.byteOffset).getUint32(0, true);
    const template = this.templates.get(templateId);
    try {
      if (template === undefined) throw new Error(this.broken.get(templateId) ?? "the request is not known");
      const stamp = body.subarray(4);
      const request = template.create(this.triton, this.server, stamp);
      const { places } = template;
      this.triton.check(
        this.callbacks.infer(request, { call, template: templateId, places, isSame: stamp.length === 0 }),
      );
    } catch (error) {
      const flags = RESPONSE_FLAGS.final | RESPONSE_FLAGS.failed;
      this.callbacks.write(encodeResponseFrame(call, flags, { beganNs: 0, atNs: 0 }, encoder.encode(messageOf(error))));
    }
  }

  private answer(id: number, body: Uint8Array): void {
    const query = JSON.parse(new TextDecoder().decode(body)) as ServerQuery;
    try {
      this.callbacks.write(
        encodeFrame(FROM_SERVER.queryResult, id, Uint8Array.of(1), (this.queries as QueryResponses).answer(query)),
      );
    } catch (error) {
      const text = JSON.stringify({ error: messageOf(error) });
      this.callbacks.write(encodeFrame(FROM_SERVER.queryResult, id, Uint8Array.of(0), encoder.encode(text)));
    }
  }
}

function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}

/**
 * Opens the callbacks of this runtime, and ties this process to the run's before anything else takes time.
 * @param runPid the run's process; when it ends, this process ends too
 * @throws NativeError
 */
async function openCallbacks(runPid: number): Promise<ServerCallbacks> {
  try {
    return await openCompiledCallbacks(runPid, {
      input: 0,
      output: RUN_FILE,
    });
  } catch (error) {
    if (runtimeName === "bun" || !(error instanceof NativeError)) throw error;
    return openScriptCallbacks(runPid, error.message);
  }
}
