/** Where a server's metrics are. */

const DEFAULT_PORT = 8002;
const DEFAULT_PATH = "/metrics";

/** Reads the address of metrics: `host:port/path`, `http://…` or `https://…`; without a path it is `/metrics`. Undefined: it is none. */
export function parseMetricsUrl(text: string): URL | undefined {
  const address = text.includes("://") ? text : `http://${text}`;
  if (text.trim() !== text || text === "" || !URL.canParse(address)) return undefined;
  const url = new URL(address);
  if (url.protocol !== "http:" && url.protocol !== "https:") return undefined;
  // Not silently dropped: nothing here sends a name and a password.
  if (url.hostname === "" || url.username !== "" || url.password !== "" || url.hash !== "") return undefined;
  if (url.pathname === "/") url.pathname = DEFAULT_PATH;
  return url;
}

/** Where Triton has its metrics unless told otherwise: the target's host, port 8002. @param targetUrl as the target's plan has it */
export function defaultMetricsUrl(targetUrl: string): string {
  const trimmed = targetUrl.trim();
  const bare = trimmed.startsWith("=") ? trimmed.slice(1) : trimmed;
  const scheme = bare.indexOf("://");
  const rest = scheme < 0 ? bare : bare.slice(scheme + 3);
  const slash = rest.indexOf("/");
  const place = slash < 0 ? rest : rest.slice(0, slash);
  const colon = place.indexOf(":", place.startsWith("[") ? place.indexOf("]") : 0);
  return `${colon < 0 ? place : place.slice(0, colon)}:${DEFAULT_PORT}${DEFAULT_PATH}`;
}
