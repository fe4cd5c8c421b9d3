import { canBeSecret, isSecretName, MASK } from "../../plan/secrets.ts";
import type { Failure } from "../../transport/failure.ts";
import type { Header } from "../../transport/request.ts";
import type { Payload } from "../content.ts";
import type { Conversation } from "../service.ts";
import { type Extract, NoValue, type ReadResponse, readJson } from "./chain-extract.ts";
import type { ChainInputsPlan } from "./chain-plan.ts";
import { type ChainValue, encodePart, type Put } from "./chain-texts.ts";
import { CookieJar, type CookieServer } from "./cookie-jar.ts";

/**
 * Chains of HTTP requests: a call extracts values from its response, and later calls of the same user use them in path, headers and body.
 */

/** A call, as the conversation needs it. */
export interface ChainTurn {
  readonly name: string;
  readonly isOnce: boolean;
  readonly extracts: readonly Extract[];
  /** Returns the request with values inserted. */
  fill(put: Put): Payload;
  readonly users: ChainInputsPlan["users"];
  readonly showsValues: boolean;
}

export interface ChainTarget {
  readonly server: CookieServer;
  /** Path of calls without one. */
  readonly path: string;
  /** Whether the scenario itself sets the cookies to send. */
  readonly hasCookies: boolean;
}

/** State that a user keeps from one chain to the next. */
interface ChainUser {
  readonly number: number;
  login: Login;
}

/** Values from the calls that are sent once. */
interface Login {
  readonly kept: Map<string, ChainValue>;
  readonly done: Set<ChainTurn>;
  readonly cookies: CookieJar;
}

/** Returns a function that starts chains of the users of a run. Each user keeps the values of calls that are sent once. */
export function createChains(target: ChainTarget): (user: number) => Conversation {
  const users = new Map<number, ChainUser>();
  return (number) => {
    const user = users.get(number) ?? { number, login: createLogin(target) };
    users.set(number, user);
    return new Chain(user, target);
  };
}

function createLogin({ server }: ChainTarget): Login {
  return { kept: new Map(), done: new Set(), cookies: new CookieJar(server) };
}

/** Status with which a server rejects a token. */
const UNAUTHORIZED = 401;

class Chain implements Conversation {
  private readonly user: ChainUser;
  /**
   * The user's login at the start of the chain. Other chains of the user may be in progress, and a server may reject
   * one of them.
   */
  private readonly login: Login;
  private readonly target: ChainTarget;
  private readonly cookies: CookieJar;
  /**
   * Values of this chain, also those of the calls that are sent once as they were at its time: chains of a user that begin together each
   * log in, and a server may accept a token with the cookies of its own login only.
   */
  private readonly values = new Map<string, ChainValue>();
  /** The current call. */
  private turn: ChainTurn | undefined;
  /** Path of its request. */
  private path = "";

  constructor(user: ChainUser, target: ChainTarget) {
    this.user = user;
    this.login = user.login;
    this.target = target;
    this.cookies = new CookieJar(target.server, user.login.cookies);
  }

  skips({ origin }: Payload): boolean {
    const turn = origin as ChainTurn;
    const { done, kept } = this.login;
    if (!done.has(turn)) return false;
    for (const { name } of turn.extracts) if (!this.values.has(name)) this.values.set(name, kept.get(name) ?? "");
    return true;
  }

  nextRequest({ origin }: Payload): Payload {
    const turn = origin as ChainTurn;
    this.turn = turn;
    const sent = this.withCookies(turn.fill((name, write) => write(this.valueOf(name) ?? "")));
    if (sent.isFixed === true || turn.showsValues || this.secrets().length === 0) return sent;
    const shown = turn.fill((name, write) => {
      const value = this.valueOf(name) ?? "";
      return this.isSecret(name, value) ? "*".repeat(Buffer.byteLength(write(value))) : write(value);
    });
    return { ...sent, shown: shown.bytes };
  }

  takeValues(bodies: readonly Uint8Array[], headers: readonly Header[]): string | undefined {
    const { turn } = this;
    if (turn === undefined) return undefined;
    let data: unknown;
    const response: ReadResponse = {
      data: () => {
        data ??= readJson(bodies);
        return data;
      },
      headers,
    };
    if (!this.target.hasCookies) this.cookies.take(headers, this.path);
    const reasons: string[] = [];
    for (const { name, take } of turn.extracts) {
      const found = take(response);
      if (found instanceof NoValue) reasons.push(`no value for {{${name}}}: ${found.reason}`);
      else {
        this.values.set(name, found);
        if (turn.isOnce) this.login.kept.set(name, found);
      }
    }
    if (!turn.showsValues) for (const body of bodies) hideIn(body, this.secrets());
    if (reasons.length > 0) return `call "${turn.name}": ${reasons.join("; ")}`;
    if (!turn.isOnce) return undefined;
    this.login.done.add(turn);
    if (!this.target.hasCookies) this.login.cookies.take(headers, this.path);
    return undefined;
  }

  addResponse(): undefined {
    return undefined;
  }

  /** A user whose token is rejected needs another one. */
  endTurn(failure: Failure): Failure {
    const secrets = this.turn?.showsValues === true ? [] : this.secrets();
    if (failure.status === UNAUTHORIZED && this.user.login === this.login) this.user.login = createLogin(this.target);
    if (secrets.length === 0) return failure;
    const hide = (text: string): string => secrets.reduce((rest, secret) => rest.replaceAll(secret, MASK), text);
    const { message, response, excerpt } = failure;
    return {
      ...failure,
      message: hide(message),
      ...(response === undefined ? {} : { response: hide(response) }),
      ...(excerpt === undefined ? {} : { excerpt: hide(excerpt) }),
    };
  }

  /** Adds the cookies of the user, unless the call sets its cookies itself. */
  private withCookies(sent: Payload): Payload {
    const { request, isFixed: _, ...rest } = sent;
    this.path = request?.path ?? this.target.path;
    const { headers = [] } = request ?? {};
    const hasOwn = this.target.hasCookies || headers.some(([name]) => name.toLowerCase() === "cookie");
    const cookie = hasOwn ? undefined : this.cookies.headerFor(this.path);
    if (cookie === undefined) return sent;
    return { ...rest, request: { ...request, headers: [...headers, ["Cookie", cookie]] } };
  }

  private valueOf(name: string): ChainValue | undefined {
    return this.values.get(name) ?? this.login.kept.get(name) ?? this.given[name];
  }

  /** The values that the scenario gives the user. */
  private get given(): Readonly<Record<string, ChainValue>> {
    const users = this.turn?.users;
    return users?.[this.user.number % users.length] ?? {};
  }

  private isSecret(name: string, value: ChainValue): boolean {
    const isExtracted = this.values.has(name) || this.login.kept.has(name);
    return (isExtracted || isSecretName(name)) && canBeSecret(String(value));
  }

  /** Returns the secret values in all forms in which requests contain them, the longest first. */
  private secrets(): string[] {
    const values = [...Object.entries(this.given), ...this.login.kept, ...this.values];
    const texts = [
      ...values.flatMap(([name, value]) => (this.isSecret(name, value) ? [String(value)] : [])),
      ...this.cookies.values().filter(canBeSecret),
    ];
    const forms = texts.flatMap((text) => [text, JSON.stringify(text).slice(1, -1), encodePart(text)]);
    return [...new Set(forms)].sort((one, other) => other.length - one.length);
  }
}

const ASTERISK = 42;

/** Overwrites secrets in place. */
function hideIn(body: Uint8Array, secrets: readonly string[]): void {
  const bytes = Buffer.from(body.buffer, body.byteOffset, body.length);
  for (const secret of secrets) {
    const { length } = Buffer.from(secret);
    for (let at = bytes.indexOf(secret); at >= 0; at = bytes.indexOf(secret, at + length))
      bytes.fill(ASTERISK, at, at + length);
  }
}
