import type { Ports } from "../golden/runner.ts";

/** The interoperability matrix: servers that nobody here wrote, each with the protocols that it speaks. */

/** One protocol of a server. */
export interface MatrixRow {
  /** For the table: `KServe over HTTP`. */
  readonly protocol: string;
  /** The arguments of `rampart perf_analyzer`. */
  readonly flags: readonly string[];
  /** The JSON of each request, for servers that take payloads. */
  readonly payload?: object;
  /** The entry of `data` in the file of inputs, for servers that take other requests. */
  readonly entry?: object;
  /** More files for the command, which runs in their folder: their texts by name. */
  readonly files?: Readonly<Record<string, string>>;
  /** Reads how many such requests the server has answered since it started. Absent: it counts none. */
  count?(): Promise<number>;
  /** What Rampart says of a protocol that cannot be measured; a row that works then fails the test. Absent: it works. */
  readonly fails?: RegExp;
  /** For the table: why it cannot be measured, and what can be done. Only with `fails`. */
  readonly why?: string;
}

/** A running server of the matrix. */
export interface RunningServer {
  readonly version: string;
  readonly rows: readonly MatrixRow[];
  /** Where its golden transcripts find it. Absent: it has none. */
  readonly ports?: Pick<Ports, "http" | "grpc" | "metrics">;
  stop(): Promise<void>;
}

/** A server of the matrix. */
export interface MatrixServer {
  readonly name: string;
  /** The `server` of its golden transcripts. */
  readonly golden?: string;
  /** Installs and starts it. @throws when that fails */
  start(): Promise<RunningServer>;
}

/** What one row came to. */
export interface RowResult {
  readonly server: string;
  readonly version: string;
  readonly protocol: string;
  /** Whether all requests were answered. */
  readonly isMeasured: boolean;
  /** For the table, in a few words. */
  readonly works: string;
  /** What the server lacks, or why it is not measured. */
  readonly lacks: string;
  /** What differs from what the row expects; undefined when nothing does. */
  readonly problem: string | undefined;
}
