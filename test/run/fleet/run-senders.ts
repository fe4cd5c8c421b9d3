import type { Dataset } from "../../../src/inputs/dataset.ts";
import type { Share } from "../../../src/load/share.ts";
import type { Plan } from "../../../src/plan/plan.ts";
import { loadModeOf, prepareLoad } from "../../../src/registry/load-modes.ts";
import type { RunResult } from "../../../src/result/run-result.ts";
import { Conductor } from "../../../src/run/conduct/conductor.ts";
import { FleetSender } from "../../../src/run/fleet/fleet-sender.ts";
import { GrowingFleet } from "../../../src/run/fleet/growing-fleet.ts";
import type { Fleet } from "../../../src/run/fleet/open-fleet.ts";
import { RemoteSender, type SenderEvent } from "../../../src/run/fleet/remote-sender.ts";
import { listenFor, ServedSender } from "../../../src/run/fleet/serve-sender.ts";
import { hostLimitsOf } from "../../../src/run/host-limits.ts";
import { RunSignal } from "../../../src/run/interrupt.ts";
import { laneOptionsOf } from "../../../src/run/lanes.ts";
import { createTargetFeed } from "../../../src/run/mix/create-feed.ts";
import { openSender, timestampsOf } from "../../../src/run/open-sending.ts";
import { ALONE } from "../../../src/run/peers/peers.ts";
import { Canceller } from "../../../src/run/send/canceller.ts";
import type { DriverOptions } from "../../../src/run/send/driver-work.ts";
import type { LoadSender, SenderListener } from "../../../src/run/send/messages.ts";
import { nowNs, systemClock } from "../../../src/runtime/clock.ts";
import type { Service } from "../../../src/service/service.ts";
import type { Failure } from "../../../src/transport/failure.ts";
import type { WireRequest } from "../../../src/transport/request.ts";
import { FakeClient, makeDataset, makeDriver, makeService } from "../send/fake-client.ts";

/** Runs plans with senders whose messages could go to other threads or hosts: each of them is cloned on its way. */

const EVERY = 7;
const REFUSED: Failure = { kind: "http", status: 503, message: "busy" };

/** Answers each request one turn of the event loop after it was sent; each seventh fails. */
class EagerClient extends FakeClient {
  private count = 0;
  readonly failsSome: boolean;

  constructor(onDone: ConstructorParameters<typeof FakeClient>[0], failsSome: boolean) {
    super(onDone);
    this.failsSome = failsSome;
  }

  override send(slot: number, request: WireRequest, stamp: Uint8Array | undefined): void {
    super.send(slot, request, stamp);
    const count = ++this.count;
    setImmediate(() => {
      const fails = this.failsSome && count % EVERY === 0;
      if (this.calls[slot]?.isActive === true) this.answer(slot, fails ? REFUSED : undefined);
    });
  }
}

/** How a plan is run. */
export interface SendersOptions {
  /** Number of senders that are elsewhere. 0: the conductor's own. */
  readonly remoteCount: number;
  /** Whether each seventh request of a sender fails. Default: yes. */
  readonly failsSome?: boolean;
  /** The data. Default: a stream of 3 steps. */
  readonly dataset?: Dataset;
  /** What the service has besides. */
  readonly traits?: Partial<Service>;
  /** Most senders: after each level one more sends. Default: always the same number. */
  readonly growsTo?: number;
}

/** A run, and what its senders sent. */
export interface SentRun {
  readonly result: RunResult;
  /** By sender: its requests, in their order. */
  readonly sent: readonly FakeClient["sent"][];
  /** The names of the messages that passed. */
  readonly messages: ReadonlySet<string>;
}

/** Runs a plan. */
export async function runSenders(plan: Plan, options: SendersOptions): Promise<SentRun> {
  const { remoteCount, failsSome = true, dataset = makeDataset(3), traits, growsTo } = options;
  const load = prepareLoad(plan.load);
  const service = { ...makeService(), ...traits };
  const session = {
    ...{ service, dataset, warnings: [], shared: undefined },
    counters: async () => undefined,
  };
  const turnCount =
    loadModeOf(plan.load).dataOrder === "in-sessions"
      ? dataset.streams.reduce((sum, turns) => sum + turns.length, 0)
      : undefined;
  const parts = { plan, observer: {}, load, session, turnCount };
  const messages = new Set<string>();
  const clients: FakeClient[] = [];
  const open = async (share: Share, listener: SenderListener): Promise<LoadSender> => {
    const lanes = laneOptionsOf(plan, load.search, service, share);
    const canceller = plan.cancellation && new Canceller(plan.cancellation, systemClock, share);
    const feed = await createTargetFeed(session, { plan, search: load.search, lanes, senders: share });
    const createClient: DriverOptions["createClient"] = ({ onDone }) => {
      const client = new EagerClient(onDone, failsSome);
      clients.push(client);
      return client;
    };
    const { driver } = makeDriver({ ...lanes, createClient, feed, canceller });
    return openSender({ ...parts, feed, driver, canceller, tokens: undefined, share }, listener);
  };
  const openAll = async (count: number): Promise<((listener: SenderListener) => LoadSender)[]> => {
    const senders: ((listener: SenderListener) => LoadSender)[] = [];
    for (let index = 0; index < count; index++) {
      const listeners: SenderListener[] = [];
      const late: SenderListener = {
        records: (...args) => listeners[0]?.records(...args),
        extracted: (...args) => listeners[0]?.extracted(...args),
        failed: (...args) => listeners[0]?.failed(...args),
        limited: (...args) => listeners[0]?.limited(...args),
        broken: (...args) => listeners[0]?.broken(...args),
      };
      const sender = await open({ index, count }, late);
      senders.push((listener) => {
        listeners.push(listener);
        return remoteCount === 0 ? sender : elsewhere(sender, listeners, messages);
      });
    }
    return senders;
  };
  const openThreads = async (count: number): Promise<Fleet> => {
    const senders = await openAll(count);
    const createSender = (listener: SenderListener): LoadSender =>
      new FleetSender(senders.map((create) => create(listener)));
    return { count, delayNs: 0, createSender, close: async () => {} };
  };
  const first = Math.max(1, remoteCount);
  const growing =
    growsTo === undefined
      ? undefined
      : new GrowingFleet({ open: openThreads, mostCount: growsTo, isLimit: () => true }, await openThreads(first));
  const senders = await openAll(growing === undefined ? first : 0);
  const result = await new Conductor({
    ...parts,
    signal: new RunSignal(),
    growth: growing,
    createSender: (listener) => {
      if (growing !== undefined) return growing.createSender(listener);
      const [only, ...others] = senders.map((create) => create(listener));
      return others.length === 0 ? (only as LoadSender) : new FleetSender([only as LoadSender, ...others]);
    },
    ...{
      clock: systemClock,
      laneCount: laneOptionsOf(plan, load.search, service).laneCount,
      timestampsMs: timestampsOf(parts),
      hasTokens: false,
    },
    ...{ hostLimits: hostLimitsOf(plan, load.search), poller: undefined, peers: ALONE },
    ...{ startNs: nowNs(), check: () => Promise.resolve() },
  }).execute();
  return { result, sent: clients.map(({ sent }) => sent), messages };
}

/** Puts a channel that clones between a conductor and a sender. @param listeners the first one is replaced by the sender's side */
function elsewhere(sender: LoadSender, listeners: SenderListener[], messages: Set<string>): LoadSender {
  const listener = listeners.pop() as SenderListener;
  const receive = (event: SenderEvent): void => remote.receive(structuredClone(event));
  listeners.push(listenFor(receive, true));
  const served = new ServedSender(sender, receive);
  const counts = { progress: sender.progress(), counts: sender.counts() };
  const remote = new RemoteSender(
    {
      send: (sent) => {
        for (const { name } of sent) messages.add(name);
        served.handle(structuredClone(sent));
        if (sent.some(({ name }) => name === "close")) served.end();
      },
    },
    listener,
    counts,
  );
  return remote.sender;
}
