import { UserError } from "../plan/problem.ts";
import { parseUrl } from "../run/open/endpoint.ts";

/** Returns why a text is no address of a server; undefined when it is one. A query is allowed: it is that of an HTTP server's path. */
export function checkAddress(answer: string): string | undefined {
  try {
    parseUrl(answer.trim().replace(/\?.*$/s, ""), 1);
    return undefined;
  } catch (error) {
    if (error instanceof UserError) return "must be host:port, http://host:port or https://host:port";
    throw error;
  }
}
