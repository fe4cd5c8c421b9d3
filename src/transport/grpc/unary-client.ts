import type { Call } from "../call.ts";
import { type Failure, ProtocolError } from "../failure.ts";
import { unreadable } from "../response-check.ts";
import { CallSlot } from "./call-slot.ts";
import { checkResponseCount, ENDED_INSIDE_MESSAGE } from "./call-type.ts";
import type { Channel } from "./channel.ts";
import { GrpcClient } from "./client.ts";

/** Rampart's gRPC client for unary calls. */
export class GrpcUnaryClient extends GrpcClient<UnarySlot> {
  protected createSlot(call: Call, channel: Channel): UnarySlot {
    return new UnarySlot(call, channel, this.options);
  }

  protected abort(): void {
    for (const slot of this.slots) slot.abort();
  }
}

class UnarySlot extends CallSlot {
  private messageCount = 0;

  protected expect(): void {
    this.messageCount = 0;
  }

  onMessage(bytes: Uint8Array, start: number, end: number): void {
    const { call, check } = this;
    // A server that sends more may never stop.
    if (++this.messageCount > 1) throw new ProtocolError("several messages in response to a unary call");
    if (!call.isChecked) {
      if (this.keep === "whole") call.keepBody(this.reader.own(bytes, start, end));
    } else if (check !== undefined) this.fault = this.inspect(check, bytes, start, end);
  }

  protected checkResponses(): Failure | undefined {
    if (!this.reader.isBetweenMessages) return ENDED_INSIDE_MESSAGE;
    const { fault } = this;
    return checkResponseCount(this.messageCount) ?? (fault === undefined ? undefined : unreadable(fault.reason));
  }
}
