import { writeSync } from "node:fs";
import {
  encodeFrame,
  FROM_SERVER,
  type Frame,
  FrameReader,
  RESPONSE_FLAGS,
  RESPONSE_HEAD_BYTES,
  TO_SERVER,
} from "../../../transport/in-process/frames.ts";
import { removeSharedMemory } from "../shared-memory-files.ts";
import type { ArrivedResponse, ServerCallbacks } from "./callbacks.ts";
import { type RequestCallbacks, RequestTemplate } from "./infer-request.ts";
import { encodeResponse } from "./infer-response.ts";
import { Cell, openTritonLibrary, type TritonLibrary } from "./library.ts";
import { type NativeMemory, openMemory } from "./memory.ts";
import { openCallbacks } from "./open-callbacks.ts";
import { QueryAnswers, type ServerQuery } from "./queries.ts";
import { Regions } from "./regions.ts";
import { type ServerSettings, startServer } from "./start-server.ts";

/** The file of the pipe to the run. Standard output is the models'. */
const PIPE = 3;
const encoder = new TextEncoder();

/**
 * Runs Triton's library in this process for a run, which it reads from standard input, until that ends. The process then ends with those of
 * the models. Resolves only when the library cannot be started, after it has sent the reason.
 */
export async function serveTriton(settings: ServerSettings): Promise<void> {
  let end = (): void => {};
  try {
    let wake = (): void => {};
    const callbacks = await openCallbacks(settings.runPid, () => wake());
    end = callbacks.end;
    const triton = await openTritonLibrary(settings.library);
    callbacks.use(triton);
    const host = new TritonHost(triton, await openMemory(), callbacks);
    wake = () => host.drain();
    host.listen(startServer(triton, settings), () => {
      removeSharedMemory(settings.memoryPrefix);
      callbacks.end();
    });
  } catch (error) {
    write(encodeFrame(FROM_SERVER.refused, 0, encoder.encode(error instanceof Error ? error.message : String(error))));
    end();
    return;
  }
  await new Promise(() => {});
}

interface ActiveCall {
  readonly template: RequestTemplate;
  readonly beganNs: number;
}

/** Sends a run's requests to Triton and the responses back. */
class TritonHost {
  private readonly triton: TritonLibrary;
  private readonly memory: NativeMemory;
  private readonly regions: Regions;
  private readonly callbacks: ServerCallbacks;
  private readonly addresses: RequestCallbacks;
  private readonly templates = new Map<number, RequestTemplate>();
  /** Why a template cannot be used, by its number. */
  private readonly broken = new Map<number, string>();
  private readonly active = new Map<number, ActiveCall>();
  private server = 0n;
  private queries: QueryAnswers | undefined;

  constructor(triton: TritonLibrary, memory: NativeMemory, callbacks: ServerCallbacks) {
    this.triton = triton;
    this.memory = memory;
    this.regions = new Regions(memory);
    this.callbacks = callbacks;
    const allocator = new Cell();
    triton.call("ResponseAllocatorNew", allocator.bytes, callbacks.allocate, callbacks.release, 0n);
    this.addresses = {
      allocator: allocator.value,
      complete: callbacks.complete,
      deleteRequest: triton.addressOf("InferenceRequestDelete"),
    };
  }

  /** Reads frames from now on. @param end ends the process when the run has ended */
  listen(server: bigint, end: () => void): void {
    this.server = server;
    this.queries = new QueryAnswers(this.triton, server, this.regions);
    const reader = new FrameReader((frame) => this.receive(frame));
    process.stdin.on("data", (chunk: Uint8Array) => reader.feed(chunk));
    process.stdin.on("end", end);
    process.stdin.on("error", end);
    // Until here, JavaScript could not run while models were loaded.
    process.on("SIGTERM", end);
    this.callbacks.endLoading();
    write(encodeFrame(FROM_SERVER.ready, 0, encoder.encode(this.callbacks.warning)));
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
    template.isForgotten = true;
    template.release();
  }

  /** Sends a request. `call` returns as its responses' number. */
  private send(call: number, body: Uint8Array): void {
    const templateId = new DataView(body.buffer, body.byteOffset).getUint32(0, true);
    const template = this.templates.get(templateId);
    try {
      if (template === undefined) throw new Error(this.broken.get(templateId) ?? "the request is not known");
      const request = template.create(this.triton, this.server, this.addresses, call, body.subarray(4));
      const error = this.callbacks.infer(this.server, request);
      if (error !== 0n) {
        // Triton has not taken the request.
        this.triton.get("InferenceRequestDelete", request);
        this.triton.check(error);
      }
    } catch (error) {
      const flags = RESPONSE_FLAGS.final | RESPONSE_FLAGS.failed;
      write(responseFrame(call, flags, 0, 0, encoder.encode(messageOf(error))));
      return;
    }
    (template as RequestTemplate).inFlight++;
    this.active.set(call, { template: template as RequestTemplate, beganNs: this.callbacks.beganNs() });
  }

  private answer(id: number, body: Uint8Array): void {
    const query = JSON.parse(new TextDecoder().decode(body)) as ServerQuery;
    try {
      write(encodeFrame(FROM_SERVER.answer, id, Uint8Array.of(1), (this.queries as QueryAnswers).answer(query)));
    } catch (error) {
      const text = JSON.stringify({ error: messageOf(error) });
      write(encodeFrame(FROM_SERVER.answer, id, Uint8Array.of(0), encoder.encode(text)));
    }
  }

  /** Sends all responses that have arrived. */
  drain(): void {
    for (let hasMore = true; hasMore; ) {
      const frames: Uint8Array[] = [];
      hasMore = this.callbacks.take((arrived) => frames.push(this.finish(arrived)));
      if (frames.length > 0) write(frames.length === 1 ? (frames[0] as Uint8Array) : Buffer.concat(frames));
    }
  }

  /** Returns the frame of a response, and deletes it. */
  private finish({ response, call, atNs, isFinal }: ArrivedResponse): Uint8Array {
    const { beganNs = 0, template } = this.active.get(call) ?? {};
    let flags: number = isFinal ? RESPONSE_FLAGS.final : 0;
    let body: Uint8Array = new Uint8Array(0);
    if (response === 0n) flags |= RESPONSE_FLAGS.empty;
    else {
      try {
        body = encodeResponse(this.triton, response);
      } catch (error) {
        flags |= RESPONSE_FLAGS.failed;
        body = encoder.encode(messageOf(error));
      }
      this.triton.call("InferenceResponseDelete", response);
    }
    if (isFinal && template !== undefined) {
      this.active.delete(call);
      template.inFlight--;
      template.release();
    }
    return responseFrame(call, flags, beganNs, atNs, body);
  }
}

function responseFrame(call: number, flags: number, beganNs: number, atNs: number, body: Uint8Array): Uint8Array {
  const head = new DataView(new ArrayBuffer(RESPONSE_HEAD_BYTES));
  head.setUint8(0, flags);
  head.setFloat64(1, beganNs, true);
  head.setFloat64(9, atNs, true);
  return encodeFrame(FROM_SERVER.response, call, new Uint8Array(head.buffer), body);
}

/** Writes everything; the pipe waits while the run does not read. */
function write(bytes: Uint8Array): void {
  for (let at = 0; at < bytes.length; ) at += writeSync(PIPE, bytes, at);
}

function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
