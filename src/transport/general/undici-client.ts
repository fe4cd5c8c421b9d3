import type { Socket } from "node:net";
import type { Client, Dispatcher } from "undici/index.js";
import { nowNs } from "../../runtime/clock.ts";
import { Call } from "../call.ts";
import type { ClientOptions, LoadClient } from "../client.ts";
import { connectFailure } from "../connect-failure.ts";
import {
  ABORTED,
  type Failure,
  failureOfReading,
  MAX_ERROR_BODY_BYTES,
  mayRetryLater,
  silentFor,
  statusFailure,
  tooLarge,
} from "../failure.ts";
import { GrowingBytes, RESPONSES_BUDGET } from "../growing-bytes.ts";
import { wasClosing } from "../http1/connection-reuse.ts";
import {
  defaultHeaders,
  type Endpoint,
  hasContentLength,
  isSuccessStatus,
  type ResponseRules,
  stampedPayload,
  type WireRequest,
} from "../request.ts";
import { explainEncoding, unreadable } from "../response-check.ts";
import { USER_AGENT } from "../user-agent.ts";
import { createUndici } from "./create-undici.ts";

/** The HTTP client based on undici: for comparison with Rampart's own client, and for features that Rampart's client lacks. */
export class UndiciClient implements LoadClient {
  readonly calls: Call[] = [];
  connectionCount = 0;
  private readonly endpoint: Endpoint;
  private readonly options: ClientOptions;
  private readonly slots: UndiciSlot[] = [];

  constructor(endpoint: Endpoint, options: ClientOptions) {
    this.endpoint = endpoint;
    this.options = options;
  }

  get resendCount(): number {
    return this.slots.reduce((sum, { resendCount }) => sum + resendCount, 0);
  }

  async reserve(count: number): Promise<void> {
    while (this.slots.length < count) {
      const call = new Call(this.slots.length);
      this.calls.push(call);
      const client = createUndici(this.endpoint, this.options, (socket) => {
        this.connectionCount++;
        slot.connected(socket);
      });
      const slot = new UndiciSlot(call, client, this.endpoint, this.options);
      this.slots.push(slot);
    }
  }

  send(slot: number, request: WireRequest, stamp: Uint8Array | undefined): void {
    (this.slots[slot] as UndiciSlot).send(request, stamp);
  }

  flush(): void {}

  cancel(slot: number, failure: Failure): void {
    this.slots[slot]?.cancel(failure);
  }

  close(): void {
    for (const slot of this.slots) slot.close();
  }
}

class UndiciSlot {
  /** Number of requests that were sent again. */
  resendCount = 0;
  private socket: Socket | undefined;
  /**
   * Number of bytes that the current connection had received when its latest response was complete; 0 before the first
   * response.
   */
  private answeredBytes = 0;
  private answeredNs = 0;
  private readonly call: Call;
  private readonly client: Client;
  private readonly endpoint: Endpoint;
  private readonly options: ClientOptions;
  private exchange: UndiciExchange | undefined;

  constructor(call: Call, client: Client, endpoint: Endpoint, options: ClientOptions) {
    this.call = call;
    this.client = client;
    this.endpoint = endpoint;
    this.options = options;
  }

  send(request: WireRequest, stamp: Uint8Array | undefined): void {
    const call = this.call;
    this.options.onRequest?.(request, stamp);
    call.begin();
    call.jsonBytes = 0;
    call.startSending(nowNs());
    const defaults = [
      ["Host", this.endpoint.authority],
      ["Accept", "*/*"],
      ["User-Agent", USER_AGENT],
    ] as const;
    const headers: string[] = [];
    const added = defaultHeaders(request, this.endpoint, defaults);
    for (const [name, value] of [...added, ...request.headers, ...this.endpoint.headers]) headers.push(name, value);
    this.dispatch({
      path: `${this.endpoint.pathPrefix}${request.path}`,
      method: request.method,
      headers,
      body: hasContentLength(request) ? stampedPayload(request, stamp) : null,
    });
  }

  connected(socket: Socket): void {
    this.socket = socket;
    this.answeredBytes = 0;
  }

  private dispatch(request: Dispatcher.DispatchOptions): void {
    const exchange = new UndiciExchange(this.call, this.options, this.endpoint, {
      onAnswered: () => {
        this.answeredBytes = this.socket?.bytesRead ?? 0;
        this.answeredNs = nowNs();
      },
      resend: (error) => this.canResend(error) && this.resend(request),
    });
    this.exchange = exchange;
    this.client.dispatch(request, exchange);
  }

  /** Same rule as in Rampart's own client, for a connection that the server closed or reset. */
  private canResend(error: Error): boolean {
    const { answeredBytes } = this;
    const isUnanswered = answeredBytes > 0 && this.socket?.bytesRead === answeredBytes;
    const isOrderly = error.message === CLOSED_BY_PEER;
    const hasEnded = isOrderly || (error as { code?: string }).code === "ECONNRESET";
    return isUnanswered && hasEnded && wasClosing(this.call.sendStartNs, this.answeredNs, isOrderly);
  }

  private resend(request: Dispatcher.DispatchOptions): true {
    this.resendCount++;
    this.call.resends++;
    // A connection that fails to open has received no response either.
    this.answeredBytes = 0;
    this.dispatch(request);
    return true;
  }

  cancel(failure: Failure): void {
    if (this.call.isActive) this.exchange?.cancel(failure);
  }

  close(): void {
    void this.client.destroy().catch(() => {});
    this.cancel(ABORTED);
  }
}

/** undici's message for a connection that its peer has closed, as opposed to reset. */
const CLOSED_BY_PEER = "other side closed";

/** Events of an exchange for its slot. */
interface ExchangeEvents {
  /** A complete response arrived. */
  readonly onAnswered: () => void;
  /** Resends a request that undici reports as failed, if allowed; then the exchange is over. */
  readonly resend: (error: Error) => boolean;
}

/** One request and its response. A separate object per request, so that late data of a cancelled request does not reach the next one. */
class UndiciExchange implements Dispatcher.DispatchHandler {
  private readonly call: Call;
  private readonly options: ClientOptions;
  private readonly rules: ResponseRules;
  private controller: Dispatcher.DispatchController | undefined;
  status = 0;
  private encoding = "";
  location = "";
  retryAfter = "";
  private receivedBytes = 0;
  private readonly body = new GrowingBytes(RESPONSES_BUDGET);
  private isOver = false;
  private readonly events: ExchangeEvents;

  constructor(call: Call, options: ClientOptions, rules: ResponseRules, events: ExchangeEvents) {
    this.events = events;
    this.call = call;
    this.options = options;
    this.rules = rules;
  }

  private get isSuccess(): boolean {
    return isSuccessStatus(this.status, this.rules);
  }

  cancel(failure: Failure): void {
    const { controller } = this;
    this.finish(failure, () => controller?.abort(new Error(failure.message)));
  }

  onRequestStart(controller: Dispatcher.DispatchController): void {
    if (this.isOver) {
      controller.abort(new Error("cancelled before it was sent"));
      return;
    }
    this.controller = controller;
    this.call.noteSent(nowNs(), this.options.onSent);
  }

  onResponseStart(
    _controller: Dispatcher.DispatchController,
    status: number,
    headers: Record<string, string | string[] | undefined>,
  ): void {
    if (status < 200) return;
    this.status = status;
    this.location = status < 400 ? String(headers["location"] ?? "") : "";
    this.retryAfter = mayRetryLater(status) ? String(headers["retry-after"] ?? "") : "";
    this.call.firstByteNs = nowNs();
    if (this.options.responses.keepHeaders === true)
      this.call.headers = Object.entries(headers).flatMap(([name, value = []]) =>
        [value].flat().map((one) => [name, one] as const),
      );
    this.call.jsonBytes = Number(headers["inference-header-content-length"] ?? 0);
    this.call.isJson = /^\s*application\/json/i.test(String(headers["content-type"] ?? ""));
    const encoding = String(headers["content-encoding"] ?? "").toLowerCase();
    this.encoding = encoding === "identity" ? "" : encoding;
    const length = Number(headers["content-length"] ?? 0);
    if (length > this.options.maxResponseBytes) this.refuse();
    else if (this.keeps && length > 0) this.body.expect(length);
  }

  onResponseData(_controller: Dispatcher.DispatchController, chunk: Buffer): void {
    if (this.isOver) return;
    this.receivedBytes += chunk.length;
    const isKept = this.keeps || (this.hasErrorStatus && this.body.length < MAX_ERROR_BODY_BYTES);
    if (this.receivedBytes > this.options.maxResponseBytes) this.refuse();
    else if (isKept) {
      // A plain Uint8Array, because `Buffer.slice` would share memory where `Uint8Array.slice` copies.
      const bytes = new Uint8Array(chunk.buffer, chunk.byteOffset, chunk.length);
      this.keep(bytes);
    }
  }

  private get hasErrorStatus(): boolean {
    return !this.isSuccess && this.status >= 400;
  }

  /** Whether the whole body is kept: it is checked when it is complete. */
  private get keeps(): boolean {
    const { keepBodies, createCheck } = this.options.responses;
    return !this.hasErrorStatus && (keepBodies || createCheck !== undefined);
  }

  private keep(bytes: Uint8Array): void {
    try {
      this.body.append(bytes, 0, bytes.length);
    } catch (error) {
      const failure = failureOfReading(error);
      this.finish(failure, () => this.controller?.abort(new Error(failure.message)));
    }
  }

  onResponseEnd(): void {
    if (this.isOver) return;
    this.events.onAnswered();
    const call = this.call;
    call.endNs = nowNs();
    if (this.body.length > 0) call.keepBody(this.body.take());
    if (!this.isSuccess) {
      this.finish(statusFailure(this));
      return;
    }
    if (this.encoding !== "" && this.rules.acceptsEncodings !== true) {
      this.finish(unreadable(explainEncoding(this.encoding)));
      return;
    }
    this.isOver = true;
    call.isActive = false;
    this.options.onDone(call);
  }

  onResponseError(_controller: Dispatcher.DispatchController, error: Error): void {
    if (this.isOver) return;
    if (this.events.resend(error)) this.isOver = true;
    else this.finish(toFailure(error, this.options.stallTimeoutNs));
  }

  /** Stops reading a response that is too long. An error status is reported whatever the length. */
  private refuse(): void {
    const { call, controller, status } = this;
    call.endNs = nowNs();
    const isError = status >= 400 && !this.isSuccess;
    if (isError && this.body.length > 0) call.body = this.body.take();
    const failure: Failure = isError
      ? { kind: "http", status, message: `HTTP status ${status}` }
      : tooLarge(this.options.maxResponseBytes);
    this.finish(failure, () => controller?.abort(new Error(failure.message)));
  }

  /** @param leave called before the slot may be reused */
  private finish(failure: Failure, leave?: () => void): void {
    if (this.isOver) return;
    this.isOver = true;
    this.body.clear();
    leave?.();
    const call = this.call;
    call.fail(failure, failure.kind === "http" ? call.endNs : nowNs());
    this.options.onDone(call);
  }
}

function toFailure(error: Error, stallTimeoutNs: number): Failure {
  const code = (error as { code?: string }).code ?? "";
  if (code === "UND_ERR_HEADERS_TIMEOUT" || code === "UND_ERR_BODY_TIMEOUT") {
    return silentFor(stallTimeoutNs);
  }
  if (code === "UND_ERR_SOCKET" || code === "ECONNRESET")
    return { kind: "closed", message: `server closed the connection (${error.message})` };
  if (code.startsWith("HPE_") || error.name === "HTTPParserError") return { kind: "protocol", message: error.message };
  return connectFailure(error);
}
