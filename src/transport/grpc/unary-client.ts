import type { Call } from "../call.ts";
import type { Failure } from "../failure.ts";
import { unreadable } from "../response-check.ts";
import { CallSlot } from "./call-slot.ts";
import type { Channel } from "./channel.ts";
import { GrpcClient } from "./client.ts";
import type { GrpcHead } from "./response-head.ts";

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
    this.messageCount++;
    if (!call.isChecked) {
      if (this.keep === "whole") call.keepBody(this.reader.own(bytes, start, end));
    } else if (check !== undefined) this.fault = this.inspect(check, bytes, start, end);
  }

  protected checkResponses(head: GrpcHead): Failure | undefined {
    if (this.messageCount === 1 && this.reader.isBetweenMessages)
      return this.fault === undefined ? undefined : unreadable(this.fault.reason);
    if (head.httpStatus === 200 && this.messageCount === 0)
      return { kind: "protocol", message: "status OK without a message" };
    return { kind: "protocol", message: `${this.messageCount} messages in response to a unary call` };
  }
}
