import type { DataStep, Dataset } from "../../../src/inputs/dataset.ts";
import type { RecordColumns } from "../../../src/measure/records.ts";
import { Driver } from "../../../src/run/send/driver.ts";
import type { DriverOptions, DriverWork } from "../../../src/run/send/driver-work.ts";
import { RequestFeed } from "../../../src/run/send/feed.ts";
import { LoadStarter } from "../../../src/run/send/load-starter.ts";
import { type Clock, systemClock } from "../../../src/runtime/clock.ts";
import type { Service } from "../../../src/service/service.ts";
import { Call, type OnDone } from "../../../src/transport/call.ts";
import type { LoadClient } from "../../../src/transport/client.ts";
import type { Failure } from "../../../src/transport/failure.ts";
import type { WireRequest } from "../../../src/transport/request.ts";
import { makeModel, spec } from "../../inputs/make-model.ts";

/** A driver over a client without a network: the test answers each request, so what the driver does next is certain. */

/** A request that the driver sent. */
export interface SentRequest {
  readonly slot: number;
  readonly request: WireRequest;
  readonly id: string | undefined;
  readonly atNs: number;
}

/** A client whose requests end when the test says so. */
export class FakeClient implements LoadClient {
  readonly calls: Call[] = [];
  readonly sent: SentRequest[] = [];
  connectionCount = 0;
  resendCount = 0;
  maxActive = 0;
  isClosed = false;
  private readonly onDone: OnDone;
  private readonly clock: Clock;

  constructor(onDone: OnDone, clock = systemClock) {
    this.onDone = onDone;
    this.clock = clock;
  }

  get active(): number[] {
    return this.calls.filter(({ isActive }) => isActive).map(({ slot }) => slot);
  }

  reserve(count: number): Promise<void> {
    while (this.calls.length < count) this.calls.push(new Call(this.calls.length));
    return Promise.resolve();
  }

  send(slot: number, request: WireRequest, stamp: Uint8Array | undefined): void {
    const call = this.calls[slot];
    if (call === undefined) throw new Error(`slot ${slot} was not reserved`);
    if (call.isActive) throw new Error(`slot ${slot} is busy`);
    call.isActive = true;
    call.failure = undefined;
    call.sendStartNs = this.clock.nowNs();
    call.sendEndNs = call.sendStartNs;
    const id = stamp === undefined ? undefined : new TextDecoder().decode(stamp);
    this.sent.push({ slot, request, id, atNs: call.sendStartNs });
    this.maxActive = Math.max(this.maxActive, this.active.length);
  }

  flush(): void {}

  cancel(slot: number, failure: Failure): void {
    if (this.calls[slot]?.isActive === true) this.answer(slot, failure);
  }

  close(): void {
    this.isClosed = true;
    for (const slot of this.active) this.answer(slot, { kind: "aborted", message: "aborted" });
  }

  /** Ends a slot's request. */
  answer(slot: number, failure?: Failure): void {
    const call = this.calls[slot] as Call;
    if (!call.isActive) throw new Error(`slot ${slot} has no request`);
    call.isActive = false;
    call.failure = failure;
    call.endNs = this.clock.nowNs();
    this.onDone(call);
  }
}

const MODEL = makeModel([spec("IN", "UINT8", [1])]);

/** A service whose requests hold the data's first byte. */
export function makeService(batchSize = 1): Service {
  return {
    model: MODEL,
    wire: "http",
    batchSize,
    isSequence: false,
    isDecoupled: false,
    isResponseCacheEnabled: false,
    isOwnResponseCacheEnabled: false,
    composing: [],
    statistics: () => Promise.resolve(undefined),
    warnings: [],
    codec: {
      encode: (content, idDigits) => ({
        path: "/infer",
        method: "POST",
        headers: [],
        payload: ("bytes" in content ? content : content[0])?.bytes ?? new Uint8Array(0),
        ...(idDigits > 0 ? { stampPlace: { offset: 0, length: idDigits, idDigits } } : {}),
      }),
      stampSequence: ({ id, isStart, isEnd }) =>
        new TextEncoder().encode(` ${id}${isStart ? " start" : ""}${isEnd ? " end" : ""}`),
      responseChecks: () => () => ({
        whole: () => undefined,
        begin: () => {},
        piece: () => {},
        event: () => {},
        end: () => undefined,
      }),
      decode: () => ({ id: "", outputs: new Map(), describe: () => "" }),
      explain: (failure) => failure,
      describe: () => "",
    },
  };
}

/** Data of one stream whose steps hold the values 0, 1, 2, … */
export function makeDataset(stepCount: number, isFromJson = true): Dataset {
  const steps = Array.from({ length: stepCount }, (_, value): DataStep => {
    return { inputs: new Map([["IN", { bytes: Uint8Array.of(value) }]]), expected: new Map() };
  });
  return { streams: [steps], isFromJson, warnings: [] };
}

/** Arrivals at the given times since the start, in milliseconds, and none after them. */
export function scheduled(...dueMs: number[]): { kind: "scheduled"; arrivals: () => number } {
  let index = 0;
  return {
    kind: "scheduled",
    arrivals: () => (index < dueMs.length ? (dueMs[index++] as number) * 1e6 : Number.POSITIVE_INFINITY),
  };
}

/** A driver with what it sent, recorded and called failed. */
export interface DriverUnderTest {
  readonly driver: Driver;
  readonly client: FakeClient;
  readonly failures: { readonly failure: Failure; readonly lane: number }[];
  /** Rows recorded so far: whether they failed or were sent late. */
  readonly flags: number[];
  readonly errors: readonly unknown[];
  /** What was reported when the limit of outstanding requests was reached. */
  readonly limits: (number | undefined)[];
  readonly feed: RequestFeed;
}

/** Makes the driver with its work. */
export function makeDriver({
  feed: given,
  judgeLater,
  readsFirst = false,
  ...options
}: Partial<DriverOptions> & {
  readonly feed?: RequestFeed;
  readonly judgeLater?: DriverWork["judge"];
  readonly readsFirst?: boolean;
} = {}): DriverUnderTest {
  let client: FakeClient | undefined;
  const failures: DriverUnderTest["failures"] = [];
  const flags: number[] = [];
  const errors: unknown[] = [];
  const limits: (number | undefined)[] = [];
  const driver = new Driver({
    laneCount: 2 ** 30,
    isSync: true,
    keepsOrder: false,
    sequenceCount: 4,
    isSerial: false,
    stallTimeoutNs: 1e9,
    maxResponseBytes: 1e6,
    createClient: ({ onDone }) => {
      client = new FakeClient(onDone, options.clock);
      return client;
    },
    ...options,
  });
  const feed = given ?? new RequestFeed(makeService(), makeDataset(1), { usesIds: false });
  const work: DriverWork = {
    feed,
    needsBodies: judgeLater !== undefined,
    canWait: judgeLater !== undefined,
    readsFirst,
    meter: {
      add: (records: RecordColumns, count) => {
        for (let row = 0; row < count; row++) flags.push(records.flags[row] as number);
      },
    },
    judge: (call, slots) => {
      if (judgeLater !== undefined) return judgeLater(call, slots);
      if (call.failure?.message === "throws") throw new Error("judging failed");
      return call.failure;
    },
    listener: {
      records: () => {},
      failed: (failure, lane) => failures.push({ failure, lane }),
      limited: (wanted) => limits.push(wanted),
      broken: (error) => errors.push(error),
    },
  };
  driver.setWork(work);
  return { driver, client: client as unknown as FakeClient, failures, flags, errors, limits, feed };
}

const starters = new WeakMap<Driver, LoadStarter>();

/** Returns what starts the loads of a driver. */
export function starterOf(driver: Driver): LoadStarter {
  const starter = starters.get(driver) ?? new LoadStarter(driver);
  starters.set(driver, starter);
  return starter;
}
