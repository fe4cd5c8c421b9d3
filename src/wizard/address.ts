import { UserError } from "../plan/problem.ts";
import { parseUrl } from "../run/open/endpoint.ts";

/** Explains why a text is not the address of a server; undefined if it is one. A query is part of an HTTP server's path. */
export function checkAddress(answer: string): string | undefined {
  try {
    parseUrl(answer.trim().replace(/\?.*$/s, ""), 1);
    return undefined;
  } catch (error) {
    if (error instanceof UserError) return "must be host:port, http://host:port or https://host:port";
    throw error;
  }
}
