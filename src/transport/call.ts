import { nowNs } from "../runtime/clock.ts";
import type { Failure } from "./failure.ts";
import { freeNow, isCounted, isLarge, RESPONSES_BUDGET } from "./growing-bytes.ts";
import type { KeptEvents } from "./kept-events.ts";
import type { Header } from "./request.ts";
import type { ResponseHead } from "./response-check.ts";

/** One response of a request that may have several. */
export interface ReceivedResponse {
  /** Arrival time of the socket read that completed it, see `arrivalNs`. */
  readonly readNs: number;
  readonly body: Uint8Array;
  /** Whether it has no content and only marks the end of the responses. */
  readonly isEmpty: boolean;
}

const NO_HEADERS: readonly Header[] = [];

/**
 * The state of a slot's current or last request. Reused for every request of the slot, so that a request allocates nothing. Times are
 * {@link nowNs} nanoseconds.
 */
export class Call implements ResponseHead {
  readonly slot: number;
  /** Index of the server, when there are several. The client sets it with each send. */
  server = 0;
  /** Index of the member of a mix; 0 without one. */
  member = 0;
  /** Start of sending: right before the first byte goes to the socket, or before connecting. */
  sendStartNs = 0;
  /** Time when the socket had accepted all bytes; with messages that wait for responses, all bytes of the first one. */
  sendEndNs = 0;
  /**
   * Arrival time of the socket read with the first byte of the response; on a stream, of the read that completed the first response.
   */
  firstByteNs = 0;
  /** Arrival time of the socket read that completed the response; of several responses, the last one with content. */
  endNs = 0;
  /** Time of the last of several messages, including an empty one; 0 when there is one response per request. */
  lastMessageNs = 0;
  /** Number of responses with content; always 1 when the protocol has one per request. */
  responseCount = 1;
  /** Number of messages received, including an empty last one. */
  messageCount = 1;
  /** Bytes of the responses so far; streams only. */
  responseBytes = 0;
  private received: ReceivedResponse[] = [];
  /** The events of a stream, when bodies are kept and until {@link responses} is read. Their memory is used again after that and after the request. */
  events: KeptEvents | undefined = undefined;
  /** Time spent decoding the response, in nanoseconds, when the client measures it. */
  decodeNs = 0;
  /** Set when the request failed. */
  failure: Failure | undefined = undefined;
  /** The response's payload, when `keepBodies` is set or the request failed. The receiver of the call owns it. */
  body: Uint8Array | undefined = undefined;
  /** The response's headers, when `keepHeaders` is set; otherwise empty. */
  headers: readonly Header[] = NO_HEADERS;
  /** Length of the response's leading JSON part (`Inference-Header-Content-Length`); 0 when the header is absent. */
  jsonBytes = 0;
  /** Whether the response's content type is JSON; false when the protocol has no content type. */
  isJson = false;
  /** Whether {@link ClientOptions.createCheck}'s check has seen the response. */
  isChecked = false;
  /** Number of times that the request was sent again. Its times run from the first send. */
  resends = 0;
  /** True between `send` and `onDone`. */
  isActive = false;
  /** True while the socket has not accepted all bytes of the request; `onSent` follows. */
  isSending = false;
  /**
   * Whether a gRPC stream carries the request, perhaps only a part of it. Then a cancellation resets the stream at the
   * server.
   */
  hasStream = false;
  /** Bytes of its body and responses that count against the budget of all. */
  heldBytes = 0;

  constructor(slot: number) {
    this.slot = slot;
  }

  /** The responses of a stream, when bodies are kept. The receiver of the call owns them. */
  get responses(): ReceivedResponse[] {
    const { events } = this;
    if (events !== undefined) {
      const { readsNs } = events;
      this.responses = events.copies().map((body, read) => ({ readNs: readsNs[read] as number, body, isEmpty: false }));
    }
    return this.received;
  }

  set responses(responses: ReceivedResponse[]) {
    this.received = responses;
    this.events?.release();
    this.events = undefined;
  }

  private get hasResponses(): boolean {
    return this.events !== undefined || this.received.length > 0;
  }

  /** Drops the responses of a stream. */
  clearResponses(): void {
    if (this.hasResponses) this.responses = [];
  }

  /** Whether the request was sent again. */
  get isResent(): boolean {
    return this.resends > 0;
  }

  /** Resets the state for the slot's next request. */
  begin(): void {
    this.failure = undefined;
    this.body = undefined;
    this.release();
    this.headers = NO_HEADERS;
    this.decodeNs = 0;
    this.firstByteNs = 0;
    this.resends = 0;
    this.hasStream = false;
    this.isActive = true;
  }

  /** Records that sending begins. The socket has not accepted all bytes yet: {@link noteSent} follows. */
  startSending(startNs: number): void {
    this.sendStartNs = startNs;
    this.sendEndNs = startNs;
    this.isSending = true;
  }

  /** Records that the socket has accepted all bytes, and calls `onSent` the first time. */
  noteSent(sentNs: number, onSent: ((call: Call) => void) | undefined): void {
    this.sendEndNs = sentNs;
    if (!this.isSending) return;
    this.isSending = false;
    onSent?.(this);
  }

  /** Ends the request with a failure, which the client then reports to `onDone`. */
  fail(failure: Failure, endNs: number): void {
    this.endNs = endNs;
    if (this.firstByteNs === 0) this.firstByteNs = endNs;
    this.failure = failure;
    this.isActive = false;
    this.isSending = false;
  }

  /** Ends the request now with a failure and reports it, unless it has ended. */
  failNow(failure: Failure, onDone: OnDone): void {
    if (!this.isActive) return;
    this.fail(failure, nowNs());
    onDone(this);
  }

  /** Keeps the only body of the response, which counts until it is dropped. */
  keepBody(body: Uint8Array): void {
    this.body = body;
    if (isCounted(body.length)) this.hold(body.length);
  }

  /** Whether the body is kept, and it is so large that it should not wait. */
  get hasLargeBody(): boolean {
    return !this.hasResponses && isLarge(this.heldBytes);
  }

  /** Counts memory of responses that are kept. */
  hold(bytes: number): void {
    RESPONSES_BUDGET.add(bytes);
    this.heldBytes += bytes;
  }

  /** Drops the body and the responses, which nothing reads any more. */
  dropResponses(): void {
    if (this.body !== undefined && this.hasLargeBody) freeNow(this.body);
    this.body = undefined;
    this.clearResponses();
    this.release();
  }

  private release(): void {
    if (this.heldBytes === 0) return;
    RESPONSES_BUDGET.giveBack(this.heldBytes);
    this.heldBytes = 0;
  }

  /** Copies the result of another slot's request, and takes its bodies, before that slot is used again. */
  takeResult(from: Call): void {
    this.server = from.server;
    this.member = from.member;
    this.sendStartNs = from.sendStartNs;
    this.sendEndNs = from.sendEndNs;
    this.firstByteNs = from.firstByteNs;
    this.endNs = from.endNs;
    this.lastMessageNs = from.lastMessageNs;
    this.responseCount = from.responseCount;
    this.messageCount = from.messageCount;
    this.received = from.received;
    this.events = from.events;
    from.events = undefined;
    from.received = [];
    this.decodeNs = from.decodeNs;
    this.failure = from.failure;
    this.body = from.body;
    this.headers = from.headers;
    this.jsonBytes = from.jsonBytes;
    this.isJson = from.isJson;
    this.isChecked = from.isChecked;
    this.resends = from.resends;
    this.heldBytes = from.heldBytes;
    from.heldBytes = 0;
  }
}

/** Called when a slot's request ends, with success or failure. The callback may use the slot again. */
export type OnDone = (call: Call) => void;
