import { messageOf } from "../plan/problem.ts";
import { toEpochNs } from "../runtime/clock.ts";
import type { InferResponse, Service } from "../service/service.ts";
import type { Call } from "../transport/client.ts";
import type { Failure } from "../transport/failure.ts";
import type { RequestFeed } from "./feed.ts";
import type { RunObserver } from "./observer.ts";

/** Looks into finished requests as far as someone needs it: expected outputs, exports, traces. */
export class RequestJudge {
  private readonly service: Service;
  private readonly feed: RequestFeed;
  private readonly observer: RunObserver;
  private readonly isTracing: boolean;
  /** Whether responses must be kept at all. */
  readonly needsBodies: boolean;

  constructor(service: Service, feed: RequestFeed, verbosity: 0 | 1 | 2, observer: RunObserver) {
    this.service = service;
    this.feed = feed;
    this.observer = observer;
    this.isTracing = verbosity === 2;
    this.needsBodies = this.isTracing || observer.onRecord !== undefined || feed.hasExpectations;
  }

  /** What is wrong with a finished request; undefined when it succeeded. */
  judge(call: Call, step: number): Failure | undefined {
    if (call.failure !== undefined) return this.service.codec.explain(call.failure, call.body);
    if (!this.needsBodies) return undefined;
    let response: InferResponse;
    try {
      response = this.service.codec.decode(call.body ?? new Uint8Array(0), call.jsonBytes);
    } catch (error) {
      return { kind: "protocol", message: messageOf(error) };
    }
    if (this.isTracing) this.observer.onTrace?.({ kind: "response", text: response.text });
    const failure = this.validate(response, step);
    if (failure === undefined) this.export(call, response, step);
    return failure;
  }

  private validate(response: InferResponse, step: number): Failure | undefined {
    for (const expected of this.feed.expectedOf(step)) {
      const actual = response.outputs.get(expected.name)?.bytes;
      if (actual === undefined || actual.length !== expected.bytes.length) {
        return {
          kind: "validation",
          message: `Output size doesn't match expected size: ${expected.name} has ${actual?.length ?? 0} bytes, expected ${expected.bytes.length} (step ${step})`,
        };
      }
      const at = expected.bytes.findIndex((byte, index) => byte !== actual[index]);
      if (at >= 0) {
        return {
          kind: "validation",
          message: `Output doesn't match expected output: ${expected.name} differs at byte ${at} (step ${step})`,
        };
      }
    }
    return undefined;
  }

  private export(call: Call, response: InferResponse, step: number): void {
    if (this.observer.onRecord === undefined) return;
    this.observer.onRecord({
      sendEpochNs: toEpochNs(call.sendStartNs),
      endEpochNs: toEpochNs(call.endNs),
      inputs: this.feed.tensorsOf(step),
      outputs: response.outputs,
    });
  }
}
