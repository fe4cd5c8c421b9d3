// Runs on: bun, deno, node.

import assert from "node:assert/strict";
import { once } from "node:events";
import { createServer } from "node:net";
import { after, before, test } from "node:test";
import { RunSignal } from "../../../src/run/interrupt.ts";
import { diagnose } from "../../../src/run/judge/diagnosis.ts";
import { watchSilence } from "../../../src/run/judge/silence.ts";
import { probeModels } from "../../../src/run/open/probe.ts";
import { reachServers } from "../../../src/run/open/reach-servers.ts";
import { detectServer } from "../../../src/wizard/detect.ts";
import { makePlan, makeTarget } from "../../plan/make-plan.ts";
import { listen } from "../../servers/listen.ts";
import { LIMIT } from "../../time-limit.ts";

/** Whatever is asked of a server, connections come from the source addresses of the run, as those of its load do. */

/** All of 127.0.0.0/8 is this host on Linux only. */
const ON_LINUX = { skip: process.platform !== "linux", ...LIMIT };
const client = { sourceAddresses: ["127.0.0.2"] };
const seen: (string | undefined)[] = [];
/** Ends each connection, so that nothing waits for a response. */
const server = createServer((socket) => {
  seen.push(socket.remoteAddress);
  socket.on("error", () => {}).end();
});
let url = "";
before(async () => {
  url = `127.0.0.1:${await listen(server)}`;
});
after(() => server.close());

const triton = (protocol: "http" | "grpc") => makeTarget({ url, protocol, model: "" });

/** Ends when the server of a run without responses is asked. */
function findSilence(): Promise<unknown> {
  const plan = makePlan({ target: triton("http"), client: { ...client, stallTimeoutMs: 100 } });
  const progress = () => ({ answeredCount: 0, outstanding: 1 });
  const unwatch = watchSilence(plan, { signal: new RunSignal(), observer: {}, progress });
  return once(server, "connection").finally(unwatch);
}

const QUESTIONS: readonly (readonly [string, () => Promise<unknown>])[] = [
  ["models over HTTP", () => probeModels(triton("http"), client)],
  ["models over gRPC", () => probeModels(triton("grpc"), client)],
  ["whether several servers can be reached", () => reachServers(triton("http"), client)],
  [
    "what it speaks, after a failure",
    () => diagnose({ target: triton("http"), client }, { kind: "closed", message: "" }),
  ],
  ["what it speaks, while it is silent", findSilence],
  ["what it is", () => detectServer(url, client)],
];
for (const [name, ask] of QUESTIONS)
  test(name, ON_LINUX, async () => {
    seen.length = 0;
    await ask().catch(() => {});
    assert.ok(seen.length > 0);
    assert.deepEqual([...new Set(seen)], client.sourceAddresses);
  });
