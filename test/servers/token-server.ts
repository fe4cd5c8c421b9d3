import { type ReceivedRequest, startAnsweringServer } from "./answering-server.ts";

/** A server with logins: it gives a token for each, refuses calls without one, and keeps a log of who did what. */

/** A request in the log. */
export interface Entry {
  /** First part of its path: `login`, `call` and so on. */
  readonly what: string;
  readonly method: string;
  readonly token: string;
  /** Name of the user who logged in for the token. */
  readonly user: string;
  readonly isRefused: boolean;
  readonly arrivedMs: number;
  readonly request: ReceivedRequest;
}

export interface TokenServer {
  readonly url: string;
  readonly log: readonly Entry[];
  /** Number of calls after which a token is refused. Default: no limit. */
  mostUses: number;
  /** The names of the requests with each token, in their order; the login first. */
  byToken(): ReadonlyMap<string, readonly string[]>;
  count(what: string): number;
  clear(): void;
  close(): void;
}

/** Text of every token, with what JSON, paths and headers have to escape or keep. */
export const TOKEN_TEXT = `secret"/\\ ?%`;

/**
 * Starts the server. `/login` answers with the token and a number in JSON, a cookie and a `Location`; `/silent` with an empty object, and `/hang` never. Any
 * other path needs `Authorization: Bearer TOKEN`, and where they are given also the right cookie, and the token in its path and body.
 */
export async function startTokenServer(): Promise<TokenServer> {
  let log: Entry[] = [];
  const users = new Map<string, { readonly user: string; readonly number: number; uses: number }>();
  const server = await startAnsweringServer((response, index) => {
    const request = server.received[index] as ReceivedRequest;
    const arrivedMs = performance.now();
    const [, what = "", inPath = ""] = request.path.split("/");
    const note = (token: string, isRefused: boolean): void => {
      const user = users.get(token)?.user ?? "";
      log.push({ what, method: request.method, token, user, isRefused, arrivedMs, request });
    };
    if (what === "silent" || what === "hang") {
      note("", false);
      if (what === "silent") response.end("{}");
      return;
    }
    if (what === "login") {
      const number = users.size;
      const token = `${TOKEN_TEXT}${number}`;
      const { user = "" } = JSON.parse(request.text || "{}") as { readonly user?: string };
      users.set(token, { user, number, uses: 0 });
      note(token, false);
      response.setHeader("Set-Cookie", ["theme=dark", `sid=s${number}; Path=/; HttpOnly`]);
      response.setHeader("Location", `http://${request.headers.host}/jobs/${number}?wait=1`);
      response.end(JSON.stringify({ session: { token, number } }));
      return;
    }
    const token = /^Bearer (.*)$/.exec(request.headers.authorization ?? "")?.[1] ?? "";
    const known = users.get(token);
    const { cookie } = request.headers;
    const inBody = request.text === "" ? {} : (JSON.parse(request.text) as { token?: string; number?: number });
    const isRight =
      known !== undefined &&
      known.uses < tokens.mostUses &&
      (cookie === undefined || cookie.split("; ").includes(`sid=s${known.number}`)) &&
      (what !== "jobs" || inPath === `${known.number}?wait=1`) &&
      (what !== "call" || decodeURIComponent(inPath) === token) &&
      (inBody.token === undefined || inBody.token === token) &&
      (inBody.number === undefined || inBody.number === known.number);
    if (known !== undefined) known.uses++;
    note(token, !isRight);
    response.statusCode = isRight ? 200 : 401;
    response.end(JSON.stringify(isRight ? { you: token } : { error: `no such token: ${token}` }));
  });
  const tokens: TokenServer = {
    url: server.url,
    get log() {
      return log;
    },
    mostUses: Number.POSITIVE_INFINITY,
    byToken: () => {
      const requests = new Map<string, string[]>();
      for (const { token, what } of log) requests.set(token, [...(requests.get(token) ?? []), what]);
      return requests;
    },
    count: (wanted) => log.filter(({ what }) => what === wanted).length,
    clear: () => {
      log = [];
      users.clear();
      tokens.mostUses = Number.POSITIVE_INFINITY;
    },
    close: () => server.close(),
  };
  return tokens;
}
