import type { ResponseSink } from "../../measure/tokens/packed-responses.ts";
import { separateReads } from "../../measure/tokens/response-times.ts";
import { defined } from "../../plan/objects.ts";
import { messageOf } from "../../plan/problem.ts";
import { maskSecrets } from "../../plan/secrets.ts";
import { limitMessage } from "../../plan/show-value.ts";
import type { FailedRequest, RequestRecord, ResponseRecords } from "../../result/request-record.ts";
import { NO_BYTES } from "../../runtime/bytes.ts";
import { toEpochNs } from "../../runtime/clock.ts";
import type { CutCheck, InferResponse, ResponseContent, StreamEvents } from "../../service/content.ts";
import type { Service } from "../../service/service.ts";
import type { Tensor } from "../../service/tensor.ts";
import type { Call, ReceivedResponse } from "../../transport/call.ts";
import type { Failure } from "../../transport/failure.ts";
import {
  type CreateResponseCheck,
  type ResponseCheck,
  type ResponseFault,
  unreadable,
} from "../../transport/response-check.ts";
import type { TargetSession } from "../open/session.ts";
import type { RunParts } from "../run-parts.ts";
import type { Feed } from "../send/feed.ts";
import { type SessionFeed, sessionsOf } from "../send/session-feed.ts";
import type { Slots } from "../send/slots.ts";
import type { ContentCheck, GivenResponse } from "./content-check.ts";
import { ResponseOutputs } from "./response-outputs.ts";
import { firstByteOf, ResponsePacker } from "./response-packer.ts";

const NO_RESPONSES: ResponseRecords = { offsetsNs: [], outputs: [], hasEmptyEnd: false };

/** Judges completed requests. */
export interface Judging {
  /** Whether response bodies must be kept. */
  readonly needsBodies: boolean;
  /** Whether the headers of responses must be kept. Absent: false. */
  readonly needsHeaders?: boolean;
  /**
   * Whether a slot may send its next request before its response is judged. Not with traces, which are live, or shared memory, which is
   * overwritten.
   */
  readonly canWait: boolean;
  /** Creates the clients' checks of responses that are not kept. Absent: each member of a mix creates its own. */
  readonly createCheck?: CreateResponseCheck;
  /**
   * Whether only a later stream will show if this one was cut off, so that judging waits for that stream if possible. Absent: this is
   * always known.
   */
  isUndecided?(call: Call): boolean;
  /** Returns the failure of a completed request; undefined when it succeeded. */
  judge(call: Call, slots: Slots): Failure | undefined;
}

/** A judge's view of the source of requests. */
export type JudgedFeed = Pick<Feed, "contentOf" | "expectedOf" | "hasExpectations">;

/** Dependencies of a judge. */
export interface JudgeParts extends Pick<RunParts, "observer" | "groups" | "delayNs"> {
  readonly session: Pick<TargetSession, "service" | "shared" | "serverNames">;
  readonly feed: JudgedFeed;
  readonly verbosity: 0 | 1 | 2;
  /** Receives the responses whose tokens are measured. Default: none. */
  readonly responses?: ResponseSink | undefined;
  /** Receives the values that the target extracts from each successful response, its request's step, and its end time. */
  readonly onExtracted?: (values: readonly unknown[], step: number, atNs: number) => void;
  /** The scenario's check of responses. Default: none. */
  readonly contentCheck?: ContentCheck | undefined;
  /** See {@link BehaviourPlan}. Default: false. */
  readonly acceptsOtherOutputs?: boolean | undefined;
  /** Counts the finished requests of the run. Default: counts those of this judge. */
  readonly finished?: { count: number };
  /** Whether to decode responses although this judge does not need them. Default: false. */
  readonly keepsBodies?: boolean | undefined;
  /** Whether a stream that lacks the end marker of the others has failed, where responses are kept. Default: false. */
  readonly findsCuts?: boolean | undefined;
}

/** Judges completed requests: validates responses and, when needed, decodes them for expected outputs, exports and traces. */
export class RequestJudge implements Judging {
  private readonly parts: JudgeParts;
  private readonly service: Service;
  private readonly isTracing: boolean;
  private readonly packer: ResponsePacker | undefined;
  private readonly outputs: ResponseOutputs;
  private readonly serverNames: readonly string[] | undefined;
  private readonly sessions: SessionFeed | undefined;
  private readonly finished: { count: number };
  /** Number of the request being judged, among the finished requests of the run. */
  private index = 0;
  readonly needsBodies: boolean;
  readonly needsHeaders: boolean;
  readonly canWait: boolean;
  readonly createCheck: CreateResponseCheck;
  /** Whether the events of a stream are recorded as they are: nothing reads or changes them as separate responses. */
  private readonly passesEvents: boolean;
  /** Checks responses whose bodies are kept. */
  private readonly check: ResponseCheck;
  private readonly cuts: CutCheck | undefined;

  constructor(parts: JudgeParts) {
    const { session, feed, verbosity, observer, responses, contentCheck, finished = { count: 0 } } = parts;
    const { service, shared, serverNames } = session;
    this.parts = parts;
    this.finished = finished;
    this.packer = responses && new ResponsePacker(responses, feed, serverNames);
    this.service = service;
    this.serverNames = serverNames;
    this.outputs = new ResponseOutputs(service.model, shared);
    this.createCheck = service.codec.responseChecks(parts.acceptsOtherOutputs);
    this.check = this.createCheck();
    this.cuts = parts.findsCuts === true ? service.codec.createCutCheck?.() : undefined;
    this.sessions = sessionsOf(feed);
    this.isTracing = verbosity === 2;
    this.needsBodies =
      this.isTracing ||
      parts.keepsBodies === true ||
      observer.onRecord !== undefined ||
      responses !== undefined ||
      contentCheck !== undefined ||
      service.responseReader !== undefined ||
      feed.hasExpectations ||
      this.sessions !== undefined;
    this.needsHeaders = this.sessions?.readsHeaders === true;
    this.canWait = this.needsBodies && !this.isTracing && shared === undefined;
    this.passesEvents =
      !this.isTracing &&
      contentCheck === undefined &&
      service.responseReader === undefined &&
      this.sessions === undefined;
  }

  isUndecided(call: Call): boolean {
    return this.cuts?.isUndecided(eventsOf(call)) === true && this.findFault(call) === undefined;
  }

  judge(call: Call, slots: Slots): Failure | undefined {
    this.index = this.finished.count++;
    const found = this.examine(call, slots);
    if (!("kind" in found)) {
      this.packer?.addResponse(this.index, call, slots, found);
      return undefined;
    }
    const unmasked = this.sessions?.failTurn(found) ?? found;
    const isUnfinished = unmasked.kind === "unfinished";
    const tags = isUnfinished ? this.tagsOf(slots.steps[call.slot] as number) : undefined;
    const failure = { ...maskFailure(unmasked), ...tags };
    this.parts.observer.onFailed?.(this.describeFailed(call, slots, failure));
    this.packer?.addFailure(call, slots, failure);
    return failure;
  }

  private describeFailed(call: Call, slots: Slots, failure: Failure): FailedRequest {
    const { sendStartNs, endNs, responses } = call;
    const firstByteNs = firstByteOf(call, failure);
    const { delayNs } = this.parts;
    return {
      index: this.index,
      sendEpochNs: toEpochNs(sendStartNs, delayNs),
      firstByteEpochNs: firstByteNs === undefined ? undefined : toEpochNs(firstByteNs, delayNs),
      endEpochNs: toEpochNs(endNs, delayNs),
      sequenceId: slots.sequenceIds[call.slot] as number,
      inputs: this.parts.feed.contentOf(slots.steps[call.slot] as number),
      responseCount: responses.length,
      failure,
      ...(call.isResent ? { isResent: true } : {}),
      ...this.tagsOf(slots.steps[call.slot] as number),
    };
  }

  private tagsOf(step: number): Pick<RequestRecord, "tags"> {
    return this.parts.groups === undefined ? {} : { tags: this.parts.groups.tagsOf(step) };
  }

  /** Returns the decoded responses that are needed, or the failure. */
  private examine(call: Call, slots: Slots): Failure | ResponseRecords {
    if (call.failure !== undefined) return this.service.codec.explain(call.failure, call.body);
    const fault = call.isChecked ? undefined : this.findFault(call);
    if (fault !== undefined) return this.service.codec.explain(unreadable(fault.reason), fault.bytes);
    if (!this.needsBodies) return NO_RESPONSES;
    const cut = this.cuts?.explain(eventsOf(call));
    if (cut !== undefined) return { ...unreadable(cut.message), cutMark: cut.mark };
    const step = slots.steps[call.slot] as number;
    const extracted = this.readResponse(call, step);
    if (extracted !== undefined && "kind" in extracted) return extracted;
    const isJudged = slots.isCut[call.slot] !== true;
    const responses = this.recordsOf(call, step, isJudged);
    if ("kind" in responses) return responses;
    const wrong = isJudged
      ? this.parts.contentCheck?.({ ...this.answerOf(call, responses), ...this.requestOf(step) })
      : undefined;
    // A session continues only from a response that is right in all other ways.
    const lacking = wrong ?? this.sessions?.takeValues(call);
    if (lacking !== undefined) return lacking;
    if (extracted !== undefined) this.parts.onExtracted?.(extracted, step, call.endNs);
    const server = this.serverNames?.[call.server];
    this.parts.observer.onRecord?.({
      index: this.index,
      sendEpochNs: toEpochNs(call.sendStartNs, this.parts.delayNs),
      sequenceId: slots.sequenceIds[call.slot] as number,
      inputs: this.parts.feed.contentOf(step),
      latencyNs: call.endNs - call.sendStartNs,
      responses,
      ...defined({ server }),
      ...(call.isResent ? { isResent: true } : {}),
      ...(extracted === undefined ? {} : { extracted: this.nameExtracted(extracted) }),
      ...this.tagsOf(step),
      ...(this.packer === undefined ? {} : { hasTokens: true }),
    });
    return responses;
  }

  /** Returns the decoded responses, or the failure of the first one that is wrong. */
  private recordsOf(call: Call, step: number, isJudged: boolean): ResponseRecords | Failure {
    const { feed } = this.parts;
    const { events, sendStartNs } = call;
    if (events !== undefined && this.passesEvents && "bytes" in feed.contentOf(step))
      return {
        offsetsNs: separateReads(sendStartNs, events.readsNs, events.lengths),
        get outputs(): readonly Uint8Array[] {
          return events.copies();
        },
        hasEmptyEnd: false,
        events,
      };
    const expected = feed.expectedOf(step);
    if (call.responseCount === 0 && isJudged && expected.length > 0)
      return { kind: "validation", message: `no response has the expected outputs (step ${step})` };
    const received = this.receivedOf(call);
    const outputs: ResponseContent[] = [];
    for (const { isEmpty, body } of received) {
      const response = this.decode(body, call.jsonBytes);
      if (!("outputs" in response)) return response;
      if (this.isTracing) this.parts.observer.onTrace?.({ kind: "response", text: response.describe() });
      const isCompared = !isEmpty && isJudged;
      const failure = isCompared ? this.outputs.findDifference(response.outputs, call.slot, step, expected) : undefined;
      if (failure !== undefined) return failure;
      outputs.push(isEmpty ? this.outputs.empty : response.outputs);
    }
    const lengths = received.map(({ body }) => body.length);
    const readsNs = received.map(({ readNs }) => readNs);
    const offsetsNs = separateReads(sendStartNs, readsNs, lengths);
    return { offsetsNs, outputs, hasEmptyEnd: received.at(-1)?.isEmpty === true };
  }

  /** Returns the values extracted from a response, or why it failed; undefined when the target has no rules for responses. */
  private readResponse(call: Call, step: number): readonly unknown[] | Failure | undefined {
    const { responseReader } = this.service;
    if (responseReader === undefined) return undefined;
    const bodies = this.receivedOf(call).flatMap(({ isEmpty, body }) => (isEmpty ? [] : [body]));
    return responseReader.read(bodies, {
      ...this.requestOf(step),
      tensors: () => bodies.map((body) => this.tensorsOf(body, call)),
    });
  }

  /** Returns the tensors of a response; empty for one of payloads. @throws ProtocolError */
  private tensorsOf(body: Uint8Array, { jsonBytes, slot }: Call): Tensor[] {
    return this.outputs.read(this.service.codec.decode(body, jsonBytes).outputs, slot);
  }

  /** Returns the responses of a call. Only a gRPC call of several messages may have none. */
  private receivedOf(call: Call): readonly ReceivedResponse[] {
    return this.service.wire === "grpc-call" ? call.responses : responsesOf(call);
  }

  /** Returns a response as content checks see it. */
  private answerOf(call: Call, { outputs, hasEmptyEnd }: ResponseRecords): Pick<GivenResponse, "parts" | "tensors"> {
    const last = outputs.at(hasEmptyEnd ? -2 : -1);
    return {
      parts: this.receivedOf(call).flatMap(({ isEmpty, body }) => (isEmpty ? [] : [body])),
      tensors: last === undefined ? [] : this.outputs.read(last, call.slot),
    };
  }

  private requestOf(step: number): Pick<GivenResponse, "request" | "tags"> {
    return { request: this.parts.feed.contentOf(step), tags: this.parts.groups?.tagsOf(step) ?? {} };
  }

  private nameExtracted(values: readonly unknown[]): Readonly<Record<string, unknown>> {
    const names = this.service.responseReader?.names ?? [];
    return Object.fromEntries(names.map(({ name }, index) => [name, values[index]]));
  }

  /** Checks a response whose body was kept. */
  private findFault(call: Call): ResponseFault | undefined {
    const { check } = this;
    const { events } = call;
    if (events !== undefined) {
      check.begin(call);
      events.visit((bytes, start, end) => check.event(bytes, start, end));
      return check.end();
    }
    const { responses, body = NO_BYTES } = call;
    if (this.service.wire === "grpc-stream" || this.service.wire === "grpc-call") {
      for (const { isEmpty, body: response } of responses) {
        const fault = isEmpty ? undefined : check.whole(response, 0, response.length, call);
        if (fault !== undefined) return fault;
      }
      return undefined;
    }
    if (responses.length === 0) return check.whole(body, 0, body.length, call);
    check.begin(call);
    for (const response of responses) check.event(response.body, 0, response.body.length);
    return check.end();
  }

  private decode(body: Uint8Array, jsonBytes: number): InferResponse | Failure {
    try {
      return this.service.codec.decode(body, jsonBytes);
    } catch (error) {
      return unreadable(messageOf(error));
    }
  }
}

/** Masks secrets, because servers repeat keys in messages that are printed and exported. Shortens long messages. */
function maskFailure(failure: Failure): Failure {
  const { message, response, excerpt } = failure;
  return {
    ...failure,
    message: limitMessage(maskSecrets(message)),
    ...(response === undefined ? {} : { response: maskSecrets(response) }),
    ...(excerpt === undefined ? {} : { excerpt: maskSecrets(excerpt) }),
  };
}

function eventsOf(call: Call): StreamEvents {
  if (call.events !== undefined) return call.events;
  const bodies = call.responses.map(({ body }) => body);
  return { count: bodies.length, lastCopies: (most) => bodies.slice(-most) };
}

/** Returns the responses of a call: the kept ones of a stream, otherwise its only one. */
function responsesOf({ responses, body = NO_BYTES, endNs }: Call): readonly ReceivedResponse[] {
  return responses.length > 0 ? responses : [{ readNs: endNs, body, isEmpty: false }];
}
