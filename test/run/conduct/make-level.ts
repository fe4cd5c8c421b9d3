import type { Drive } from "../../../src/load/drive.ts";
import type { AssertionPlan } from "../../../src/plan/assertions.ts";
import type { MeasurementModePlan, Plan } from "../../../src/plan/plan.ts";
import type { RunObserver } from "../../../src/result/observer.ts";
import type { LevelResult } from "../../../src/result/run-result.ts";
import { LevelRun } from "../../../src/run/conduct/level.ts";
import type { LevelContext } from "../../../src/run/conduct/level-context.ts";
// Loaded before the fake clock moves, because the mode imports it when it begins.
import "../../../src/run/conduct/resolve-limits.ts";
import { LevelMeter } from "../../../src/run/count/window-counter.ts";
import type { RequestGroups } from "../../../src/run/groups/request-groups.ts";
import { RunSignal } from "../../../src/run/interrupt.ts";
import type { LaneOptions } from "../../../src/run/lanes.ts";
import { ALONE } from "../../../src/run/peers/peers.ts";
import type { Canceller } from "../../../src/run/send/canceller.ts";
import { Driver } from "../../../src/run/send/driver.ts";
import type { DriverOptions } from "../../../src/run/send/driver-work.ts";
import { RequestFeed } from "../../../src/run/send/feed.ts";
import { LocalSender } from "../../../src/run/send/local-sender.ts";
import type { LoadStep } from "../../../src/run/send/messages.ts";
import type { ServerCounters } from "../../../src/service/server-counters.ts";
import { HealthMonitor } from "../../../src/telemetry/health-monitor.ts";
import { makePlan } from "../../plan/make-plan.ts";
import { FakeClock } from "../../runtime/fake-clock.ts";
import { FakeClient, makeDataset, makeService, starterOf } from "../send/fake-client.ts";

/** A level on a fake clock, against a server that answers each request after a time that the test sets. */

/** How a level is made; everything has a default. */
export interface LevelParts {
  readonly load?: Plan["load"];
  readonly mode?: MeasurementModePlan;
  readonly latencyLimitMs?: number;
  /** What a level must keep that is measured until it is resolved. */
  readonly limits?: readonly AssertionPlan[];
  readonly observer?: RunObserver;
  readonly counters?: () => Promise<ServerCounters[] | undefined>;
  readonly isAsync?: boolean;
  /** Cancels some of the requests. */
  readonly canceller?: Canceller;
  /** Monitors the client. */
  readonly health?: (clock: FakeClock) => HealthMonitor;
  /** The groups of the requests, which then take a step of the data each. */
  readonly groups?: RequestGroups;
  /** Changes to the lanes, which are synchronous otherwise. */
  readonly lanes?: Partial<LaneOptions>;
  /** Time in milliseconds that the client takes for each batch of records. Default: none. */
  readonly bookkeepingMs?: number;
}

/** What {@link makeLevel} gives. */
export interface LevelUnderTest {
  readonly clock: FakeClock;
  readonly context: LevelContext;
  readonly driver: Driver;
  /** How the sender sends at any step. */
  readonly load: { drive: (level: number) => Drive };
  readonly client: FakeClient;
  readonly signal: RunSignal;
  /** How long the server takes; Infinity: it does not answer. */
  readonly server: { latencyMs: number };
  readonly errors: readonly unknown[];
}

/** A step of a load that has one. */
export const STEP: LoadStep = { phaseIndex: 0, level: 1, draw: 0 };

/** Makes a level whose driver runs as soon as it is started. The server takes 10 ms for a request at first. */
export function makeLevel(parts: LevelParts = {}): LevelUnderTest {
  const clock = new FakeClock({ startNs: 50e9 });
  const server = { latencyMs: 10 };
  const errors: unknown[] = [];
  /** The number of the latest request of each slot. */
  const latest = new Map<number, number>();
  let client: FakeClient | undefined;
  const createClient: DriverOptions["createClient"] = ({ onDone }) => {
    const made = new FakeClient(onDone, clock);
    const send = made.send.bind(made);
    made.send = (slot, request, stamp) => {
      send(slot, request, stamp);
      const count = made.sent.length;
      latest.set(slot, count);
      const { latencyMs } = server;
      if (Number.isFinite(latencyMs))
        clock.after(latencyMs, () => {
          if (made.calls[slot]?.isActive === true && latest.get(slot) === count) made.answer(slot);
        });
    };
    client = made;
    return made;
  };
  const ownLanes = { laneCount: 2 ** 30, isSync: true, keepsOrder: false, sequenceCount: 4, isSerial: false };
  const lanes = { ...ownLanes, ...parts.lanes };
  const driver = new Driver({ ...lanes, stallTimeoutNs: 1e9, maxResponseBytes: 1e6, createClient, clock });
  const meter = new LevelMeter();
  const service = makeService();
  const { groups } = parts;
  const dataset = makeDataset(groups?.ofStep.length ?? 1);
  driver.setWork({
    feed: new RequestFeed(service, dataset, { usesIds: false, isInOrder: groups !== undefined }),
    groups,
    needsBodies: false,
    canWait: false,
    meter,
    judge: (call) => call.failure,
    listener: {
      records: () => clock.spendMs(parts.bookkeepingMs ?? 0),
      failed: () => {},
      limited: () => {},
      broken: (error) => errors.push(error),
    },
  });
  const { mode, latencyLimitMs } = parts;
  const signal = new RunSignal();
  const plan = makePlan({
    ...(parts.load === undefined ? {} : { load: parts.load }),
    ...(parts.limits === undefined ? {} : { limits: parts.limits }),
    measurement: {
      ...(mode === undefined ? {} : { mode }),
      ...(latencyLimitMs === undefined ? {} : { latencyLimitMs }),
    },
  });
  const session = {
    service,
    dataset: makeDataset(1),
    warnings: [],
    shared: undefined,
    counters: parts.counters ?? (() => Promise.resolve(undefined)),
  };
  const load: LevelUnderTest["load"] = { drive: (concurrency) => ({ kind: "closed", concurrency }) };
  const sender = new LocalSender({
    ...{ plan, session, groups, driver, meter, canceller: parts.canceller, tokens: undefined, sessions: undefined },
    health: parts.health?.(clock) ?? new HealthMonitor(clock),
    load: { phases: [{ load: { drive: (level) => load.drive(level) } }] },
    timestampsMs: [],
  });
  const context: LevelContext = {
    ...{ plan, session, sender, clock, signal },

    peers: ALONE,
    observer: parts.observer ?? {},
    poller: undefined,
    hasTokens: false,
    abort: undefined,
    unit: "concurrency",
    isScheduled: false,
    canLanesWait: false,
    runStartNs: 0,
    isAsync: parts.isAsync ?? false,
    checkFailures: () => {},
    fail: (error) => errors.push(error),
    warnOfVersions: () => {},
  };
  return { clock, context, driver, load, client: client as unknown as FakeClient, signal, server, errors };
}

/** Moves the clock on until the promise settles, for at most this long. */
export async function settleWithin<T>(clock: FakeClock, limitMs: number, promise: Promise<T>): Promise<T> {
  let isOver = false;
  const settled = promise.finally(() => {
    isOver = true;
  });
  settled.catch(() => {});
  for (let ms = 0; ms < limitMs && !isOver; ms += 10) await clock.advanceMs(10);
  if (!isOver) throw new Error(`the measurement did not end within ${limitMs} ms`);
  return settled;
}

/** A level after it was measured. */
export interface Measured extends LevelUnderTest {
  /** Time of the measurement on the fake clock. */
  readonly tookMs: number;
  readonly result: LevelResult;
}

/** Measures at this concurrency. @param act on the level, in the background */
export async function measureLevel(
  level: LevelUnderTest,
  concurrency: number,
  act: (level: LevelUnderTest) => Promise<void> = () => Promise.resolve(),
): Promise<Measured> {
  const { clock, context, driver } = level;
  const { mode } = context.plan.measurement;
  await starterOf(driver).start(
    { kind: "closed", concurrency },
    mode.kind === "requests" ? (mode.count ?? 0) : Number.POSITIVE_INFINITY,
  );
  const run = new LevelRun(context, concurrency);
  const startMs = clock.nowMs;
  const measured = run.begin(undefined).then(() => run.measure());
  void act(level);
  const result = await settleWithin(clock, 60_000, measured).finally(() => driver.close());
  return { ...level, tookMs: clock.nowMs - startMs, result };
}
