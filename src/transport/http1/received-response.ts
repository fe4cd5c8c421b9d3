import { nowNs } from "../../runtime/clock.ts";
import type { Call } from "../call.ts";
import type { ClientOptions } from "../client.ts";
import { type Failure, failureOfReading, MAX_ERROR_BODY_BYTES, ProtocolError, statusFailure } from "../failure.ts";
import { GrowingBytes, RESPONSES_BUDGET } from "../growing-bytes.ts";
import { KeptEvents } from "../kept-events.ts";
import { type Header, isSuccessStatus, type ResponseRules } from "../request.ts";
import { unreadable } from "../response-check.ts";
import { excessOf, expectResponses, mostEventBytes } from "../streamed-responses.ts";
import { CheckedBody } from "./checked-body.ts";
import { EventSplitter } from "./event-splitter.ts";
import type { ResponseParser, ResponseSink } from "./parser.ts";
import type { ResponseHead } from "./response-head.ts";

/** Receives the response to a slot's current request: its body or its server-sent events, and its end. */
export class ReceivedResponse implements ResponseSink {
  isComplete = false;
  /** Arrival time of the current socket read. */
  readNs = 0;
  private readonly call: Call;
  private readonly options: ClientOptions;
  private readonly body = new GrowingBytes(RESPONSES_BUDGET);
  /** Checks bodies that are not kept. */
  private readonly checked = new CheckedBody();
  private readonly rules: ResponseRules;
  private isError = false;
  /** Whether the response is kept. Stored per response, because the client's options may change meanwhile. */
  private keeps = false;
  /** Set while the response is a stream of events; each event is a response. */
  private events: EventSplitter | undefined;
  private kept = new KeptEvents();

  constructor(call: Call, options: ClientOptions, rules: ResponseRules) {
    this.call = call;
    this.options = options;
    this.rules = rules;
  }

  /** Whether the latest response is a stream of events. */
  get isStream(): boolean {
    return this.events !== undefined;
  }

  reset(): void {
    this.isComplete = false;
    this.body.clear();
    this.events?.clear();
    this.checked.drop();
  }

  /** Completes the response: sets its time, and its body if it was kept. */
  complete(): void {
    this.isComplete = false;
    this.call.endNs = this.readNs;
    if (this.body.length > 0) this.call.keepBody(this.body.take());
  }

  /** Ends the request after a complete response: with success, unless its status or content is an error. */
  conclude(head: ResponseHead): void {
    if (!isSuccessStatus(head.status, this.rules)) {
      this.fail(statusFailure(head));
      return;
    }
    const { call } = this;
    const fault = this.checked.end(this.rules.acceptsEncodings === true ? "" : head.contentEncoding);
    this.moveEvents();
    if (fault === undefined) {
      call.isActive = false;
      this.options.onDone(call);
      return;
    }
    call.body = fault.bytes;
    this.fail(unreadable(fault.reason));
  }

  /** Ends the request, if there is one, with a failure. */
  fail(failure: Failure): void {
    const { call } = this;
    if (!call.isActive) return;
    this.moveEvents();
    const hasEnded = failure.kind === "http" || failure.kind === "unreadable";
    call.fail(failure, hasEnded ? call.endNs : nowNs());
    this.reset();
    this.options.onDone(call);
  }

  /**
   * Ends the request after an error while its response was parsed. @param status status of the response; 0 before its status
   * line
   */
  failReading(error: unknown, status: number): void {
    // The connection is not used again, and an incomplete event may be large.
    this.events?.clear();
    this.events = undefined;
    const failure = failureOfReading(error);
    if (failure.kind !== "limit" || status < 400) {
      this.fail(failure);
      return;
    }
    // The error status is more useful than the size limit.
    this.complete();
    this.fail({ kind: "http", status, message: `HTTP status ${status}` });
  }

  /** Copies bytes that are not checked yet, before the next read overwrites them. */
  keepUnread(): void {
    this.checked.flush();
  }

  onHead(parser: ResponseParser): boolean {
    if (this.isComplete) throw new ProtocolError("a second response to one request");
    this.options.onWire?.("<", parser.headText);
    this.events = undefined;
    const { call, options } = this;
    const { status, jsonBytes, isJson, isEventStream, contentLength } = parser.head;
    const isSuccess = isSuccessStatus(status, this.rules);
    this.isError = !isSuccess && (status >= 400 || status < 300);
    this.keeps = options.responses.keepBodies;
    if (options.responses.keepHeaders === true) call.headers = readHeaders(parser.headText);
    call.jsonBytes = jsonBytes;
    call.isJson = isJson;
    call.isChecked = this.checked.begin(this.keeps || !isSuccess ? undefined : options.responses.createCheck, call);
    if (isEventStream && isSuccess) {
      expectResponses(call);
      const maxEventBytes = mostEventBytes(options.maxResponseBytes);
      this.events = new EventSplitter((bytes, start, end) => this.receivedEvent(bytes, start, end), maxEventBytes);
      return true;
    }
    if (this.keeps && !this.isError && contentLength > 0) this.body.expect(contentLength);
    return this.keeps || this.isError || call.isChecked;
  }

  onBody(bytes: Uint8Array, start: number, end: number): void {
    if (this.events !== undefined) this.events.feed(bytes, start, end);
    else if (this.call.isChecked) this.checked.add(bytes, start, end);
    else if (!this.isError || this.body.length < MAX_ERROR_BODY_BYTES) this.body.append(bytes, start, end);
  }

  onComplete(): void {
    this.events?.end();
    this.isComplete = true;
  }

  private moveEvents(): void {
    if (this.kept.count === 0) return;
    this.call.events = this.kept;
    this.kept = new KeptEvents();
  }

  /** Events of one read share its time, because their arrival times are unknown. */
  private receivedEvent(bytes: Uint8Array, start: number, end: number): void {
    const { call, readNs, options } = this;
    call.messageCount++;
    call.responseCount++;
    call.responseBytes += end - start;
    call.lastMessageNs = readNs;
    if (this.keeps) {
      const addedBytes = this.kept.add(readNs, bytes, start, end);
      if (addedBytes > 0) call.hold(addedBytes);
    } else if (call.isChecked) this.checked.addEvent(bytes, start, end);
    const excess = excessOf(call, options.maxResponseBytes);
    if (excess !== undefined) throw excess;
    options.onResponse?.(call);
  }
}

/** Returns the headers of a head as text, in their order. */
function readHeaders(head: string): Header[] {
  return head
    .split(/\r?\n/)
    .slice(1)
    .flatMap((line) => {
      const colon = line.indexOf(":");
      return colon < 0 ? [] : [[line.slice(0, colon), line.slice(colon + 1).trim()] as const];
    });
}
