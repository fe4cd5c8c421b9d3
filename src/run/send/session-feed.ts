import type { Dataset } from "../../inputs/dataset.ts";
import type { SessionTally } from "../../result/run-result.ts";
import type { Conversation, Payload, RequestContent, Service } from "../../service/service.ts";
import type { Call } from "../../transport/client.ts";
import type { WireRequest } from "../../transport/request.ts";
import type { DriverWork } from "./driver-work.ts";
import { RequestFeed } from "./feed.ts";

/** What came of a turn: an answer, an answer that is an error, or none, whose failure the load is told by itself. */
export type TurnOutcome = "answered" | "refused" | "lost";

/** Told when the answer to a slot's turn was judged. @param endNs when it had come */
export type OnTurn = (slot: number, outcome: TurnOutcome, endNs: number) => void;

/** A session that is under way on a slot. */
interface HeldSession {
  readonly slot: number;
  readonly conversation: Conversation;
  readonly stream: number;
  /** Which turn is under way or comes next, from 0. */
  turn: number;
  /** The turn that comes next. */
  ready: ReadyTurn | undefined;
  /** The last answer, until it is looked into. */
  reads: readonly Uint8Array[];
}

interface ReadyTurn {
  readonly request: WireRequest;
  readonly bytes: Uint8Array;
}

const NO_BYTES = new Uint8Array(0);

/**
 * Gives slots their next request where requests are turns of sessions: each stream of the data is one, is held once, on one slot, and what was
 * answered goes into the next turn. A turn is made ready apart from being sent, because that takes time.
 */
export class SessionFeed extends RequestFeed {
  /** Turns of all sessions. */
  readonly turnCount: number;
  private readonly open: () => Conversation;
  private readonly held: (HeldSession | undefined)[] = [];
  /** By step: turns that were sent and not judged yet. */
  private readonly underWay = new Map<number, { readonly session: HeldSession; readonly sent: Payload }>();
  private onTurn: OnTurn = () => {};
  private nextStream = 0;
  private cutCount = 0;
  private unsentCount = 0;

  /** @param open begins a conversation */
  constructor(service: Service, dataset: Dataset, open: () => Conversation) {
    super(service, dataset, { usesIds: false });
    this.open = open;
    let count = 0;
    for (const turns of dataset.streams) count += turns.length;
    this.turnCount = count;
  }

  get tally(): SessionTally {
    const { cutCount, unsentCount } = this;
    return { sessionCount: this.dataset.streams.length, cutCount, unsentCount };
  }

  /** Has somebody told of every turn that was judged. */
  listen(onTurn: OnTurn): void {
    this.onTurn = onTurn;
  }

  /** A judge whose sessions go on from what it has judged. */
  follow(judge: DriverWork["judge"]): DriverWork["judge"] {
    return (call, slots) => {
      const failure = judge(call, slots);
      this.endTurn(slots.steps[call.slot] as number, call, failure !== undefined);
      return failure;
    };
  }

  /** Has the slot hold the next session, and its first turn ready; false when none is left. */
  begin(slot: number): boolean {
    const stream = this.nextStream;
    if (stream >= this.dataset.streams.length) return false;
    this.nextStream++;
    const session: HeldSession = { slot, conversation: this.open(), stream, turn: 0, ready: undefined, reads: [] };
    this.held[slot] = session;
    this.makeReady(session);
    return true;
  }

  /** The turn that was made ready. */
  override next(_lane: number, _sequence: number, slot: number): WireRequest {
    const session = this.held[slot] as HeldSession;
    const { request, bytes } = session.ready as ReadyTurn;
    session.ready = undefined;
    this.step = (this.streamStarts[session.stream] ?? 0) + session.turn;
    this.underWay.set(this.step, { session, sent: this.toRecord(session, bytes) });
    return request;
  }

  /** Everything sent of a turn under way: its session and its delay besides its payload, as perf_analyzer records them. */
  override contentOf(step: number): RequestContent {
    return this.underWay.get(step)?.sent ?? super.contentOf(step);
  }

  /** From the present turn's answer to the next turn, in nanoseconds. */
  delayNs(slot: number): number {
    const { stream, turn } = this.held[slot] as HeldSession;
    return (this.turnsOf(stream)[turn]?.delayMs ?? 0) * 1e6;
  }

  /**
   * Looks into the answer and makes the slot's next turn ready.
   * @returns `over` when there was no turn after this one, `unreadable` when the answer is none that could be gone on from
   */
  advance(slot: number): "ready" | "over" | "unreadable" {
    const session = this.held[slot] as HeldSession;
    if (session.turn + 1 >= this.turnsOf(session.stream).length) return "over";
    const problem = session.conversation.hear(session.reads);
    session.reads = [];
    if (problem !== undefined) return "unreadable";
    session.turn++;
    this.makeReady(session);
    return "ready";
  }

  /** Ends the slot's session with its present turn. Returns how many turns are not sent for that. */
  cut(slot: number): number {
    const { stream, turn } = this.held[slot] as HeldSession;
    const unsent = this.turnsOf(stream).length - turn - 1;
    if (unsent > 0) this.cutCount++;
    this.unsentCount += unsent;
    return unsent;
  }

  private endTurn(step: number, { body, responses, endNs, failure }: Call, hasFailed: boolean): void {
    const { session } = this.underWay.get(step) ?? {};
    if (session === undefined) return;
    this.underWay.delete(step);
    session.reads =
      responses.length > 0 ? responses.map((response) => response.body) : body === undefined ? [] : [body];
    this.onTurn(session.slot, failure !== undefined ? "lost" : hasFailed ? "refused" : "answered", endNs);
  }

  private makeReady(session: HeldSession): void {
    const { stream, turn, conversation } = session;
    const bytes = conversation.ask(this.turnsOf(stream)[turn]?.payload ?? NO_BYTES);
    session.ready = { bytes, request: { ...this.service.codec.encode({ bytes }, 0), isOnce: true } };
  }

  private toRecord({ stream, turn }: HeldSession, bytes: Uint8Array): Payload {
    const { sessionId: id = "", delayMs } = this.turnsOf(stream)[turn] ?? {};
    return { bytes, session: { id, delayMs } };
  }

  private turnsOf(stream: number): Dataset["streams"][number] {
    return this.dataset.streams[stream] ?? [];
  }
}

/** The feed as one of sessions; undefined where its requests belong to none. */
export function sessionsOf(feed: RequestFeed | undefined): SessionFeed | undefined {
  return feed instanceof SessionFeed ? feed : undefined;
}
