import type { Header } from "../../transport/request.ts";

/**
 * The cookies of a user, by RFC 6265: they are sent to the paths that the server names, until they expire. The current time is the
 * server's, from the header `Date` of its responses.
 */

/** The server that the cookies belong to. */
export interface CookieServer {
  /** Host name without the port, in lower case. */
  readonly host: string;
  /** Whether the server uses TLS. */
  readonly isSecure: boolean;
}

interface Cookie {
  readonly name: string;
  readonly value: string;
  readonly path: string;
  /** Expiry in milliseconds since 1970, by the server's clock. */
  readonly expiresMs: number;
}

/** Maximum number of cookies of a user. Another one replaces the oldest. RFC 6265 requires at least 50. */
const MOST_COOKIES = 50;
/** Maximum number of characters of a name and its value together. RFC 6265 requires at least 4,096. */
const MOST_CHARACTERS = 4096;
/** Characters that no header can contain, and the end of a cookie. */
const NO_COOKIE = /[^\t\x20-\x7e]|;/;

/** An IPv4 address, or an IPv6 address, which has colons. Neither has a parent domain. */
const IP_ADDRESS = /^[\d.]+$|:/;

/** Returns the server of an address: `host:port`, or a URL. */
export function cookieServerOf(url: string): CookieServer {
  const { hostname = "", protocol = "" } = URL.parse(/^https?:\/\//.test(url) ? url : `http://${url}`) ?? {};
  return { host: hostname.toLowerCase(), isSecure: protocol === "https:" };
}

/** The cookies of a user. */
export class CookieJar {
  private readonly server: CookieServer;
  private readonly cookies: Map<string, Cookie>;
  private nowMs: number;

  /** @param earlier initial cookies. Default: none */
  constructor(server: CookieServer, earlier?: CookieJar) {
    this.server = server;
    this.cookies = new Map(earlier?.cookies);
    this.nowMs = earlier?.nowMs ?? 0;
  }

  /** Stores the cookies that a response sets. @param path path of the request, with the query */
  take(headers: readonly Header[], path: string): void {
    const valuesOf = (name: string): string[] =>
      headers.flatMap(([given, value]) => (given.toLowerCase() === name ? [value] : []));
    const dateMs = Date.parse(valuesOf("date")[0] ?? "");
    if (dateMs > this.nowMs) this.nowMs = dateMs;
    for (const text of valuesOf("set-cookie")) {
      const cookie = this.read(text, path);
      if (cookie !== undefined) this.keep(cookie);
    }
  }

  /** Returns the value of the header `Cookie` for a request; undefined when there is no cookie for it. @param path with the query */
  headerFor(path: string): string | undefined {
    const asked = withoutQuery(path);
    const sent = [...this.cookies.values()]
      .filter((cookie) => cookie.expiresMs > this.nowMs && matches(asked, cookie.path))
      // The most specific path first, otherwise in the order of arrival.
      .sort((one, other) => other.path.length - one.path.length);
    return sent.length === 0 ? undefined : sent.map(({ name, value }) => `${name}=${value}`).join("; ");
  }

  values(): string[] {
    return Array.from(this.cookies.values(), ({ value }) => value);
  }

  private keep(cookie: Cookie): void {
    const key = `${cookie.name};${cookie.path}`;
    if (cookie.expiresMs <= this.nowMs) {
      this.cookies.delete(key);
      return;
    }
    this.cookies.set(key, cookie);
    const [oldest = ""] = this.cookies.keys();
    if (this.cookies.size > MOST_COOKIES) this.cookies.delete(oldest);
  }

  /** Reads `sid=1; Path=/; Max-Age=60`. Returns undefined for a cookie that this server is not allowed to set. */
  private read(text: string, requestPath: string): Cookie | undefined {
    const [pair = "", ...parts] = text.split(";");
    const equals = pair.indexOf("=");
    const [name, value] = [pair.slice(0, equals).trim(), pair.slice(equals + 1).trim()];
    if (equals < 1 || name === "" || NO_COOKIE.test(name + value) || name.length + value.length > MOST_CHARACTERS)
      return undefined;
    const rules = new Map(
      parts.map((part) => {
        const [rule = "", ...rest] = part.split("=");
        return [rule.trim().toLowerCase(), rest.join("=").trim()] as const;
      }),
    );
    const domain = (rules.get("domain") ?? "").replace(/^\./, "").toLowerCase();
    if ((domain !== "" && !this.isWithin(domain)) || (rules.has("secure") && !this.server.isSecure)) return undefined;
    const path = rules.get("path") ?? "";
    return { name, value, path: path.startsWith("/") ? path : folderOf(requestPath), expiresMs: this.endOf(rules) };
  }

  /** `Max-Age` takes precedence over `Expires`. */
  private endOf(rules: ReadonlyMap<string, string>): number {
    const maxAge = rules.get("max-age") ?? "";
    if (/^-?\d+$/.test(maxAge)) return Number(maxAge) > 0 ? this.nowMs + Number(maxAge) * 1000 : 0;
    const expiresMs = Date.parse(rules.get("expires") ?? "");
    return Number.isNaN(expiresMs) ? Number.POSITIVE_INFINITY : expiresMs;
  }

  private isWithin(domain: string): boolean {
    const { host } = this.server;
    return host === domain || (host.endsWith(`.${domain}`) && !IP_ADDRESS.test(host));
  }
}

function withoutQuery(path: string): string {
  return path.replace(/[?#].*$/s, "");
}

/** Returns the path of a cookie that sets none: the path of its request, up to the last slash. */
function folderOf(path: string): string {
  const asked = withoutQuery(path);
  return asked.slice(0, Math.max(1, asked.lastIndexOf("/")));
}

function matches(asked: string, path: string): boolean {
  if (!asked.startsWith(path)) return false;
  return asked.length === path.length || path.endsWith("/") || asked[path.length] === "/";
}
