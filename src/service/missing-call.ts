import { RunError } from "../plan/problem.ts";

/** Error for a server that does not implement an optional call of the protocol. */
export class MissingCallError extends RunError {}

/** HTTP statuses for an unknown path, or an unknown method of a path. */
const HTTP_MISSING: ReadonlySet<number> = new Set([404, 405, 501]);
const GRPC_UNIMPLEMENTED = 12;

/** Whether a status means that the server lacks the call (over HTTP: anything of that name). */
export function isMissingStatus(kind: "http" | "grpc", status: number | undefined): boolean {
  if (status === undefined) return false;
  return kind === "http" ? HTTP_MISSING.has(status) : status === GRPC_UNIMPLEMENTED;
}

/** Returns the response; undefined if the server lacks the call. */
export async function unlessMissing<T>(response: Promise<T>): Promise<T | undefined> {
  try {
    return await response;
  } catch (error) {
    if (error instanceof MissingCallError) return undefined;
    throw error;
  }
}
