import { RunError } from "../plan/problem.ts";

/** A server of the protocol that does not have one of its optional calls. */
export class MissingCallError extends RunError {}

/** HTTP's answers for a path that a server does not have, or not with this method. */
const HTTP_MISSING: ReadonlySet<number> = new Set([404, 405, 501]);
const GRPC_UNIMPLEMENTED = 12;

/** Whether a status says that the server has no such call, or over HTTP nothing of that name. */
export function isMissingStatus(kind: "http" | "grpc", status: number | undefined): boolean {
  if (status === undefined) return false;
  return kind === "http" ? HTTP_MISSING.has(status) : status === GRPC_UNIMPLEMENTED;
}

/** The answer; undefined where the server does not have the call. */
export async function unlessMissing<T>(answer: Promise<T>): Promise<T | undefined> {
  try {
    return await answer;
  } catch (error) {
    if (error instanceof MissingCallError) return undefined;
    throw error;
  }
}
