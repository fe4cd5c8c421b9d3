import assert from "node:assert/strict";
import { test } from "node:test";
import type { Bus } from "../../../../src/run/fleet/bus/bus.ts";
import { Link } from "../../../../src/run/fleet/bus/link.ts";
import { pack, unpack } from "../../../../src/run/fleet/bus/pack.ts";
import { type Clock, systemClock } from "../../../../src/runtime/clock.ts";
import { createRandom } from "../../../../src/runtime/random.ts";
import { FakeClock } from "../../../runtime/fake-clock.ts";

/** Messages between two processes over a bus that loses some of them. */

/** A bus in this process. What is published arrives a moment later, unless it gets lost. */
class TestBus implements Bus {
  isConnected = true;
  mostBytes = 1024 * 1024;
  /** Which of the messages get lost. */
  loses: () => boolean = () => false;
  /** Which of the messages arrive twice. */
  doubles: () => boolean = () => false;
  publishedBytes = 0;
  private readonly clock: FakeClock;
  private readonly receivers = new Map<string, (message: unknown, reply: string) => void>();

  constructor(clock: FakeClock) {
    this.clock = clock;
  }

  subscribe(subject: string, receive: (message: unknown, reply: string) => void): () => void {
    this.receivers.set(subject, receive);
    return () => this.receivers.delete(subject);
  }

  publish(subject: string, message: unknown): void {
    if (!this.isConnected) return;
    const data = pack(message);
    assert.ok(data.length <= this.mostBytes, `${data.length} bytes`);
    this.publishedBytes += data.length;
    const copy = data.slice();
    for (const isSent of [!this.loses(), this.doubles()])
      if (isSent) this.clock.after(1, () => this.receivers.get(subject)?.(unpack(copy), ""));
  }

  createInbox(): string {
    return "inbox";
  }

  async close(): Promise<void> {}
}

/** A process that can be stopped: then its timers do not fire, and it reads what arrived when it continues. */
class TestProcess {
  readonly clock: Clock;
  readonly bus: Bus;
  private isStopped = false;
  private arrived: (() => void)[] = [];

  constructor(bus: Bus, clock: FakeClock) {
    this.clock = {
      ...systemClock,
      nowNs: () => clock.nowNs(),
      nextTurn: (action) => clock.nextTurn(action),
      every: (periodMs, action) => clock.every(periodMs, () => (this.isStopped ? undefined : action())),
    };
    this.bus = {
      get isConnected() {
        return bus.isConnected;
      },
      get mostBytes() {
        return bus.mostBytes;
      },
      publish: (...message) => bus.publish(...message),
      subscribe: (subject, receive) =>
        bus.subscribe(subject, (...message) => {
          if (this.isStopped) this.arrived.push(() => receive(...message));
          else receive(...message);
        }),
      createInbox: () => bus.createInbox(),
      close: () => bus.close(),
    };
  }

  stop(): void {
    this.isStopped = true;
  }

  continue(): void {
    this.isStopped = false;
    for (const read of this.arrived.splice(0)) read();
  }
}

interface Ends {
  readonly clock: FakeClock;
  readonly bus: TestBus;
  readonly here: Link;
  readonly there: Link;
  readonly thereProcess: TestProcess;
  readonly received: { readonly here: unknown[]; readonly there: unknown[] };
  readonly lost: string[];
  /** When the other side was last heard, of each that was lost. */
  readonly heardAtNs: number[];
}

function openEnds(mostSilenceMs?: number): Ends {
  const clock = new FakeClock({ startNs: 1e9 });
  const bus = new TestBus(clock);
  const received = { here: [] as unknown[], there: [] as unknown[] };
  const lost: string[] = [];
  const heardAtNs: number[] = [];
  const thereProcess = new TestProcess(bus, clock);
  const open = (
    who: "here" | "there",
    [send, receive]: readonly [string, string],
    on: Pick<TestProcess, "bus" | "clock"> = { bus, clock },
  ): Link =>
    new Link(
      on.bus,
      { send, receive },
      {
        message: (value) => received[who].push(value),
        lost: (reason, heardNs) => {
          lost.push(`${who}: ${reason}`);
          heardAtNs.push(heardNs);
        },
        ...(mostSilenceMs === undefined ? {} : { mostSilenceMs }),
      },
      on.clock,
    );
  const [here, there] = [open("here", ["a", "b"]), open("there", ["b", "a"], thereProcess)];
  return { clock, bus, here, there, thereProcess, received, lost, heardAtNs };
}

test("messages arrive in order and once, in both directions", async () => {
  const { clock, here, there, received } = openEnds();
  for (let index = 0; index < 100; index++) {
    here.send({ index, values: new Float64Array([index, Number.NaN]) });
    there.send(index);
  }
  // The last confirmation waits for a tick.
  await clock.advanceMs(200);
  assert.deepEqual(
    received.there,
    Array.from({ length: 100 }, (_, index) => ({ index, values: new Float64Array([index, Number.NaN]) })),
  );
  assert.deepEqual(received.here, [...Array(100).keys()]);
  assert.equal(here.waitingBytes + there.waitingBytes, 0);
});

test("a bus that loses, doubles and delays messages changes nothing", async () => {
  for (let seed = 1; seed <= 20; seed++) {
    const { clock, bus, here, there, received, lost } = openEnds();
    const random = createRandom(seed);
    bus.loses = () => random() < 0.1;
    bus.doubles = () => random() < 0.2;
    for (let index = 0; index < 60; index++) {
      here.send(index);
      there.send(`${index}`);
      await clock.advanceMs(20);
    }
    await clock.advanceMs(30_000);
    assert.deepEqual([received.there, lost], [[...Array(60).keys()], []], `seed ${seed}`);
    assert.deepEqual(
      received.here,
      Array.from({ length: 60 }, (_, index) => `${index}`),
    );
  }
});

test("a message larger than the bus takes is divided, and what is on the way is limited", async () => {
  const { clock, bus, here, received } = openEnds();
  bus.mostBytes = 64 * 1024;
  const bytes = Uint8Array.from({ length: 10_000_000 }, (_, index) => index % 251);
  here.send({ bytes });
  assert.ok(bus.publishedBytes < 5_000_000, `${bus.publishedBytes} bytes at once`);
  await clock.advanceMs(200);
  assert.deepEqual(received.there, [{ bytes }]);
  assert.equal(here.waitingBytes, 0);
});

test("what was sent while the bus was away arrives when it is back", async () => {
  const { clock, bus, here, received, lost } = openEnds();
  bus.isConnected = false;
  here.send("one");
  await clock.advanceMs(20_000);
  here.send("two");
  assert.deepEqual([received.there, lost], [[], []]);
  bus.isConnected = true;
  await clock.advanceMs(500);
  assert.deepEqual([received.there, lost], [["one", "two"], []]);
});

test("the other side is lost when nothing is heard of it, and the bus when it stays away", async () => {
  const silent = openEnds();
  await silent.clock.advanceMs(3000);
  silent.there.close();
  await silent.clock.advanceMs(2900);
  assert.deepEqual(silent.lost, []);
  await silent.clock.advanceMs(1300);
  assert.deepEqual(silent.lost, ["here: nothing was heard of it for 4 s"]);
  // It begins at 1 s, and beats each second.
  const [heardNs = 0] = silent.heardAtNs;
  assert.ok(heardNs > 2.9e9 && heardNs <= 4.01e9, `${heardNs}`);
  const patient = openEnds(8000);
  patient.there.close();
  await patient.clock.advanceMs(7000);
  assert.deepEqual(patient.lost, []);
  await patient.clock.advanceMs(1500);
  assert.deepEqual(patient.lost, ["here: nothing was heard of it for 8 s"]);
  const away = openEnds();
  away.bus.isConnected = false;
  await away.clock.advanceMs(29_000);
  assert.deepEqual(away.lost, []);
  await away.clock.advanceMs(2000);
  assert.deepEqual(away.lost.sort(), ["here: the bus cannot be reached", "there: the bus cannot be reached"]);
});

test("a link that has nothing to say costs a few small messages per second", async () => {
  const { clock, bus } = openEnds();
  await clock.advanceMs(60_000);
  assert.ok(bus.publishedBytes < 60 * 2 * 40, `${bus.publishedBytes} bytes in a minute`);
});

test("a side that stood still listens before it says that the other one is lost", async () => {
  const { clock, here, there, received, lost } = openEnds();
  await clock.advanceMs(1000);
  clock.spendMs(10_000);
  await clock.advanceMs(3000);
  assert.deepEqual(lost, []);
  here.send("still here");
  await clock.advanceMs(10);
  assert.deepEqual(received.there, ["still here"]);
  there.close();
  await clock.advanceMs(5200);
  assert.deepEqual(lost, ["here: nothing was heard of it for 4 s"]);
});

test("a side that stood still hears one on a busy host that replies late", async () => {
  const { clock, bus, lost } = openEnds();
  await clock.advanceMs(1000);
  clock.spendMs(10_000);
  const { publish } = bus;
  bus.publish = (subject, message) => {
    if (subject === "a") publish.call(bus, subject, message);
  };
  await clock.advanceMs(3500);
  assert.deepEqual(lost, []);
  bus.publish = publish;
  await clock.advanceMs(10_000);
  assert.deepEqual(lost, []);
});

test("a side that was lost and is heard again is lost on both sides at once", async () => {
  const { clock, bus, there, thereProcess, lost, received } = openEnds();
  await clock.advanceMs(1000);
  thereProcess.stop();
  bus.loses = () => true;
  await clock.advanceMs(5000);
  assert.deepEqual(lost, ["here: nothing was heard of it for 4 s"]);
  bus.loses = () => false;
  thereProcess.continue();
  there.send("back");
  await clock.advanceMs(20);
  assert.equal(lost.length, 2);
  assert.match(lost[1] ?? "", /^there: it had heard nothing of this process, which did not run for 5\.?\d* s$/);
  assert.deepEqual(received.here, []);
});

test("a side that stood still hears at once that it is lost, and when it last heard the other one", async () => {
  const { clock, here, thereProcess, lost, heardAtNs } = openEnds();
  await clock.advanceMs(1000);
  thereProcess.stop();
  await clock.advanceMs(10_000);
  assert.deepEqual(lost, ["here: nothing was heard of it for 4 s"]);
  here.close();
  thereProcess.continue();
  await clock.advanceMs(200);
  assert.deepEqual(lost.slice(1), ["there: it had heard nothing of this process, which did not run for 10 s"]);
  assert.ok(Math.abs((heardAtNs[1] ?? 0) - 2e9) < 0.2e9, `${heardAtNs[1]}`);
});

test("a bus that is away ends the wait early when the run is interrupted", async () => {
  const { clock, bus, here, lost } = openEnds();
  await clock.advanceMs(1000);
  bus.isConnected = false;
  await clock.advanceMs(6000);
  here.hasten(4000);
  await clock.advanceMs(3900);
  assert.deepEqual(lost, []);
  await clock.advanceMs(300);
  assert.deepEqual(lost, ["here: the bus cannot be reached"]);
});

test("messages that follow each other take their confirmations along", async () => {
  const { clock, bus, here, there, received } = openEnds();
  let frames = 0;
  const publish = bus.publish.bind(bus);
  bus.publish = (...message) => {
    frames++;
    publish(...message);
  };
  for (let index = 0; index < 50; index++) {
    here.send(index);
    await clock.advanceMs(2);
    there.send(index);
    await clock.advanceMs(2);
  }
  assert.deepEqual([received.there.length, received.here.length], [50, 50]);
  // Of 100 messages; each of them confirmed by a frame would be 200.
  assert.ok(frames <= 110, `${frames} frames`);
});

test("drain does not wait for what is sent later", async () => {
  const { clock, here } = openEnds();
  const sending = clock.every(10, () => here.send("another"));
  here.send("first");
  let isDrained = false;
  void here.drain().then(() => {
    isDrained = true;
  });
  await clock.advanceMs(500);
  sending();
  assert.equal(isDrained, true);
});

test("drain resolves when the other side has everything, or when the link is closed", async () => {
  const { clock, here, there, received } = openEnds();
  await here.drain();
  here.send("last");
  let isDrained = false;
  const drained = here.drain().then(() => {
    isDrained = true;
  });
  await Promise.resolve();
  assert.equal(isDrained, false);
  await clock.advanceMs(50);
  await drained;
  assert.deepEqual(received.there, ["last"]);
  there.close();
  here.send("nobody hears it");
  const closed = here.drain();
  here.close();
  await closed;
});

test("a bus that is away for a moment after the run was interrupted loses nothing", async () => {
  const { clock, bus, here, lost } = openEnds();
  here.hasten(4000);
  await clock.advanceMs(10_000);
  bus.isConnected = false;
  await clock.advanceMs(3000);
  bus.isConnected = true;
  await clock.advanceMs(2000);
  assert.deepEqual(lost, []);
});
