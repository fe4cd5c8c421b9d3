// Runs on: bun, deno, node.

import assert from "node:assert/strict";
import { test } from "node:test";
import { MessageChannel } from "node:worker_threads";
import type { SentMessage } from "../../../src/run/fleet/remote-sender.ts";
import { type SeatTask, serveSenderThread, type ThreadEvent } from "../../../src/run/fleet/sender-thread.ts";
import { LoadStarter } from "../../../src/run/send/load-starter.ts";
import { nowNs, timeOriginMs } from "../../../src/runtime/clock.ts";
import { makePlan } from "../../plan/make-plan.ts";
import { KserveServer } from "../kserve-server.ts";

test("a sender elsewhere has rehearsed when it says that it is open, and has sent nothing to the server", async (t) => {
  await using server = await new KserveServer({}).start();
  const said: string[] = [];
  const { start } = LoadStarter.prototype;
  t.mock.method(LoadStarter.prototype, "start", function (this: LoadStarter, ...args: Parameters<typeof start>) {
    said.push("sends");
    return start.apply(this, args);
  });
  const { port1, port2 } = new MessageChannel();
  const say = (task: SeatTask): void => port1.postMessage(task);
  const ended = new Promise<void>((resolve) => {
    port1.on("message", ({ kind }: ThreadEvent) => {
      if (kind !== "counts") said.push(kind);
      if (kind === "opened") say({ kind: "end" });
      if (kind === "ended" || kind === "not-opened") resolve();
    });
  });
  serveSenderThread(port2, async () => ({}));
  const share = { index: 0, count: 1 };
  const plan = makePlan({ target: { url: server.url } });
  const data = { plan, share, maxOutstanding: 8, sendsRecords: false, secrets: [], originMs: timeOriginMs() };
  say({ kind: "open", data });
  await ended;
  port1.close();
  assert.deepEqual([said, server.successCount], [["ready", "sends", "opened", "ended"], 0]);
});

const SEC = 1e9;
/** Messages that come 1,000 s after they were said, and how late that is. */
const LATE: readonly (readonly [text: string, messages: (saidNs: number) => readonly unknown[][], lateSec: number])[] =
  [
    ["a run begins", (saidNs) => [["change", { run: { startNs: saidNs, hasTimeline: false } }]], 0],
    [
      "a warm-up begins, and something is asked",
      () => [
        ["change", { isWarmup: true }],
        ["until", { kind: "now" }],
      ],
      0,
    ],
    ["a number of requests", () => [["change", { quota: 5 }]], 1000],
    ["a change whose moment comes", (saidNs) => [["change", { next: { quota: 5, atNs: saidNs + 2000 * SEC } }]], 0],
    ["a change whose moment was", (saidNs) => [["change", { next: { quota: 5, atNs: saidNs + 900 * SEC } }]], 100],
    ["a start whose moment was", (saidNs) => [["start", {}, { quota: 5, atNs: saidNs + 700 * SEC }]], 300],
    ["a start without a moment", () => [["start", {}, { quota: 5 }]], 1000],
    ["a window that begins later", (saidNs) => [["beginWindow", saidNs + 600 * SEC, {}]], 400],
    ["the end of a window", (saidNs) => [["cut", saidNs - 10 * SEC]], 1000],
    ["the end of a load", () => [["stop"]], 0],
  ];
for (const [text, messages, lateSec] of LATE)
  test(`a message is late by the time since its moment: ${text}`, async () => {
    const { port1, port2 } = new MessageChannel();
    const told = new Promise<number>((resolve) => {
      port1.on("message", (event: ThreadEvent) => {
        if (event.kind === "time") resolve(event.lateNs);
      });
    });
    serveSenderThread(port2, async () => ({}));
    const atNs = nowNs() - 1000 * SEC;
    const sent = messages(atNs).map(([name, ...args], id) => ({ id, name, args }) as SentMessage);
    port1.postMessage({ kind: "handle", messages: sent, atNs } satisfies SeatTask);
    port1.postMessage({ kind: "tell-time", id: 0 } satisfies SeatTask);
    const late = (await told) / SEC;
    port1.close();
    assert.ok(late >= lateSec && late <= lateSec + (lateSec === 0 ? 0 : 60), `${late}`);
  });
