import { defined } from "../../plan/objects.ts";
import type { ClientPlan } from "../../plan/plan.ts";
import { type UserError, userError } from "../../plan/problem.ts";
import { registerHeaders, registerUrl } from "../../plan/secrets.ts";
import type { TlsPlan } from "../../plan/tls.ts";
import type { ServiceAddress } from "../../service/service.ts";
import type { Endpoint } from "../../transport/request.ts";
import { SourceTurns } from "../../transport/source-addresses.ts";
import { readTls } from "./tls-files.ts";

/**
 * Parses a service's URL and reads its TLS files. @param sources source addresses of its connections; default: the system's choice @throws
 * UserError
 */
export function resolveEndpoint(address: ServiceAddress, tls: TlsPlan, sources?: SourceTurns): Endpoint {
  registerUrl(address.url);
  registerHeaders(address.headers);
  const url = parseUrl(address.url, address.defaultPort);
  const usesTls = url.isSecure || tls.isEnabled;
  return {
    host: url.host,
    port: url.port,
    authority: url.authority,
    pathPrefix: url.pathPrefix,
    headers: address.headers,
    ...defined({ sources }),
    ...(usesTls ? { tls: readTls(tls, address.wire === "http" ? ["http/1.1"] : ["h2"]) } : {}),
  };
}

/**
 * Returns the source addresses of the connections to one server; undefined: the system's choice. @param first number of the first address.
 * Default: 0
 */
export function sourcesOf(
  { sourceAddresses }: Pick<ClientPlan, "sourceAddresses">,
  first = 0,
): SourceTurns | undefined {
  return sourceAddresses && new SourceTurns(sourceAddresses, first);
}

interface ParsedUrl extends Pick<Endpoint, "host" | "port" | "authority" | "pathPrefix"> {
  readonly isSecure: boolean;
  readonly hasPort: boolean;
}

/** Parses `host`, `host:port`, `[v6]:port` and `http(s)://host[:port][/prefix]`; drops a leading `=` from `-u=host`. @throws UserError */
export function parseUrl(text: string, defaultPort: number): ParsedUrl {
  const trimmed = text.trim();
  const bare = trimmed.startsWith("=") ? trimmed.slice(1) : trimmed;
  const scheme = bare.startsWith("http://") ? "http" : bare.startsWith("https://") ? "https" : undefined;
  const rest = scheme === undefined ? bare : bare.slice(scheme.length + 3);
  const slash = rest.indexOf("/");
  const place = slash < 0 ? rest : rest.slice(0, slash);
  const colon = place.indexOf(":", place.startsWith("[") ? place.indexOf("]") : 0);
  const name = colon < 0 ? place : place.slice(0, colon);
  const port = colon < 0 ? undefined : readPort(place.slice(colon + 1));
  const host = name.startsWith("[") && name.endsWith("]") ? name.slice(1, -1) : name;
  if (
    host === "" ||
    host.includes("[") ||
    Number.isNaN(port) ||
    /^[a-z]+:\/\//i.test(rest) ||
    // Not the host `http`.
    (scheme === undefined && /^https?\/\//i.test(rest)) ||
    // A line break could inject a header.
    /[\s\u0000-\u0020\u007f]/.test(rest) ||
    rest.includes("?") ||
    rest.includes("#")
  ) {
    const forms = "Write host:port, http://host:port or https://host:port";
    const [, plain] = /^grpcs?:\/\/(.+)$/i.exec(text) ?? [];
    const refuse = (message: string, hint: string): UserError =>
      userError("invalid-value", { setting: "target.url" }, message, hint, text);
    if (plain !== undefined) throw refuse("is not an address", `Write ${plain}, and choose gRPC as the protocol.`);
    const inBrackets = "Write [::1]:8000, with the address in brackets and the port after them.";
    if (/^(?:[\da-f]{0,4}:){2,8}[\da-f]*$/i.test(place))
      throw refuse("is an IPv6 address without brackets", inBrackets);
    throw refuse("is not an address", Number.isNaN(port) ? `${forms}, with a port from 1 to 65535.` : `${forms}.`);
  }
  return {
    host,
    port: port ?? (scheme === "http" ? 80 : scheme === "https" ? 443 : defaultPort),
    authority: port === undefined && scheme === undefined ? `${name}:${defaultPort}` : place,
    pathPrefix: slash < 0 ? "" : withoutTrailingSlashes(rest.slice(slash)),
    isSecure: scheme === "https",
    hasPort: port !== undefined,
  };
}

/** Says which port is used for an address without one: `no port is given, so port 80 is used`. Empty if it has a port. */
export function describeImpliedPort({ url, defaultPort }: Pick<ServiceAddress, "url" | "defaultPort">): string {
  if (defaultPort === 0) return "";
  const { hasPort, port } = parseUrl(url, defaultPort);
  return hasPort ? "" : `no port is given, so port ${port} is used`;
}

/** Returns a port from 1 to 65,535, or NaN. */
function readPort(text: string): number {
  const port = Number(text);
  return text !== "" && Number.isInteger(port) && port > 0 && port <= 65_535 ? port : Number.NaN;
}

function withoutTrailingSlashes(path: string): string {
  let end = path.length;
  while (end > 0 && path[end - 1] === "/") end--;
  return path.slice(0, end);
}
