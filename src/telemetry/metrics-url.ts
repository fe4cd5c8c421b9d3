const DEFAULT_PORT = 8002;
const DEFAULT_PATH = "/metrics";

/** Parses `host:port/path`, `http://…` or `https://…`. Default path: `/metrics`. Returns undefined if the address is not valid. */
export function parseMetricsUrl(text: string): URL | undefined {
  const address = text.includes("://") ? text : `http://${text}`;
  if (text.trim() !== text || text === "" || !URL.canParse(address)) return undefined;
  const url = new URL(address);
  if (url.protocol !== "http:" && url.protocol !== "https:") return undefined;
  // Credentials are not supported, so they are rejected instead of ignored.
  if (url.hostname === "" || url.username !== "" || url.password !== "" || url.hash !== "") return undefined;
  if (url.pathname === "/") url.pathname = DEFAULT_PATH;
  return url;
}

/** Returns Triton's default metrics address: the target's host, port 8002. @param targetUrl URL of the target's plan */
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
