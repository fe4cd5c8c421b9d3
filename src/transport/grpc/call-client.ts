import { NO_BYTES } from "../../runtime/bytes.ts";
import { nowNs } from "../../runtime/clock.ts";
import type { Call } from "../call.ts";
import type { Failure } from "../failure.ts";
import type { Http2Connection } from "../http2/connection.ts";
import { unreadable } from "../response-check.ts";
import { addMessage, excessOf, expectResponses } from "../streamed-responses.ts";
import { CallSlot } from "./call-slot.ts";
import { checkResponseCount, ENDED_INSIDE_MESSAGE } from "./call-type.ts";
import type { Channel } from "./channel.ts";
import { GrpcClient } from "./client.ts";
import type { GrpcMessage } from "./encode.ts";

/** Rampart's gRPC client for calls with any number of messages each way. Each request is a separate call. */
export class GrpcCallClient extends GrpcClient<MessagesSlot> {
  protected createSlot(call: Call, channel: Channel): MessagesSlot {
    return new MessagesSlot(call, channel, this.options);
  }

  protected abort(): void {
    for (const slot of this.slots) slot.abort();
  }
}

class MessagesSlot extends CallSlot {
  /** Number of messages sent among those that wait for responses. */
  private laterSent = 0;
  /** Time of the read that completed the latest response. */
  private lastReadNs = 0;

  override send(path: string, message: GrpcMessage, stamp: Uint8Array | undefined): void {
    // The call may fail before it has a stream.
    expectResponses(this.call);
    super.send(path, message, stamp);
  }

  protected expect(): void {
    expectResponses(this.call);
    this.laterSent = 0;
    this.lastReadNs = 0;
  }

  onMessage(bytes: Uint8Array, start: number, end: number): void {
    const { call, options, check, reader } = this;
    if (call.isChecked && check !== undefined) this.fault ??= this.inspect(check, bytes, start, end);
    const { readNs, handledNs } = this.connection as Http2Connection;
    // Responses from one read get different times, except the first: genai-perf divides by the time between responses.
    const atNs = readNs === this.lastReadNs ? readNs + nowNs() - handledNs : readNs;
    this.lastReadNs = readNs;
    const isKept = this.keep === "whole";
    addMessage(
      call,
      Math.max(end - start, reader.messageBytes),
      atNs,
      isKept ? reader.own(bytes, start, end) : undefined,
    );
    const excess = excessOf(call, options.maxResponseBytes);
    if (excess !== undefined) throw excess;
    reader.usedBytes = call.responseBytes;
    const { expectsOne, later } = this.message as GrpcMessage;
    if (expectsOne) return;
    if (call.messageCount === 1) call.firstByteNs = atNs;
    options.onResponse?.(call);
    this.sendLater(later);
  }

  /** A call with one response ends with its trailers; otherwise the latency ends with the last response. */
  protected override complete(readNs: number): void {
    const { call } = this;
    const hasStreamed = call.messageCount > 0 && this.message?.expectsOne === false;
    call.endNs = hasStreamed ? call.lastMessageNs : readNs;
    call.lastMessageNs = readNs;
  }

  protected checkResponses(): Failure | undefined {
    const { call, reader, fault, message } = this;
    if (!reader.isBetweenMessages) return ENDED_INSIDE_MESSAGE;
    const miscount = message?.expectsOne === true ? checkResponseCount(call.messageCount) : undefined;
    return miscount ?? (fault === undefined ? undefined : unreadable(fault.reason));
  }

  /**
   * Sends the messages that were waiting for this response, unless the call has ended. The last message ends the sending
   * side.
   */
  private sendLater(later: readonly Uint8Array[]): void {
    while (this.laterSent < later.length && this.laterSent < this.call.messageCount) {
      const bytes = later[this.laterSent++] ?? NO_BYTES;
      this.connection?.sendData(this.streamId, bytes, this.laterSent === later.length, undefined);
    }
  }
}
