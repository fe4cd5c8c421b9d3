import type { Dataset } from "../../inputs/dataset.ts";
import { countOf, numberOf, type Share, WHOLE } from "../../load/share.ts";
import { maskSecrets } from "../../plan/secrets.ts";
import { msToNs } from "../../plan/units.ts";
import type { SessionTally } from "../../result/run-result.ts";
import type { Payload, RequestContent } from "../../service/content.ts";
import type { Conversation, Service } from "../../service/service.ts";
import type { Call } from "../../transport/client.ts";
import type { WireRequest } from "../../transport/request.ts";
import type { DriverWork } from "./driver-work.ts";
import { RequestFeed } from "./feed.ts";

/** The outcome of a turn: a response, an error response, or no response, which the load learns through `next`. */
export type TurnOutcome = "answered" | "refused" | "lost";

/** Called when the response to a slot's turn was judged. @param endNs end of the response */
export type OnTurn = (slot: number, outcome: TurnOutcome, endNs: number) => void;

/** A session in progress on a slot. */
interface ActiveSession {
  readonly slot: number;
  readonly conversation: Conversation;
  readonly stream: number;
  /** Index of the current or next turn. */
  turn: number;
  /** The next turn, encoded. */
  ready: ReadyTurn | undefined;
  /** The last response, until it is decoded. */
  reads: readonly Uint8Array[];
}

interface ReadyTurn {
  readonly request: WireRequest;
  readonly bytes: Uint8Array;
}

/** A turn that was sent. */
interface SentTurn {
  readonly session: ActiveSession;
  readonly step: number;
  readonly sent: Payload;
}

const NO_BYTES = new Uint8Array(0);

/**
 * Returns slots' next requests for turns of sessions. Each stream of the data is a session, held on one slot, and its responses become part of
 * the next turns. Turns are encoded separately from sending, because that takes time.
 */
export class SessionFeed extends RequestFeed {
  /** Number of turns in all sessions. */
  readonly turnCount: number;
  private readonly open: () => Conversation;
  private readonly active: (ActiveSession | undefined)[] = [];
  /** By the slot of their session: turns that were sent and not judged. The same turn may be in flight in several sessions. */
  private readonly inFlight = new Map<number, SentTurn>();
  /** The turn that is judged. */
  private judged: SentTurn | undefined;
  private onTurn: OnTurn = () => {};
  private begunCount = 0;
  private cutCount = 0;
  private unsentCount = 0;
  private unreadReason: string | undefined;

  /** @param open starts a conversation @param senders which sender of how many holds the sessions. Default: the only one */
  constructor(service: Service, dataset: Dataset, open: () => Conversation, senders = WHOLE) {
    super(service, dataset, { usesIds: false, senders });
    this.open = open;
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
    const { cutCount, unsentCount, unreadReason } = this;
    const reason = unreadReason === undefined ? {} : { unreadReason };
    const sessionCount = Math.max(this.begunCount, countOf(this.dataset.streams.length, this.share));
    return { sessionCount, cutCount, unsentCount, ...reason };
  }

  /** Sets the callback for judged turns. */
  listen(onTurn: OnTurn): void {
    this.onTurn = onTurn;
  }

  /** Wraps a judge so that sessions continue from judged responses. */
  follow(judge: DriverWork["judge"]): DriverWork["judge"] {
    return (call, slots) => {
      const owner = slots.sequences[call.slot] as number;
      this.judged = this.inFlight.get(owner);
      const failure = judge(call, slots);
      this.judged = undefined;
      this.endTurn(owner, call, failure !== undefined);
      return failure;
    };
  }

  /**
   * Starts the next session on the slot and encodes its first turn. Returns false when no session is left.
   * @param repeats whether the sessions begin again when all have begun
   */
  begin(slot: number, repeats = false): boolean {
    const count = this.dataset.streams.length;
    const number = numberOf(this.begunCount, this.share);
    if (number >= count && !repeats) return false;
    const stream = number % count;
    this.begunCount++;
    const session: ActiveSession = { slot, conversation: this.open(), stream, turn: 0, ready: undefined, reads: [] };
    this.active[slot] = session;
    this.encodeTurn(session);
    return true;
  }

  /** Returns the encoded turn. */
  override next(_lane: number, _sequence: number, slot: number): WireRequest {
    const session = this.active[slot] as ActiveSession;
    const { request, bytes } = session.ready as ReadyTurn;
    session.ready = undefined;
    this.step = (this.streamStarts[session.stream] ?? 0) + session.turn;
    this.inFlight.set(slot, { session, step: this.step, sent: this.toRecord(session, bytes) });
    return request;
  }

  /** Returns what was sent for the turn that is judged, with its session and delay, as perf_analyzer records them. */
  override contentOf(step: number): RequestContent {
    return this.judged?.step === step ? this.judged.sent : super.contentOf(step);
  }

  /** Returns the delay between the current turn's response and the next turn, in nanoseconds. */
  delayNs(slot: number): number {
    const { stream, turn } = this.active[slot] as ActiveSession;
    return msToNs(this.turnsOf(stream)[turn]?.delayMs ?? 0);
  }

  /**
   * Decodes the response and encodes the slot's next turn.
   * @returns `over` when this was the last turn, `unreadable` when the response cannot be continued from
   */
  advance(slot: number): "ready" | "over" | "unreadable" {
    const session = this.active[slot] as ActiveSession;
    if (session.turn + 1 >= this.turnsOf(session.stream).length) return "over";
    const problem = session.conversation.addResponse(session.reads);
    session.reads = [];
    if (problem !== undefined) {
      this.unreadReason ??= maskSecrets(problem);
      return "unreadable";
    }
    session.turn++;
    this.encodeTurn(session);
    return "ready";
  }

  /** Ends the slot's session after its current turn. Returns the number of skipped turns. */
  cut(slot: number): number {
    const { stream, turn } = this.active[slot] as ActiveSession;
    const unsent = this.turnsOf(stream).length - turn - 1;
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

  private encodeTurn(session: ActiveSession): void {
    const { stream, turn, conversation } = session;
    const bytes = conversation.nextRequest(this.turnsOf(stream)[turn]?.payload ?? NO_BYTES);
    session.ready = { bytes, request: { ...this.service.codec.encode({ bytes }, 0), isOnce: true } };
  }

  private toRecord({ stream, turn }: ActiveSession, bytes: Uint8Array): Payload {
    const { sessionId: id = "", delayMs } = this.turnsOf(stream)[turn] ?? {};
    return { bytes, session: { id, delayMs } };
  }

  private turnsOf(stream: number): Dataset["streams"][number] {
    return this.dataset.streams[stream] ?? [];
  }
}

/** Returns the feed if it is one of sessions; undefined otherwise. */
export function sessionsOf(feed: object | undefined): SessionFeed | undefined {
  return feed instanceof SessionFeed ? feed : undefined;
}
