import { type ChildProcess, spawn } from "node:child_process";
import type { Readable, Writable } from "node:stream";
import type { ThisProgram } from "../../runtime/this-program.ts";
import type { WireRequest } from "../request.ts";
import { encodeFrame, FROM_SERVER, type Frame, FrameReader, TO_SERVER } from "./frames.ts";

/** Environment variable that makes a process of this program a server, with its settings as JSON. */
const SERVER_ROLE = "RAMPART_IN_PROCESS_SERVER";

/**
 * Triton starts Python models through bash. At a lower level, with a socket as its input, bash assumes that it is the shell of a remote
 * user and runs `~/.bashrc`, which may change the models' environment.
 */
const SHELL_LEVEL = "2";

/** Maximum length of the process's output that is kept, from its end. */
const MOST_LOG_CHARACTERS = 64 * 1024;
/** Number of its last lines that an error shows. */
const SHOWN_LINES = 12;
/** Wait for output that arrives after the process has ended. */
const LAST_OUTPUT_MS = 100;

/** Receives the process's messages about a call. */
export interface CallReceiver {
  onFrame(frame: Frame): void;
  /** The process has ended, and no more frames arrive. */
  onEnded(message: string): void;
}

/** A process of this program that runs a server's library, so that a crash of the library does not end the run. Linux only. */
export class ServerProcess {
  /** Resolves with a warning, or an empty text, when the server is ready. Rejects with the reason when it cannot start. */
  readonly ready: Promise<string>;
  readonly templates: TemplateTable;
  private readonly child: ChildProcess;
  private readonly input: Writable;
  private readonly calls = new Map<number, CallReceiver>();
  private readonly unsent: Uint8Array[] = [];
  private readonly exited: Promise<void>;
  private lastCall = 0;
  private log = "";
  private refusal = "";
  private endMessage = "";
  private isClosed = false;

  /**
   * @param program this program @param settings plain data for the server's entry @param variables additional environment variables;
   * default: none
   */
  constructor(program: ThisProgram, settings: object, variables: Readonly<Record<string, string>> = {}) {
    this.child = spawn(program.command, program.args, {
      stdio: ["pipe", "pipe", "pipe", "pipe"],
      env: { ...process.env, ...variables, SHLVL: SHELL_LEVEL, [SERVER_ROLE]: JSON.stringify(settings) },
      detached: true,
    });
    this.input = this.child.stdin as Writable;
    this.input.on("error", () => {}); // the process has ended, which is reported elsewhere
    this.templates = new TemplateTable((frame) => this.unsent.push(frame));
    for (const output of [this.child.stdout, this.child.stderr] as Readable[])
      output.on("data", (chunk: Uint8Array) => {
        this.log = (this.log + new TextDecoder().decode(chunk)).slice(-MOST_LOG_CHARACTERS);
      });
    const { promise, resolve, reject } = Promise.withResolvers<string>();
    this.ready = promise;
    this.ready.catch(() => {});
    const reader = new FrameReader((frame) => this.receive(frame, resolve));
    const pipe = this.child.stdio[3] as Readable;
    pipe.on("data", (chunk: Uint8Array) => {
      reader.feed(chunk);
      // Sends requests that were started while responses arrived.
      this.flush();
    });
    pipe.on("error", () => {});
    this.exited = new Promise((ended) => {
      const end = (how: string): void => {
        // Its last output may not have been read yet.
        setTimeout(() => {
          this.failAll(how);
          reject(new Error(this.endMessage));
          ended();
        }, LAST_OUTPUT_MS);
      };
      this.child.once("error", (error) => end(error.message));
      this.child.once("exit", (code, signal) => end(signal === null ? `exit code ${code}` : `signal ${signal}`));
    });
    process.once("exit", this.killGroup);
  }

  get pid(): number {
    return this.child.pid ?? 0;
  }

  /** Starts a call. Its frames go to the receiver until `endCall`. Returns its number. */
  startCall(receiver: CallReceiver, type: number, ...parts: readonly Uint8Array[]): number {
    do this.lastCall = (this.lastCall + 1) % 2 ** 32;
    while (this.calls.has(this.lastCall));
    const id = this.lastCall;
    this.calls.set(id, receiver);
    if (this.endMessage === "") this.unsent.push(encodeFrame(type, id, ...parts));
    else queueMicrotask(() => receiver.onEnded(this.endMessage));
    return id;
  }

  endCall(id: number): void {
    this.calls.delete(id);
  }

  /** Writes the started calls. */
  flush(): void {
    const { unsent } = this;
    if (unsent.length === 0) return;
    this.input.write(unsent.length === 1 ? (unsent[0] as Uint8Array) : Buffer.concat(unsent));
    unsent.length = 0;
  }

  /** Ends the process and its models' processes. */
  async close(): Promise<void> {
    this.isClosed = true;
    this.killGroup();
    await this.exited;
    process.off("exit", this.killGroup);
  }

  private receive(frame: Frame, becomeReady: (warning: string) => void): void {
    if (frame.type === FROM_SERVER.ready) becomeReady(new TextDecoder().decode(frame.body));
    else if (frame.type === FROM_SERVER.refused) this.refusal = new TextDecoder().decode(frame.body);
    else this.calls.get(frame.id)?.onFrame(frame);
  }

  private failAll(how: string): void {
    this.killGroup();
    this.endMessage = this.refusal === "" ? `the process with the library has ended (${how})` : this.refusal;
    const lines = this.log.trimEnd().split("\n").slice(-SHOWN_LINES);
    if (!this.isClosed && lines.join("") !== "") this.endMessage += `; its last output:\n  ${lines.join("\n  ")}`;
    for (const receiver of [...this.calls.values()]) receiver.onEnded(this.endMessage);
    this.calls.clear();
  }

  /** The models' processes are in the process's group. */
  private readonly killGroup = (): void => {
    if (this.child.pid === undefined) return;
    for (const target of [-this.child.pid, this.child.pid]) {
      try {
        process.kill(target, "SIGKILL");
      } catch {
        // The process has already ended.
      }
    }
  };
}

/**
 * Total payload size of the requests that the other process keeps, in bytes. Above it, the least recently used ones are
 * dropped, and sent again when needed.
 */
const MOST_BYTES = 256 * 1024 * 1024; // 256 MiB

/** Sends each distinct request once. Calls then refer to it by number. */
export class TemplateTable {
  private readonly send: (frame: Uint8Array) => void;
  private readonly maxBytes: number;
  /** Numbers in the order of their last use. */
  private readonly ids = new Map<WireRequest, number>();
  private heldBytes = 0;
  private lastId = 0;

  /** @param send sends a frame before the frames of later calls @param maxBytes default: 256 MiB */
  constructor(send: (frame: Uint8Array) => void, maxBytes = MOST_BYTES) {
    this.send = send;
    this.maxBytes = maxBytes;
  }

  /** Returns a request's number. Sends its bytes when the other process does not have them. */
  idOf(request: WireRequest): number {
    const known = this.ids.get(request);
    if (known !== undefined) {
      if (this.ids.size > 1) {
        this.ids.delete(request);
        this.ids.set(request, known);
      }
      return known;
    }
    const id = this.lastId + 1;
    this.lastId = id;
    const stampOffset = new DataView(new ArrayBuffer(4));
    stampOffset.setUint32(0, request.stampPlace?.offset ?? 0, true);
    this.send(encodeFrame(TO_SERVER.template, id, new Uint8Array(stampOffset.buffer), request.payload));
    this.ids.set(request, id);
    this.heldBytes += request.payload.length;
    this.forgetOldest(request);
    return id;
  }

  /** Removes a request that is sent only once. Call after its call. */
  forget(request: WireRequest): void {
    const id = this.ids.get(request);
    if (id === undefined) return;
    this.ids.delete(request);
    this.heldBytes -= request.payload.length;
    this.send(encodeFrame(TO_SERVER.forget, id, new Uint8Array(0)));
  }

  private forgetOldest(newest: WireRequest): void {
    for (const request of this.ids.keys()) {
      if (this.heldBytes <= this.maxBytes || request === newest) return;
      this.forget(request);
    }
  }
}
