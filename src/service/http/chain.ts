import { canBeSecret, isSecretName, MASK } from "../../plan/secrets.ts";
import type { Failure } from "../../transport/failure.ts";
import type { Header } from "../../transport/request.ts";
import type { Payload } from "../content.ts";
import type { Conversation } from "../service.ts";
import { type Extract, NoValue, type ReadResponse, readJson } from "./chain-extract.ts";
import type { ChainInputsPlan } from "./chain-plan.ts";
import { type ChainValue, encodePart, type Put } from "./chain-texts.ts";

/** Chains of HTTP requests: a step takes values from its response, and later steps of the same user have them in path, headers and body. */

/** What the conversation needs of a step. */
export interface ChainTurn {
  readonly name: string;
  readonly isOnce: boolean;
  readonly extracts: readonly Extract[];
  /** Returns the request with these values. */
  fill(put: Put): Payload;
  readonly users: ChainInputsPlan["users"];
  readonly showsValues: boolean;
}

/** What a user keeps from one chain to the next. */
interface ChainUser {
  readonly number: number;
  /** Values of steps that are sent once. */
  readonly kept: Map<string, ChainValue>;
  readonly done: Set<ChainTurn>;
}

/** Returns what starts chains of the users of a run, each of whom keeps the values of steps that are sent once. */
export function createChains(): (user: number) => Conversation {
  const users = new Map<number, ChainUser>();
  return (number) => {
    const user = users.get(number) ?? { number, kept: new Map(), done: new Set() };
    users.set(number, user);
    return new Chain(user);
  };
}

/** A server that refuses a token does so with this status. */
const UNAUTHORIZED = 401;

/** A chain of a user. */
class Chain implements Conversation {
  private readonly user: ChainUser;
  private readonly values = new Map<string, ChainValue>();
  /** The step under way. */
  private turn: ChainTurn | undefined;

  constructor(user: ChainUser) {
    this.user = user;
  }

  skips({ origin }: Payload): boolean {
    return this.user.done.has(origin as ChainTurn);
  }

  nextRequest({ origin }: Payload): Payload {
    const turn = origin as ChainTurn;
    this.turn = turn;
    const sent = turn.fill((name, write) => write(this.valueOf(name) ?? ""));
    if (sent.isFixed === true || turn.showsValues || this.secrets().length === 0) return sent;
    const shown = turn.fill((name, write) => {
      const value = this.valueOf(name) ?? "";
      return this.isSecret(name, value) ? hideText(write(value)) : write(value);
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
    const reasons: string[] = [];
    for (const { name, take } of turn.extracts) {
      const found = take(response);
      if (found instanceof NoValue) reasons.push(`no value for {{${name}}}: ${found.reason}`);
      else (turn.isOnce ? this.user.kept : this.values).set(name, found);
    }
    if (!turn.showsValues) for (const body of bodies) hideIn(body, this.secrets());
    if (reasons.length > 0) return `step "${turn.name}": ${reasons.join("; ")}`;
    if (turn.isOnce) this.user.done.add(turn);
    return undefined;
  }

  addResponse(): undefined {
    return undefined;
  }

  /** A user whose token is refused needs another one. */
  endTurn(failure: Failure): Failure {
    const secrets = this.turn?.showsValues === true ? [] : this.secrets();
    if (failure.status === UNAUTHORIZED) {
      this.user.done.clear();
      this.user.kept.clear();
    }
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

  private valueOf(name: string): ChainValue | undefined {
    return this.values.get(name) ?? this.user.kept.get(name) ?? this.given[name];
  }

  /** The values that the scenario gives the user. */
  private get given(): Readonly<Record<string, ChainValue>> {
    const users = this.turn?.users;
    return users?.[this.user.number % users.length] ?? {};
  }

  private isSecret(name: string, value: ChainValue): boolean {
    const isExtracted = this.values.has(name) || this.user.kept.has(name);
    return (isExtracted || isSecretName(name)) && canBeSecret(String(value));
  }

  /** Returns the secret values in all forms in which requests have them, the longest first. */
  private secrets(): string[] {
    const values = [...Object.entries(this.given), ...this.user.kept, ...this.values];
    const forms = values.flatMap(([name, value]) => {
      if (!this.isSecret(name, value)) return [];
      const text = String(value);
      return [text, JSON.stringify(text).slice(1, -1), encodePart(text)];
    });
    return [...new Set(forms)].sort((one, other) => other.length - one.length);
  }
}

/** Returns asterisks of the same size, so that sizes in exports are those of what was sent. */
function hideText(text: string): string {
  return "*".repeat(Buffer.byteLength(text));
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
