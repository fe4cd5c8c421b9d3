// Runs on: bun, deno, node.

import assert from "node:assert/strict";
import { test } from "node:test";
import { MessageChannel } from "node:worker_threads";
import { type SeatTask, serveSenderThread, type ThreadEvent } from "../../../src/run/fleet/sender-thread.ts";
import { LoadStarter } from "../../../src/run/send/load-starter.ts";
import { timeOriginMs } from "../../../src/runtime/clock.ts";
import { makePlan } from "../../plan/make-plan.ts";
import { withServer } from "../kserve-server.ts";

test("a sender elsewhere has rehearsed when it says that it is open, and has sent nothing to the server", async (t) => {
  await withServer({}, async (server) => {
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
});
