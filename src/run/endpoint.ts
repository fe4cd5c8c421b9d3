import type { TlsPlan } from "../plan/plan.ts";
import { messageOf, type Problem, UserError } from "../plan/problem.ts";
import { fileSystem } from "../runtime/files.ts";
import type { TlsSettings } from "../runtime/socket.ts";
import type { ServiceAddress } from "../service/service.ts";
import type { Endpoint } from "../transport/request.ts";

/** From an address as a user writes it to what a transport connects to. */

/** Parses the URL and reads the files TLS needs. Throws {@link UserError}. */
export function resolveEndpoint(address: ServiceAddress, tls: TlsPlan): Endpoint {
  const url = parseUrl(address.url, address.defaultPort);
  const usesTls = url.isSecure || tls.isEnabled;
  return {
    host: url.host,
    port: url.port,
    authority: url.authority,
    pathPrefix: url.pathPrefix,
    headers: address.headers,
    ...(usesTls ? { tls: readTls(tls, address.wire === "http" ? ["http/1.1"] : ["h2"]) } : {}),
  };
}

interface ParsedUrl {
  readonly host: string;
  readonly port: number;
  readonly authority: string;
  readonly pathPrefix: string;
  readonly isSecure: boolean;
}

/** Takes `host`, `host:port`, `[v6]:port` and `http(s)://host[:port][/prefix]`; a leading `=` from `-u=host` is dropped. */
export function parseUrl(text: string, defaultPort: number): ParsedUrl {
  const match = /^=?(?:(https?):\/\/)?(\[[0-9a-fA-F:.]+\]|[^/:?#\s]+)(?::(\d+))?(\/[^?#]*)?$/.exec(text.trim());
  const port = match?.[3] === undefined ? undefined : Number(match[3]);
  if (match === null || port === 0 || (port !== undefined && port > 65_535)) {
    throw new UserError([{ path: "url", message: "is not an address", value: text, hint: "Write host:port, http://host:port or https://host:port." }]);
  }
  const host = (match[2] as string).replace(/^\[|\]$/g, "");
  const scheme = match[1];
  const usualPort = scheme === "http" ? 80 : scheme === "https" ? 443 : defaultPort;
  return {
    host,
    port: port ?? usualPort,
    authority: `${match[2]}${port === undefined ? (scheme === undefined ? `:${defaultPort}` : "") : `:${port}`}`,
    pathPrefix: (match[4] ?? "").replace(/\/+$/, ""),
    isSecure: scheme === "https",
  };
}

function readTls(plan: TlsPlan, alpn: readonly string[]): TlsSettings {
  const problems: Problem[] = [];
  const read = (path: string): string | undefined => {
    if (path === "") return undefined;
    try {
      return fileSystem().readFileSync(path, "utf8");
    } catch (error) {
      problems.push({ path, message: `cannot be read: ${messageOf(error)}`, hint: "Give an existing PEM file." });
      return undefined;
    }
  };
  const settings = { alpn, caPem: read(plan.caFile), certPem: read(plan.certFile), keyPem: read(plan.keyFile), verify: plan.verify };
  if (problems.length > 0) throw new UserError(problems);
  return settings;
}
