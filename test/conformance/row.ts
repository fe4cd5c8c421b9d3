import type { InputsPlan, TargetPlan } from "../../src/plan/plan.ts";
import type { TlsPlan } from "../../src/plan/tls.ts";
import type { FailureKind } from "../../src/transport/failure.ts";
import type { SequenceRequest } from "../run/send/sequence-traffic.ts";
import type { Certificates } from "../servers/tls.ts";
import type { CaseName } from "./cases.ts";

/** The table of service kinds and protocols: what a row says of one of them. */

/** What a server does to a request of the load instead of answering it at once. */
export type Fault =
  /** It answers that the request failed. */
  | "error"
  /** It takes {@link SLOW_MS}. */
  | "slow"
  /** It never answers. */
  | "silent"
  /** It closes the connection without a byte of an answer. */
  | "close"
  /** It closes the connection in the middle of the answer. */
  | "break"
  /** It answers with a web page and status 200. */
  | "wrong-type"
  /** It answers well, with {@link LARGE_BYTES} more than needed. */
  | "large"
  /** The same; the run allows only {@link LIMIT_BYTES}. */
  | "huge";

/** How long a slow answer takes. */
export const SLOW_MS = 60;
/** The size of a large or huge answer. */
export const LARGE_BYTES = 1024 * 1024;
/** The limit of an answer where servers give huge ones. */
export const LIMIT_BYTES = 256 * 1024;

/** Faults after which the request counts as answered. */
export const ANSWERED: ReadonlySet<Fault | undefined> = new Set<Fault | undefined>([undefined, "slow", "large"]);

/** How a server behaves during one case. */
export interface ServerSettings {
  /** Returns what happens to the request of the load that arrives as number `index`, from 0. */
  fault(index: number): Fault | undefined;
  /** Requests of the load wait until this many have arrived. Absent: they do not wait. */
  readonly holdUntil?: number | undefined;
  /** Present: the server speaks TLS only. */
  readonly certificates?: Certificates | undefined;
  /** Whether its model takes sequences. */
  readonly isSequence: boolean;
}

/** What a server saw of the load. Queries do not count. */
export class Traffic {
  received = 0;
  /** Requests that it answered well. */
  answered = 0;
  /** Requests that it did not answer well. */
  faulted = 0;
  outstanding = 0;
  mostOutstanding = 0;
  /** The requests that belong to sequences, in the order of their arrival. */
  readonly sequences: SequenceRequest[] = [];
  private readonly waiting: { readonly count: number; resolve(): void }[] = [];

  /** Counts a request that arrives, and returns its number from 0. */
  arrive(sequence?: SequenceRequest): number {
    if (sequence !== undefined) this.sequences.push(sequence);
    this.outstanding++;
    this.mostOutstanding = Math.max(this.mostOutstanding, this.outstanding);
    this.received++;
    for (const { count, resolve } of this.waiting) if (this.received >= count) resolve();
    return this.received - 1;
  }

  /** Counts the end of a request at the server. */
  end(fault: Fault | undefined): void {
    this.outstanding--;
    if (ANSWERED.has(fault)) this.answered++;
    else this.faulted++;
  }

  /** Resolves when this many requests have arrived. */
  until(count: number): Promise<void> {
    return this.received >= count ? Promise.resolve() : new Promise((resolve) => this.waiting.push({ count, resolve }));
  }
}

/** A server that one case started. */
export interface RowServer {
  /** `127.0.0.1:PORT`. */
  readonly address: string;
  readonly traffic: Traffic;
  stop(): Promise<void>;
}

/** Where a case aims. */
export interface Aim {
  /** `127.0.0.1:PORT`; with TLS `https://localhost:PORT` over HTTP, and `localhost:PORT` over gRPC. Empty: the run starts its own target. */
  readonly url: string;
  /** More servers of the same kind. */
  readonly moreUrls: readonly string[];
  readonly tls: TlsPlan;
  /** What the case's servers do to some requests; for targets that the run starts itself. */
  readonly fault: Fault | undefined;
}

/** How a failure is counted. */
export interface ExpectedFailure {
  readonly kind: FailureKind;
  readonly status?: number;
}

/** A use that a kind refuses, because it cannot have the case that would need it. */
export interface Refusal {
  /** Resolves with the errors that a user sees. */
  ask(): Promise<string>;
  readonly error: RegExp;
}

/** One service kind with one protocol. */
export interface ConformanceRow {
  /** For the names of its tests: `triton over HTTP`. */
  readonly name: string;
  readonly wire: "http" | "grpc";
  /** Installs what its servers need, once, before its first case. */
  prepare?(): Promise<void>;
  /** Starts a server. Absent: the run starts its own target, whose statistics are compared instead. */
  start?(settings: ServerSettings): Promise<RowServer>;
  /** Its next case begins together with each one, because starting a server takes long. Default: one case after the other. */
  readonly startsSlowly?: true;
  /** Returns the part of the plan that aims at the servers. */
  target(aim: Aim): TargetPlan;
  /** Default: random tensors. */
  readonly inputs?: InputsPlan;
  /** Whether the server reports counts of its own, which the result must agree with. Default: false. */
  readonly hasStatistics?: boolean;
  /**
   * Faults after which the server's statistics may count the request as a success, because the client refused the answer or did not wait for
   * it. Default: none.
   */
  readonly countedAsSuccess?: ReadonlySet<Fault>;
  /** Faults that end its server for good, and what the run's error says then. Default: none. */
  readonly ending?: { readonly faults: ReadonlySet<Fault>; readonly error: RegExp };
  /** Whether a cancelled request may never have arrived, as the server ends with the run. Default: false. */
  readonly losesCancelled?: true;
  /** How the faults of its servers are counted. */
  readonly failures: Readonly<Partial<Record<Fault, ExpectedFailure>>>;
  /** The cases that it cannot have, each with the reason. */
  readonly cannot: Readonly<Partial<Record<CaseName, string>>>;
  /** What users could ask for in spite of that, and how it is refused. */
  readonly refusals?: Readonly<Partial<Record<CaseName, readonly Refusal[]>>>;
}
