import type { Host } from "./host.ts";

/**
 * Result of a check:
 *
 * - `ok`: nothing to do
 * - `warning`: can distort measurements, or can fail under the requested load
 * - `problem`: makes the requested load impossible
 * - `unknown`: this system does not report it
 */
export type Status = "ok" | "warning" | "problem" | "unknown";

/** The result of a check. */
export interface Finding {
  readonly status: Status;
  /** One sentence without a full stop. */
  readonly message: string;
  /** Remedy, one sentence without a full stop. */
  readonly fix?: string;
  /** The numbers behind the message, for JSON. Names include units. */
  readonly values?: Readonly<Record<string, number | string | boolean | undefined>>;
}

/** The load that the user wants to send. */
export interface AskedLoad {
  readonly concurrency?: number;
  readonly ratePerSec?: number;
  readonly host?: string;
  readonly port?: number;
  readonly protocol: "http" | "grpc";
}

/** A check of this machine. A new check needs one entry in `checks.ts`. */
export interface Check {
  readonly name: string;
  /** Whether it finds what limits this host, which the first screen shows even if there is nothing to do. Default: false */
  readonly isLimit?: true;
  run(host: Host, load: AskedLoad): Finding | Promise<Finding>;
}

export function ok(message: string, values: Finding["values"] = {}): Finding {
  return { status: "ok", message, values };
}

export function warning(message: string, fix: string, values: Finding["values"] = {}): Finding {
  return { status: "warning", message, fix, values };
}

export function impossible(message: string, fix: string, values: Finding["values"] = {}): Finding {
  return { status: "problem", message, fix, values };
}

export function unknown(message: string): Finding {
  return { status: "unknown", message };
}
