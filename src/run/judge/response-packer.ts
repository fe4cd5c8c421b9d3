import { type PackedResponse, partsOf, type ResponseSink } from "../../measure/tokens/packed-responses.ts";
import type { ResponseRecords } from "../../result/request-record.ts";
import { encoder } from "../../runtime/text.ts";
import { formatTensors } from "../../service/tensor-json.ts";
import type { Call } from "../../transport/call.ts";
import type { Failure } from "../../transport/failure.ts";
import type { Feed } from "../send/feed.ts";
import type { Slots } from "../send/slots.ts";

/** Passes judged requests to the meter of their tokens: each prompt once, then each response and failure. */
export class ResponsePacker {
  private readonly responses: ResponseSink;
  private readonly feed: Pick<Feed, "contentOf">;
  private readonly serverNames: readonly string[] | undefined;

  /** @param serverNames names by number of the server; undefined when there is one server */
  constructor(responses: ResponseSink, feed: Pick<Feed, "contentOf">, serverNames: readonly string[] | undefined) {
    this.responses = responses;
    this.feed = feed;
    this.serverNames = serverNames;
  }

  /** @param index number of the request among the finished ones of the run, from 0 */
  addResponse(index: number, call: Call, slots: Slots, responses: ResponseRecords): void {
    const step = this.addPrompt(call, slots);
    const sendNs = Math.round(call.sendStartNs);
    const dueNs = slots.intendedNs[call.slot] as number;
    this.responses.addResponse({
      index,
      server: this.serverNames?.[call.server],
      step,
      sequenceId: slots.sequenceIds[call.slot] as number,
      sendNs,
      waitNs: Number.isNaN(dueNs) ? 0 : sendNs - Math.round(dueNs),
      offsetsNs: responses.offsetsNs,
      ...bodiesOf(responses),
    });
  }

  addFailure(call: Call, slots: Slots, failure: Failure): void {
    const step = this.addPrompt(call, slots);
    this.responses.addFailure({
      step,
      sequenceId: slots.sequenceIds[call.slot] as number,
      sendNs: Math.round(call.sendStartNs),
      firstByteNs: Math.round(firstByteOf(call, failure) ?? Number.NaN),
      endNs: Math.round(call.endNs),
      responseCount: call.responses.length,
      failure: { ...failure, server: this.serverNames?.[call.server] },
    });
  }

  /** Adds a call's prompt unless it was added before, and returns its step. */
  private addPrompt({ slot }: Call, { steps }: Slots): number {
    const step = steps[slot] as number;
    if (this.responses.knowsPrompt(step)) return step;
    const content = this.feed.contentOf(step);
    if ("bytes" in content) this.responses.addPrompt(step, content.bytes, content.session?.id);
    else this.responses.addPrompt(step, encoder.encode(formatTensors(content)));
    return step;
  }
}

function bodiesOf(responses: ResponseRecords): Pick<PackedResponse, "lengths" | "parts"> {
  const { events } = responses;
  if (events !== undefined) return { lengths: events.lengths, parts: events.parts() };
  return partsOf(
    responses.outputs.map((one) =>
      one instanceof Uint8Array ? one : encoder.encode(formatTensors([...one.values()])),
    ),
  );
}

/** Returns the time of the first byte of a failed request; undefined when none arrived. */
export function firstByteOf({ firstByteNs, endNs }: Call, { kind }: Failure): number | undefined {
  // Without a byte, `firstByteNs` equals `endNs`; an HTTP error may also arrive in a single read.
  return firstByteNs > 0 && (firstByteNs < endNs || kind === "http") ? firstByteNs : undefined;
}
