import { assembleBatch, assembleExpected, type Dataset, type ExpectedOutput } from "../inputs/dataset.ts";
import { LaneIds } from "../load/lane-ids.ts";
import type { Service } from "../service/service.ts";
import type { Tensor } from "../service/tensor.ts";
import type { WireRequest } from "../transport/request.ts";

/** Gives lanes their next request: which step of the data, encoded once per distinct step, and its id. */
export class RequestFeed {
  /** The step of the request given last. */
  step = 0;
  /** The stamp of the request given last; valid until the next one. */
  stamp: Uint8Array | undefined = undefined;
  private readonly service: Service;
  private readonly dataset: Dataset;
  private readonly usesIds: boolean;
  private readonly laneIds: LaneIds[] = [];
  /** How many requests each lane has been given. */
  private readonly turns: number[] = [];
  /** Encodings by step and number of id digits. */
  private readonly encoded = new Map<number, WireRequest>();
  private readonly tensors = new Map<number, Tensor[]>();
  private readonly expected = new Map<number, ExpectedOutput[]>();
  /** Lanes in use: the stride with which a lane goes through the data. */
  private activeLanes = 1;

  constructor(service: Service, dataset: Dataset, usesIds: boolean) {
    this.service = service;
    this.dataset = dataset;
    this.usesIds = usesIds;
  }

  /** Whether any request has expected outputs. */
  get hasExpectations(): boolean {
    for (const stream of this.dataset.streams) for (const step of stream) if (step.expected.size > 0) return true;
    return false;
  }

  setActiveLanes(count: number): void {
    this.activeLanes = Math.max(1, count);
  }

  /**
   * The lane's next request; look at `step` and `stamp` after the call.
   * @throws RunError when the data lacks a required input or cannot be encoded
   */
  next(lane: number): WireRequest {
    this.step = this.nextStep(lane);
    let digits = 0;
    if (this.usesIds) {
      let ids = this.laneIds[lane];
      if (ids === undefined) {
        ids = new LaneIds(lane);
        this.laneIds[lane] = ids;
      }
      digits = ids.nextDigitCount;
      this.stamp = ids.next();
    }
    const key = this.step * 32 + digits;
    let request = this.encoded.get(key);
    if (request === undefined) {
      request = this.service.codec.encode(this.tensorsOf(this.step), digits);
      this.encoded.set(key, request);
    }
    return request;
  }

  /** The tensors of the request that begins with a step. */
  tensorsOf(step: number): Tensor[] {
    let tensors = this.tensors.get(step);
    if (tensors === undefined) {
      tensors = assembleBatch(this.service.model, this.steps, step, this.service.batchSize);
      this.tensors.set(step, tensors);
    }
    return tensors;
  }

  /** The outputs that must come back for the request that begins with a step. */
  expectedOf(step: number): ExpectedOutput[] {
    let expected = this.expected.get(step);
    if (expected === undefined) {
      expected = assembleExpected(this.service.model, this.steps, step, this.service.batchSize);
      this.expected.set(step, expected);
    }
    return expected;
  }

  /** As perf_analyzer deals the data: lane L starts at its own number and goes on by the number of lanes, times the batch size. */
  private nextStep(lane: number): number {
    const count = this.steps.length;
    if (!this.dataset.isFromJson || count <= 1) return 0;
    const turn = this.turns[lane] ?? 0;
    this.turns[lane] = turn + 1;
    return ((lane + turn * this.activeLanes) * this.service.batchSize) % count;
  }

  private get steps(): Dataset["streams"][number] {
    return this.dataset.streams[0] ?? [];
  }
}
