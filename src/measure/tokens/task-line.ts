import { messageOf, RunError } from "../../plan/problem.ts";
import type { SentError } from "../../plan/sent-error.ts";
import { TemporaryFile, temporaryFolder } from "../../runtime/temporary-file.ts";
import type { WorkerCalls } from "../../runtime/worker-calls.ts";
import type { PackedBytes } from "../../transport/packed-bytes.ts";
import { toBytes } from "../column.ts";
import type { TokenTask } from "./token-thread.ts";

/** Maximum size of the packages sent to the thread that it has not processed yet. */
const MOST_ON_THE_WAY_BYTES = 2 * 1024 * 1024;
/** Maximum size of the packages that wait in memory. Others wait in a file. */
const MOST_HELD_BYTES = 4 * 1024 * 1024;

type PackedTask = Extract<TokenTask, { readonly kind: "packed" }>;

type Waiting =
  | { readonly kind: "held"; readonly task: PackedTask }
  | {
      readonly kind: "stored";
      readonly position: number;
      readonly numberCount: number;
      readonly byteCount: number;
      readonly group: number | undefined;
    }
  | { readonly kind: "other"; readonly task: object; readonly reply: PromiseWithResolvers<unknown> };

/** Limits of the line, in bytes. */
interface TaskLineOptions {
  /** Default: 2 MiB */
  readonly mostOnTheWay?: number;
  /** Default: 4 MiB */
  readonly mostHeld?: number;
}

/**
 * Tasks on their way to the thread that counts tokens, in order. If responses arrive faster than it counts them, they wait on
 * disk and not in memory.
 */
export class TaskLine {
  private readonly calls: Pick<WorkerCalls<SentError>, "call" | "fail">;
  private readonly mostOnTheWay: number;
  private readonly mostHeld: number;
  private waiting: Waiting[] = [];
  private onTheWayBytes = 0;
  private heldBytes = 0;
  private file: TemporaryFile | undefined;
  private storedCount = 0;

  constructor(calls: Pick<WorkerCalls<SentError>, "call" | "fail">, options: TaskLineOptions = {}) {
    this.calls = calls;
    this.mostOnTheWay = options.mostOnTheWay ?? MOST_ON_THE_WAY_BYTES;
    this.mostHeld = options.mostHeld ?? MOST_HELD_BYTES;
  }

  /** Adds responses, and takes ownership of their buffers. If they cannot be counted, every later call fails. */
  pack(task: PackedTask): void {
    const size = sizeOf(task.packed);
    if (this.waiting.length === 0 && this.mayLeave(size)) this.send(task);
    // Packages after a stored one are stored too, so that the file is read from beginning to end.
    else if (this.file === undefined && this.heldBytes + size <= this.mostHeld) {
      this.heldBytes += size;
      this.waiting.push({ kind: "held", task });
    } else this.store(task);
  }

  /** Adds another task. Resolves with the reply. */
  call<R>(task: object): Promise<R> {
    if (this.waiting.length === 0) return this.calls.call<R>(task);
    const reply = Promise.withResolvers<unknown>();
    this.waiting.push({ kind: "other", task, reply });
    return reply.promise as Promise<R>;
  }

  /** Adds another task without a reply. If it fails, every later call fails. */
  post(task: object): void {
    this.call(task).catch((error: unknown) => this.calls.fail(error as Error));
  }

  /** Reports whether a package may be sent. One package always may, whatever its size. */
  private mayLeave(size: number): boolean {
    return this.onTheWayBytes === 0 || this.onTheWayBytes + size <= this.mostOnTheWay;
  }

  private send(task: PackedTask): void {
    const { numbers, bytes } = task.packed;
    const size = sizeOf(task.packed);
    this.onTheWayBytes += size;
    this.calls
      .call(task, [numbers.buffer, bytes.buffer])
      .catch((error: unknown) => this.calls.fail(error as Error))
      .finally(() => {
        this.onTheWayBytes -= size;
        this.advance();
      });
  }

  private advance(): void {
    let count = 0;
    for (const entry of this.waiting) {
      if (entry.kind === "other") this.calls.call(entry.task).then(entry.reply.resolve, entry.reply.reject);
      else if (!this.mayLeave(entry.kind === "held" ? sizeOf(entry.task.packed) : storedBytes(entry))) break;
      else if (entry.kind === "stored") this.send(this.read(entry));
      else {
        this.heldBytes -= sizeOf(entry.task.packed);
        this.send(entry.task);
      }
      count++;
    }
    if (count > 0) this.waiting = this.waiting.slice(count);
  }

  private store({ packed: { numbers, bytes }, group }: PackedTask): void {
    try {
      this.file ??= new TemporaryFile("responses");
      const position = this.file.append(toBytes(numbers));
      this.file.append(bytes);
      this.storedCount++;
      this.waiting.push({ kind: "stored", position, numberCount: numbers.length, byteCount: bytes.length, group });
    } catch (error) {
      const message = `responses come faster than their tokens are counted, and wait in a temporary file in ${temporaryFolder()}: ${messageOf(error)}`;
      this.calls.fail(new RunError("output", message, "Set TMPDIR to a folder with more room, or lower the load."));
    }
  }

  private read(entry: Extract<Waiting, { readonly kind: "stored" }>): PackedTask {
    const { position, numberCount, byteCount, group } = entry;
    const numbers = new Float64Array(numberCount);
    const bytes = new Uint8Array(byteCount);
    this.file?.read(position, toBytes(numbers));
    this.file?.read(position + numbers.byteLength, bytes);
    this.storedCount--;
    if (this.storedCount === 0) {
      this.file?.close();
      this.file = undefined;
    }
    return { kind: "packed", packed: { numbers, bytes }, ...(group === undefined ? {} : { group }) };
  }
}

function sizeOf({ numbers, bytes }: PackedBytes): number {
  return numbers.byteLength + bytes.byteLength;
}

function storedBytes({ numberCount, byteCount }: Extract<Waiting, { readonly kind: "stored" }>): number {
  return numberCount * Float64Array.BYTES_PER_ELEMENT + byteCount;
}
