import { type ChildProcess, spawn } from "node:child_process";
import { messageOf } from "../../plan/problem.ts";
import { formatDurationNs, msToNs } from "../../plan/units.ts";
import { joinBytes } from "../../runtime/bytes.ts";

/** Limits of a generator, so that one that hangs or never ends does not block the run. */
export interface GeneratorLimits {
  /** Maximum time from its start to its end. Default: 10 min. */
  readonly totalMs?: number;
  /** Maximum time without output. Default: 60 s. */
  readonly silenceMs?: number;
  /** Maximum number of bytes of all messages together. Default: 1 GiB. */
  readonly maxBytes?: number;
}

const DEFAULT_LIMITS: Required<GeneratorLimits> = {
  totalMs: 600_000, // 10 min
  silenceMs: 60_000, // 60 s
  maxBytes: 1024 * 1024 * 1024, // 1 GiB
};
const LENGTH_BYTES = 4;
const MAX_STDERR_CHARACTERS = 2000;

/** Error of a generator. `stderr` has its standard error output. */
export class GeneratorError extends Error {
  /** The end of the generator's standard error output; may be empty. */
  readonly stderr: string;

  constructor(message: string, stderr: string) {
    super(message);
    this.stderr = stderr;
  }
}

/**
 * Runs a command with the shell, and reads the messages that it writes to standard output: each after its length, 4 bytes in the byte
 * order of this machine. When this function returns, the command and all processes that it started have ended.
 * @param folder working directory of the command; default: the current one
 * @throws GeneratorError if it fails, hangs, writes too much, writes no message, or ends within a message
 */
export function runMessageGenerator(
  command: string,
  limits: GeneratorLimits = {},
  folder?: string,
): Promise<Uint8Array[]> {
  return new GeneratorRun(command, { ...DEFAULT_LIMITS, ...limits }, folder).result;
}

class GeneratorRun {
  readonly result: Promise<Uint8Array[]>;
  private readonly command: string;
  private readonly limits: Required<GeneratorLimits>;
  private readonly child: ChildProcess;
  private readonly messages = new FrameReader();
  private readonly totalTimer: ReturnType<typeof setTimeout>;
  private silenceTimer: ReturnType<typeof setTimeout> | undefined;
  private stderr = "";
  private readonly settle: { resolve(messages: Uint8Array[]): void; reject(error: Error): void };
  /** Ctrl-C reaches only this process, because the generator has a separate group. */
  private readonly onExit = (): void => this.killGroup();

  constructor(command: string, limits: Required<GeneratorLimits>, folder: string | undefined) {
    this.command = command;
    this.limits = limits;
    const { promise, resolve, reject } = Promise.withResolvers<Uint8Array[]>();
    this.result = promise;
    this.settle = { resolve, reject };
    process.on("exit", this.onExit);
    this.child = spawn(command, {
      shell: "/bin/sh",
      cwd: folder,
      detached: true,
      stdio: ["ignore", "pipe", "pipe"],
    });
    this.totalTimer = setTimeout(
      () => this.fail(`did not end within ${formatDurationNs(msToNs(limits.totalMs))}`),
      limits.totalMs,
    );
    this.expectOutput();
    this.child.stdout?.on("data", (bytes: Buffer) => this.read(bytes));
    this.child.stderr?.setEncoding("utf8").on("data", (text: string) => this.note(text));
    this.child.on("error", (error) => this.fail(`cannot be started: ${messageOf(error)}`));
    this.child.on("close", (code, signal) => this.closed(code, signal));
  }

  private read(bytes: Buffer): void {
    this.expectOutput();
    this.messages.feed(bytes);
    const { byteCount, pendingBytes } = this.messages;
    const { maxBytes } = this.limits;
    if (byteCount > maxBytes) this.fail(`wrote more than ${maxBytes} bytes`);
    else if (pendingBytes > maxBytes)
      this.fail(`${this.messages.describePending()}, more than ${maxBytes} bytes are allowed`);
  }

  private note(text: string): void {
    this.stderr = (this.stderr + text).slice(-MAX_STDERR_CHARACTERS);
  }

  private expectOutput(): void {
    const { silenceMs } = this.limits;
    clearTimeout(this.silenceTimer);
    this.silenceTimer = setTimeout(
      () => this.fail(`wrote nothing for ${formatDurationNs(msToNs(silenceMs))}`),
      silenceMs,
    );
  }

  private closed(code: number | null, signal: NodeJS.Signals | null): void {
    const { messages } = this;
    if (code !== 0) this.fail(code === null ? `was ended by ${signal}` : `ended with exit code ${code}`);
    else if (messages.pendingBytes > 0) this.fail(`ended early: ${messages.describePending()}`);
    else if (messages.complete.length === 0) this.fail("wrote no message");
    else {
      this.end();
      this.settle.resolve(messages.complete);
    }
  }

  private fail(reason: string): void {
    this.end();
    this.settle.reject(new GeneratorError(`the message generator \`${this.command}\` ${reason}`, this.stderr.trim()));
  }

  /** Ends the generator and the processes that it started. */
  private end(): void {
    clearTimeout(this.totalTimer);
    clearTimeout(this.silenceTimer);
    process.off("exit", this.onExit);
    this.killGroup();
    // A process that left the group may keep the pipes open.
    this.child.stdout?.destroy();
    this.child.stderr?.destroy();
  }

  private killGroup(): void {
    const { pid } = this.child;
    if (pid === undefined) return;
    try {
      process.kill(-pid, "SIGKILL");
    } catch {
      // The group has already ended.
    }
  }
}

/** Splits a generator's output into messages. */
class FrameReader {
  readonly complete: Uint8Array[] = [];
  /** Bytes received. */
  byteCount = 0;
  private readonly length = new Uint8Array(LENGTH_BYTES);
  private lengthBytes = 0;
  private body: Uint8Array[] = [];
  private bodyBytes = 0;

  feed(bytes: Uint8Array): void {
    this.byteCount += bytes.length;
    let at = 0;
    while (at < bytes.length) {
      if (this.lengthBytes < LENGTH_BYTES) {
        this.length[this.lengthBytes++] = bytes[at++] as number;
      } else {
        const size = Math.min(bytes.length - at, this.size - this.bodyBytes);
        this.body.push(bytes.slice(at, at + size));
        this.bodyBytes += size;
        at += size;
      }
      if (this.lengthBytes === LENGTH_BYTES && this.bodyBytes === this.size) this.finish();
    }
  }

  /** Number of bytes of the incomplete message, with its length field; 0 between messages. */
  get pendingBytes(): number {
    return this.lengthBytes < LENGTH_BYTES ? this.lengthBytes : LENGTH_BYTES + this.size;
  }

  /** Describes the incomplete message: garbage looks like the length of a very long message. */
  describePending(): string {
    const which = `message ${this.complete.length + 1}`;
    if (this.lengthBytes < LENGTH_BYTES)
      return `${which} has ${this.lengthBytes} of the ${LENGTH_BYTES} bytes of its length`;
    const first = [...this.length].map((byte) => byte.toString(16).padStart(2, "0")).join(" ");
    return `${which} has ${this.bodyBytes} of ${this.size} bytes (its length is the bytes ${first}${asText(this.length)})`;
  }

  private get size(): number {
    return new DataView(this.length.buffer).getUint32(0, IS_LITTLE_ENDIAN);
  }

  private finish(): void {
    this.complete.push(joinBytes(this.body));
    this.lengthBytes = 0;
    this.body = [];
    this.bodyBytes = 0;
  }
}

const IS_LITTLE_ENDIAN = new Uint8Array(new Uint16Array([1]).buffer)[0] === 1;

/** Returns the bytes as text: text instead of a length is the most frequent mistake. */
function asText(bytes: Uint8Array): string {
  const text = String.fromCharCode(...bytes);
  return /^[\t\n\r -~]+$/.test(text) ? `, which is the text ${JSON.stringify(text)}` : "";
}
