import type { AnswerFault } from "../answer-check.ts";
import type { Call, ClientOptions } from "../client.ts";
import { MAX_ERROR_BODY_BYTES, ProtocolError, ResponseTooLargeError } from "../failure.ts";
import { GrowingBytes } from "../growing-bytes.ts";
import { expectResponses, isTooLarge } from "../streamed-responses.ts";
import { CheckedBody } from "./checked-body.ts";
import { EventSplitter } from "./event-splitter.ts";
import type { ResponseParser, ResponseSink } from "./parser.ts";

/** What has been read of the response to a slot's present request: its body as a whole, or event by event. */
export class ReceivedResponse implements ResponseSink {
  /** All of it has been read. */
  isComplete = false;
  /** When the socket read being handled began. */
  readNs = 0;
  private readonly call: Call;
  private readonly options: ClientOptions;
  private readonly body = new GrowingBytes();
  /** Looks at the response's body, where it is not kept. */
  private readonly checked = new CheckedBody();
  private isError = false;
  /** Whether the response is kept: the client's options may change while it is under way. */
  private keeps = false;
  /** Set while the response is a stream of events, each of which is a response of its own. */
  private events: EventSplitter | undefined;

  constructor(call: Call, options: ClientOptions) {
    this.call = call;
    this.options = options;
  }

  /** Whether the latest response is a stream of events. */
  get isStream(): boolean {
    return this.events !== undefined;
  }

  /** Forgets what has been read. */
  reset(): void {
    this.isComplete = false;
    this.body.clear();
  }

  /** Hands the body over to the call, as far as it was kept. */
  giveBody(): void {
    if (this.body.length > 0) this.call.body = this.body.take();
  }

  /** The read buffer is about to be overwritten: what is looked at later is copied. */
  keepRead(): void {
    this.checked.keep();
  }

  /** Why the complete response is no answer; undefined when it is one. @param encoding its content encoding; empty: none */
  findFault(encoding: string): AnswerFault | undefined {
    return this.checked.end(encoding);
  }

  onHead(parser: ResponseParser): boolean {
    if (this.isComplete) throw new ProtocolError("a second response to one request");
    this.options.onWire?.("<", parser.headText);
    this.events = undefined;
    const { call, options } = this;
    const { status, jsonBytes, isJson, isEventStream } = parser.head;
    this.isError = status >= 400;
    this.keeps = options.keepBodies;
    call.jsonBytes = jsonBytes;
    call.isJson = isJson;
    call.isChecked = this.checked.begin(this.keeps || status >= 300 ? undefined : options.createCheck, call);
    if (isEventStream && status < 300) {
      expectResponses(call);
      this.events = new EventSplitter((event) => this.receivedEvent(event));
      return true;
    }
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

  /** All events of one read have its time: when each of them came is not known. */
  private receivedEvent(event: Uint8Array): void {
    const { call, readNs, options } = this;
    call.messageCount++;
    call.responseCount++;
    call.responseBytes += event.length;
    call.lastMessageNs = readNs;
    if (isTooLarge(call, options.maxResponseBytes)) throw new ResponseTooLargeError(options.maxResponseBytes);
    if (this.keeps) call.responses.push({ readNs, body: event, isEmpty: false });
    else if (call.isChecked) this.checked.addEvent(event);
    options.onResponse?.(call);
  }
}
