import { randomBytes } from "node:crypto";
import { closeSync, existsSync, openSync, rmSync, statSync, writeSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Plan } from "../../plan/plan.ts";
import { messageOf, RunError } from "../../plan/problem.ts";
import { setting } from "../../plan/setting-names.ts";
import type { FailedRequest } from "../../result/request-record.ts";
import { splitBytesElements } from "../../service/json-tensors.ts";
import type { Tensor } from "../../service/tensor.ts";
import type { FailureKind } from "../../transport/failure.ts";
import type { Report } from "../report.ts";

/**
 * Requests that failed, written out as they fail: the profile export has only those that were answered. They wait in a file beside the
 * records' file, whose writer takes them from there.
 */

/** A failed request as it lies in the file, one line of JSON each. Times are epoch nanoseconds as text. */
export interface StoredFailure {
  readonly sendNs: string;
  readonly firstByteNs: string | undefined;
  readonly endNs: string;
  readonly isWarmup: boolean;
  readonly sequenceId: number;
  readonly responseCount: number;
  readonly kind: FailureKind;
  readonly message: string;
  readonly status: number | undefined;
  readonly origin: RequestOrigin;
}

/** What a request says of itself. */
export interface RequestOrigin {
  /** Undefined where it names none. */
  readonly model: string | undefined;
  /** The conversation it is part of; undefined without one. */
  readonly session: string | undefined;
}

/** Reads a request's inputs by name: `payload` is its body as JSON. */
export function readOrigin(inputs: Readonly<Record<string, unknown>>): RequestOrigin {
  const { payload, session_id: session } = inputs;
  return {
    model: typeof payload === "string" ? readModel(payload) : undefined,
    session: session === undefined || session === null ? undefined : String(session),
  };
}

function readModel(payload: string): string | undefined {
  try {
    const { model } = JSON.parse(payload) as { model?: unknown };
    return typeof model === "string" ? model : undefined;
  } catch {
    return undefined;
  }
}

const paths = new Map<string, string>();

/** Where they wait: a name that cannot be taken, in a folder that can be written. @param recordsFile the plan's */
export function failedRequestsPath(recordsFile: string): string {
  let path = paths.get(recordsFile);
  if (path === undefined) {
    const isBeside = !existsSync(recordsFile) || statSync(recordsFile).isFile();
    const beside = isBeside ? recordsFile : join(tmpdir(), "rampart-records");
    path = `${beside}.${process.pid}.${randomBytes(4).toString("hex")}.failed`;
    paths.set(recordsFile, path);
  }
  return path;
}

const FLUSH_CHARACTERS = 64 * 1024;

/** Creates the report; its file is there, be it empty, once the run has ended. */
export function createFailedRequests(plan: Plan): Report {
  return new FailedRequests(plan.outputs.recordsFile ?? "");
}

class FailedRequests implements Report {
  private readonly recordsFile: string;
  private readonly path: string;
  private readonly fd: number;
  private readonly origins = new WeakMap<readonly Tensor[], RequestOrigin>();
  private isWarmup = false;
  private buffer: string[] = [];
  private bufferedCharacters = 0;

  constructor(recordsFile: string) {
    this.recordsFile = recordsFile;
    this.path = failedRequestsPath(recordsFile);
    try {
      this.fd = openSync(this.path, "wx", 0o600);
    } catch (error) {
      throw this.toError(error);
    }
  }

  onLevelStart(_unit: string, _level: number, isWarmup: boolean): void {
    this.isWarmup = isWarmup;
  }

  onFailed({ failure, inputs, sequenceId, responseCount, ...times }: FailedRequest): void {
    const stored: StoredFailure = {
      sendNs: String(times.sendEpochNs),
      firstByteNs: times.firstByteEpochNs === undefined ? undefined : String(times.firstByteEpochNs),
      endNs: String(times.endEpochNs),
      isWarmup: this.isWarmup,
      sequenceId,
      responseCount,
      kind: failure.kind,
      message: failure.message,
      status: failure.status,
      origin: this.originOf(inputs),
    };
    const line = `${JSON.stringify(stored)}\n`;
    this.buffer.push(line);
    this.bufferedCharacters += line.length;
    if (this.bufferedCharacters >= FLUSH_CHARACTERS) this.flush();
  }

  finish(): void {
    this.flush();
    closeSync(this.fd);
  }

  discard(): void {
    closeSync(this.fd);
    rmSync(this.path, { force: true });
  }

  private flush(): void {
    const bytes = Buffer.from(this.buffer.join(""));
    this.buffer = [];
    this.bufferedCharacters = 0;
    try {
      for (let offset = 0; offset < bytes.length; ) offset += writeSync(this.fd, bytes, offset);
    } catch (error) {
      throw this.toError(error);
    }
  }

  private originOf(inputs: readonly Tensor[]): RequestOrigin {
    let origin = this.origins.get(inputs);
    if (origin === undefined) {
      const texts = inputs
        .filter(({ datatype }) => datatype === "BYTES")
        .map(({ name, bytes }) => [name, firstText(bytes)]);
      origin = readOrigin(Object.fromEntries(texts));
      this.origins.set(inputs, origin);
    }
    return origin;
  }

  private toError(error: unknown): RunError {
    return new RunError(
      "output",
      `${this.recordsFile} cannot be written: ${messageOf(error)}`,
      `Give another path with ${setting("outputs.recordsFile")}.`,
    );
  }
}

function firstText(bytes: Uint8Array): string {
  return Buffer.from(splitBytesElements(bytes)?.[0] ?? bytes).toString();
}
