import type { DataStep, Dataset } from "../../inputs/dataset.ts";
import { numberOf, type Share, WHOLE } from "../../load/share.ts";
import type { ThinkTimePlan } from "../../plan/load-options.ts";
import { maskSecrets } from "../../plan/secrets.ts";
import { msToNs } from "../../plan/units.ts";
import type { SessionTally } from "../../result/run-result.ts";
import { NO_BYTES } from "../../runtime/bytes.ts";
import { createRandomFor, drawNormal, type Random } from "../../runtime/random.ts";
import type { Payload, RequestContent } from "../../service/content.ts";
import type { Conversation, Service } from "../../service/service.ts";
import type { Call } from "../../transport/call.ts";
import type { Failure } from "../../transport/failure.ts";
import type { WireRequest } from "../../transport/request.ts";
import type { DriverWork } from "./driver-work.ts";
import { RequestFeed } from "./feed.ts";
import type { Slots } from "./slots.ts";

/** The outcome of a turn: a response, an error response, or no response, which the load learns through `next`. */
export type TurnOutcome = "answered" | "refused" | "lost";

/** Called when the response to a slot's turn was judged. @param endNs end of the response */
export type OnTurn = (slot: number, outcome: TurnOutcome, endNs: number) => void;

/** A session in progress on a slot. */
interface ActiveSession {
  readonly slot: number;
  readonly conversation: Conversation;
  readonly stream: number;
  /** Number that seeds its think times: its user's, or for sessions that arrive, the session's. */
  readonly drawer: number;
  /** Index of the current or next turn. */
  turn: number;
  /** Whether any turn was sent. */
  isSent: boolean;
  /** The next turn, encoded. */
  ready: ReadyTurn | undefined;
  /** The last response, until it is decoded. */
  reads: readonly Uint8Array[];
  /** Whether an earlier turn failed after the session had continued. */
  hasFailed: boolean;
}

interface ReadyTurn {
  readonly request: WireRequest;
  /** Bytes of the turn as exports show them. */
  readonly shown: Uint8Array;
}

interface SentTurn {
  readonly session: ActiveSession;
  readonly step: number;
  readonly sent: Payload;
}

/** Options of a session feed, besides its data. */
export interface SessionFeedOptions {
  /** Index of the sender that holds the sessions, and number of senders. Default: one sender. */
  readonly senders?: Share | undefined;
  /** Seed of think times. Default: 0. */
  readonly seed?: number | undefined;
}

/**
 * Returns slots' next requests for turns of sessions. Each stream of the data is a session, held on one slot, and its responses become part
 * of the next turns. Turns are encoded separately from sending, because encoding takes time.
 */
export class SessionFeed extends RequestFeed {
  readonly turnCount: number;
  readonly readsHeaders: boolean;
  /** Encodings of turns that are always the same. */
  private readonly fixed = new WeakMap<Payload, WireRequest>();
  private readonly open: (user: number) => Conversation;
  private readonly seed: number;
  /** Random numbers for think times, by slot. */
  private readonly draws: (Random | undefined)[] = [];
  private readonly active: (ActiveSession | undefined)[] = [];
  /** Turns that were sent and not judged, by the slot of their session. The same turn may be in flight in several sessions. */
  private readonly inFlight = new Map<number, SentTurn>();
  /** Turns whose session has continued before they are judged, by call. */
  private readonly undecided = new Map<Call, SentTurn>();
  /** The turn being judged. */
  private judged: SentTurn | undefined;
  private onTurn: OnTurn = () => {};
  private onSkipped: (count: number) => void = () => {};
  private begunCount = 0;
  /** Number of sessions with at least one sent turn. */
  private sentCount = 0;
  private cutCount = 0;
  private unsentCount = 0;
  private unreadReason: string | undefined;

  /** @param open starts a user's conversation */
  constructor(
    service: Service,
    dataset: Dataset,
    open: (user: number) => Conversation,
    { senders = WHOLE, seed = 0 }: SessionFeedOptions = {},
  ) {
    super(service, dataset, { usesIds: false, senders });
    this.open = open;
    this.seed = seed;
    this.readsHeaders = dataset.streams.some((turns) => turns.some(({ readsHeaders }) => readsHeaders === true));
    let count = 0;
    for (const turns of dataset.streams) count += turns.length;
    this.turnCount = count;
  }

  /** Returns the number of turns in a sender's sessions. */
  turnCountOf(share: Share): number {
    return this.dataset.streams.reduce(
      (sum, turns, stream) => (stream % share.count === share.index ? sum + turns.length : sum),
      0,
    );
  }

  get tally(): SessionTally {
    const { sentCount: sessionCount, cutCount, unsentCount, unreadReason } = this;
    const reason = unreadReason === undefined ? {} : { unreadReason };
    return { sessionCount, cutCount, unsentCount, ...reason };
  }

  /** Sets the callbacks for judged turns, and for the number of skipped turns. */
  listen(onTurn: OnTurn, onSkipped: (count: number) => void = () => {}): void {
    this.onTurn = onTurn;
    this.onSkipped = onSkipped;
  }

  /**
   * Takes from a successful response the values that later turns need. Returns the failure if the response lacks them;
   * undefined otherwise.
   */
  takeValues({ responses, body = NO_BYTES, headers }: Call): Failure | undefined {
    const bodies = responses.length > 0 ? responses.map((response) => response.body) : [body];
    const message = this.judged?.session.conversation.takeValues?.(bodies, headers);
    return message === undefined ? undefined : { kind: "validation", message };
  }

  /** Records that the judged turn has failed. Returns the failure without the secrets of its session. */
  failTurn(failure: Failure): Failure {
    return this.judged?.session.conversation.endTurn?.(failure) ?? failure;
  }

  /** Wraps a judge so that sessions continue from judged responses. */
  follow(judge: DriverWork["judge"]): DriverWork["judge"] {
    return (call, slots) => {
      const owner = slots.sequences[call.slot] as number;
      const continued = this.undecided.get(call);
      this.undecided.delete(call);
      this.judged = continued ?? this.inFlight.get(owner);
      const failure = judge(call, slots);
      this.judged = undefined;
      if (continued === undefined) this.endTurn(owner, call, failure !== undefined);
      else if (failure !== undefined) continued.session.hasFailed = true;
      return failure;
    };
  }

  /**
   * Continues a session from a response that is judged later: if all sessions waited, no later response would decide about it. When it
   * turns out to have failed, the session ends with the turn that is in flight then.
   */
  continueUndecided(call: Call, slots: Slots): void {
    const owner = slots.sequences[call.slot] as number;
    const turn = this.inFlight.get(owner);
    if (turn === undefined) return;
    this.undecided.set(call, turn);
    this.endTurn(owner, call, false);
  }

  /**
   * Starts the next session on the slot and encodes its first turn. Returns false when no session is left.
   * @param repeats whether the sessions start over when all have begun
   * @param arrives whether sessions begin at due times. Then users take turns, because it depends on time which slot is free. Default: each
   * slot is a user
   */
  begin(slot: number, repeats = false, arrives = false): boolean {
    const count = this.dataset.streams.length;
    const number = numberOf(this.begunCount, this.share);
    if (number >= count && !repeats) return false;
    const stream = number % count;
    this.begunCount++;
    const drawer = arrives ? number : numberOf(slot, this.share);
    const { userCount = 1 } = this.dataset;
    const conversation = this.open(arrives ? number % userCount : drawer);
    if (arrives) this.draws[slot] = undefined;
    const session: ActiveSession = {
      ...{ slot, conversation, stream, drawer, turn: -1, isSent: false, hasFailed: false },
      ready: undefined,
      reads: [],
    };
    this.active[slot] = session;
    return this.moveOn(session);
  }

  /** Returns the encoded turn. */
  override next(_lane: number, _sequence: number, slot: number): WireRequest {
    const session = this.active[slot] as ActiveSession;
    const { request, shown } = session.ready as ReadyTurn;
    session.ready = undefined;
    if (!session.isSent) this.sentCount++;
    session.isSent = true;
    this.step = (this.streamStarts[session.stream] ?? 0) + session.turn;
    this.inFlight.set(slot, { session, step: this.step, sent: this.toRecord(session, shown) });
    return request;
  }

  /** Returns the content that was sent for the judged turn, with its session and delay, as perf_analyzer records them. */
  override contentOf(step: number): RequestContent {
    return this.judged?.step === step ? this.judged.sent : super.contentOf(step);
  }

  /** Returns the delay between the current turn's response and the next turn, in nanoseconds. */
  delayNs(slot: number): number {
    const { stream, turn } = this.active[slot] as ActiveSession;
    const { delayMs = 0, thinkTime } = this.turnsOf(stream)[turn] ?? {};
    return msToNs(thinkTime === undefined ? delayMs : this.drawMs(slot, thinkTime));
  }

  /** Whether the delay is a user's, which also applies between the slot's session and its next one. */
  restsAtEnd(slot: number): boolean {
    const { stream, turn } = this.active[slot] as ActiveSession;
    return this.turnsOf(stream)[turn]?.thinkTime !== undefined;
  }

  /** Whether the slot's session must not continue, because an earlier turn turned out to have failed. */
  hasFailed(slot: number): boolean {
    return this.active[slot]?.hasFailed === true;
  }

  /**
   * Decodes the response and encodes the slot's next turn.
   * @returns `over` when this was the last turn, `unreadable` when the session cannot continue from the response, or an earlier turn has
   * failed
   */
  advance(slot: number): "ready" | "over" | "unreadable" {
    const session = this.active[slot] as ActiveSession;
    if (this.nextTurnOf(session) === undefined) return "over";
    if (session.hasFailed) return "unreadable";
    const problem = session.conversation.addResponse(session.reads);
    session.reads = [];
    if (problem !== undefined) {
      this.unreadReason ??= maskSecrets(problem);
      return "unreadable";
    }
    return this.moveOn(session) ? "ready" : "over";
  }

  /** Ends the slot's session after the last turn that was sent. Returns the number of skipped turns. */
  cut(slot: number): number {
    const { stream, turn, conversation, ready } = this.active[slot] as ActiveSession;
    const later = this.turnsOf(stream).slice(ready === undefined ? turn + 1 : turn);
    const unsent = later.filter((step) => !isSkipped(conversation, step)).length;
    this.onSkipped(later.length - unsent);
    if (unsent > 0) this.cutCount++;
    this.unsentCount += unsent;
    return unsent;
  }

  private endTurn(owner: number, { body, responses, endNs, failure }: Call, hasFailed: boolean): void {
    const { session } = this.inFlight.get(owner) ?? {};
    if (session === undefined) return;
    this.inFlight.delete(owner);
    session.reads =
      responses.length > 0 ? responses.map((response) => response.body) : body === undefined ? [] : [body];
    this.onTurn(session.slot, failure !== undefined ? "lost" : hasFailed ? "refused" : "answered", endNs);
  }

  /** Moves on to the session's next turn and encodes it. Returns false when there is none. */
  private moveOn(session: ActiveSession): boolean {
    const { stream, turn, conversation } = session;
    const next = this.nextTurnOf(session);
    if (next === undefined) return false;
    if (next > turn + 1) this.onSkipped(next - turn - 1);
    session.turn = next;
    const sent = conversation.nextRequest(toPayload(this.turnsOf(stream)[next]));
    session.ready = { shown: sent.shown ?? sent.bytes, request: this.encodeTurn(sent) };
    return true;
  }

  private encodeTurn(sent: Payload): WireRequest {
    const known = this.fixed.get(sent);
    if (known !== undefined) return known;
    const request = this.service.codec.encode(sent, 0);
    if (sent.isFixed !== true) return { ...request, isOnce: true };
    this.fixed.set(sent, request);
    return request;
  }

  private nextTurnOf({ stream, turn, conversation }: ActiveSession): number | undefined {
    const turns = this.turnsOf(stream);
    for (let next = turn + 1; next < turns.length; next++) if (!isSkipped(conversation, turns[next])) return next;
    return undefined;
  }

  private drawMs(slot: number, { meanMs, stddevMs = 0 }: ThinkTimePlan): number {
    const { drawer } = this.active[slot] as ActiveSession;
    this.draws[slot] ??= createRandomFor(this.seed, "think time", drawer);
    return Math.max(0, drawNormal(this.draws[slot], meanMs, stddevMs));
  }

  private toRecord({ stream, turn }: ActiveSession, bytes: Uint8Array): Payload {
    const { sessionId: id = String(stream), delayMs } = this.turnsOf(stream)[turn] ?? {};
    return { bytes, session: { id, delayMs } };
  }

  private turnsOf(stream: number): Dataset["streams"][number] {
    return this.dataset.streams[stream] ?? [];
  }
}

function isSkipped(conversation: Conversation, step: DataStep | undefined): boolean {
  return conversation.skips?.(toPayload(step)) === true;
}

/** Returns the payload of a turn of the data. */
function toPayload({ payload: bytes = NO_BYTES, request, origin }: Partial<DataStep> = {}): Payload {
  return { bytes, ...(request === undefined ? {} : { request }), ...(origin === undefined ? {} : { origin }) };
}

/** Returns the feed if it is a session feed; undefined otherwise. */
export function sessionsOf(feed: object | undefined): SessionFeed | undefined {
  return feed instanceof SessionFeed ? feed : undefined;
}
