// Runs on: bun, deno, node.
import assert from "node:assert/strict";
import { test } from "node:test";
import { word } from "../../src/plan/messages.ts";
import { UserError } from "../../src/plan/problem.ts";
import { formatCount } from "../../src/plan/units.ts";
import { prepareLoad } from "../../src/registry/load-modes.ts";
import {
  checkSources,
  type HostLimits,
  hostExhausted,
  hostLimitsOf,
  limitReached,
  limitsOfAgents,
  warnOfLevels,
  watchMemory,
} from "../../src/run/host-limits.ts";
import type { HostResources } from "../../src/runtime/machine.ts";
import { runtimeName } from "../../src/runtime/runtime.ts";
import { makePlan, type PlanChange, rateLoad } from "../plan/make-plan.ts";
import { FakeClock } from "../runtime/fake-clock.ts";

const GIB = 1024 ** 3;
/** KiB of a request in flight with its connection, and on a shared one. */
const [CONNECTED, SHARED] = runtimeName === "deno" ? [48, 24] : [32, 8];
const inMib = (mib: number, kib: number): number => Math.floor((mib * 1024) / kib);
const ROOMY: HostResources = { memoryBytes: 64 * GIB, fileLimit: 1e6, openFiles: 10, localPorts: 1e6 };
const HTTP: PlanChange = { target: { protocol: "http" } };
const GRPC: PlanChange = { target: { protocol: "grpc" } };

function limitsOf(change: PlanChange, resources: Partial<HostResources> = {}): HostLimits {
  const plan = makePlan(change);
  return hostLimitsOf(plan, prepareLoad(plan.load).search, { ...ROOMY, ...resources });
}

const rate = (maxOutstanding?: number): PlanChange => ({
  load: { ...rateLoad([10]), ...(maxOutstanding === undefined ? {} : { maxOutstanding }) },
});

type Limit = readonly [
  name: string,
  change: PlanChange,
  resources: Partial<HostResources>,
  cause: string,
  most: number,
];
const LIMITS: readonly Limit[] = [
  ["512 MiB of a large memory", HTTP, {}, "memory", inMib(512, CONNECTED)],
  ["a quarter of a small memory", HTTP, { memoryBytes: GIB }, "memory", inMib(256, CONNECTED)],
  ["more requests where they share connections", { ...GRPC, ...rate() }, {}, "memory", inMib(512, SHARED)],
  ["the files that may be opened", HTTP, { fileLimit: 4096, openFiles: 64 }, "files", 4000],
  [
    "two files for a request to two servers",
    { target: { protocol: "http", moreUrls: ["b:1"] } },
    { fileLimit: 442 },
    "files",
    200,
  ],
  ["a sixth of a file where lanes share connections", GRPC, { fileLimit: 142 }, "files", 600],
  [
    "no files where few lanes share connections",
    { ...GRPC, ...rate() },
    { fileLimit: 142 },
    "memory",
    inMib(512, SHARED),
  ],
  ["the ports towards one address", HTTP, { localPorts: 900 }, "ports", 900],
  [
    "those of each source address, whatever the number of servers",
    {
      target: { protocol: "http", moreUrls: ["b:1"] },
      client: { sourceAddresses: ["10.0.0.1", "10.0.0.2", "10.0.0.2"] },
    },
    { localPorts: 900 },
    "ports",
    1800,
  ],
  [
    "half the ports of a server that is named twice",
    { target: { protocol: "http", url: "http://a:1", moreUrls: ["A:1/path"] } },
    { localPorts: 900 },
    "ports",
    450,
  ],
  [
    "the files that all threads leave, which each need some",
    { ...HTTP, client: { workers: 10 } },
    { fileLimit: 4096, openFiles: 64 },
    "files",
    3880,
  ],
  ["what the user says", { ...HTTP, client: { maxOutstanding: 20_000 } }, {}, "asked", 20_000],
  ["what the load itself allows", { ...HTTP, ...rate(50_000) }, {}, "memory", 50_000],
  [
    "files, whatever the user says",
    { ...HTTP, client: { maxOutstanding: 20_000 } },
    { fileLimit: 1042 },
    "files",
    1000,
  ],
  ["a few requests on every host", HTTP, { memoryBytes: 0 }, "memory", 64],
  [
    "three quarters of the memory, where a mode uses the whole host",
    { ...HTTP, behaviour: { usesWholeHost: true } },
    { memoryBytes: GIB },
    "memory",
    inMib(768, CONNECTED),
  ],
];
for (const [name, change, resources, cause, most] of LIMITS)
  test(`the limit of requests in flight is ${name}`, () => {
    const { maxOutstanding, cause: actual } = limitsOf(change, resources);
    assert.deepEqual([actual, maxOutstanding], [cause, most]);
  });

test("an error says which limit was reached, and how to raise it", () => {
  const files = limitReached(limitsOf(HTTP, { fileLimit: 4096, openFiles: 64 }), 5000);
  assert.equal(files.code, "host-limit");
  assert.equal(
    files.message,
    "the load needs 5,000 requests in flight, above the client's limit of 4,000: this process may open 4,096 files",
  );
  assert.match(word(files.hint), /ulimit -n/);
  const memory = limitReached(limitsOf(HTTP));
  assert.equal(
    memory.message,
    `the client reached its limit of ${formatCount(inMib(512, CONNECTED))} requests in flight: more could need over 512 MiB of memory; 65,536 MiB are free`,
  );
  assert.match(word(memory.hint), /raise client\.maxOutstanding/);
  const whole = limitReached(limitsOf({ ...HTTP, behaviour: { usesWholeHost: true } }, { memoryBytes: GIB }));
  assert.doesNotMatch(word(whole.hint), /raise/, "a compatible mode has no such setting");
  assert.match(hostExhausted(limitsOf(HTTP, { fileLimit: 99 })).message, /this host, not the server, .* 99 files/);
  const responses = hostExhausted(limitsOf(HTTP), { isMemory: true, message: "the responses have too many bytes" });
  assert.equal(responses.message, "the responses have too many bytes");
  assert.match(word(responses.hint), /^Have fewer requests in flight/);
});

test("an error about ports says what more source addresses would give", () => {
  const sources = { ...HTTP, client: { sourceAddresses: ["10.0.0.1", "10.0.0.2"] } };
  const error = limitReached(limitsOf(sources, { localPorts: 900 }), 2000);
  assert.equal(
    error.message,
    "the load needs 2,000 requests in flight, above the client's limit of 1,800: this host has 900 ports for connections to one address from each of 2 source addresses",
  );
  assert.match(word(error.hint), /^Give more of client\.sourceAddresses, widen the range of ports/);
});

test("agents have the limit of the one that allows least, each of its threads the same part", () => {
  const plan = makePlan(HTTP);
  const agent = (name: string, resources: Partial<HostResources>) => ({ name, limits: limitsOf(HTTP, resources) });
  const few = agent("b/2", { fileLimit: 343 });
  const many = agent("a/1", { fileLimit: 4096, openFiles: 64 });
  const limits = limitsOfAgents(plan, [many, few], 2);
  // Of 301 files that are left, 150 for each thread.
  assert.deepEqual([limits.maxOutstanding, limits.cause], [600, "files"]);
  const error = limitReached(limits, 5000);
  assert.equal(
    error.message,
    "the load needs 5,000 requests in flight, above the 2 agents' limit of 600: the agent b/2 may open 343 files",
  );
  assert.match(word(error.hint), /where the agent starts \(ulimit -n\)/);
  assert.match(limitReached(limits).message, /^the agents reached their limit of 600 requests in flight: /);
  assert.match(
    hostExhausted(limits).message,
    /^the host of the agent b\/2, not the server, .* b\/2 may open 343 files$/,
  );
  const memory = limitReached(limitsOfAgents(plan, [agent("c/3", {})], 1));
  assert.match(memory.message, /^the agents reached .* over 512 MiB of memory at the agent c\/3; 65,536 MiB are free$/);
  assert.match(word(memory.hint), /raise client\.maxOutstanding if their hosts/);
  // What the user allows is for all of them.
  const asked = { ...HTTP, client: { maxOutstanding: 100 } };
  const { maxOutstanding, cause } = limitsOfAgents(makePlan(asked), [few, few], 1);
  assert.deepEqual([maxOutstanding, cause], [100, "asked"]);
});

test("agents on one host share its memory and its ports, and each has its own files", () => {
  const plan = makePlan(HTTP);
  const { search } = prepareLoad(plan.load);
  const of = (resources: Partial<HostResources>) => hostLimitsOf(plan, search, { ...ROOMY, ...resources }, 3);
  assert.equal(of({ localPorts: 900 }).maxOutstanding, 300);
  assert.equal(of({ memoryBytes: 3 * GIB }).maxOutstanding, inMib(256, CONNECTED));
  assert.equal(of({ fileLimit: 342 }).maxOutstanding, 300);
  const all = limitsOfAgents(plan, [{ name: "a/1", limits: of({ localPorts: 900 }) }], 1);
  assert.match(limitReached(all).message, /: the host of the agent a\/1 has 900 ports .* one address, for 3 agents$/);
});

test("levels above the limit are announced before the run, unless the first one is", () => {
  const warned = (values: readonly number[]): readonly string[] => {
    const plan = makePlan({
      ...HTTP,
      load: { kind: "concurrency", levels: { kind: "list", values: [...values] }, search: "linear" },
    });
    const { search } = prepareLoad(plan.load);
    return warnOfLevels(hostLimitsOf(plan, search, { ...ROOMY, localPorts: 900 }), search).map((text) => word(text));
  };
  assert.deepEqual(warned([1, 900]), []);
  assert.deepEqual(warned([901]), []);
  const [text = ""] = warned([1, 2000]);
  assert.match(
    text,
    /^the run will end before 2,000 requests in flight, at the client's limit of 900: this host has 900 ports /,
  );
  assert.match(text, /Give more of client\.sourceAddresses/);
});

test("connections come only from addresses of this host", async () => {
  await checkSources(makePlan(HTTP));
  await checkSources(makePlan({ ...HTTP, client: { sourceAddresses: ["127.0.0.1"] } }));
  const bad = makePlan({ ...HTTP, client: { sourceAddresses: ["127.0.0.1", "198.51.100.7", "0.0.0.0"] } });
  await assert.rejects(checkSources(bad), (error) => {
    assert.ok(error instanceof UserError);
    assert.deepEqual(
      error.problems.map(({ value, message }) => `${value} ${word(message)}`),
      ["198.51.100.7 is not an address of this host", "0.0.0.0 is not an address of this host"],
    );
    return true;
  });
});

test("a load that takes too much memory ends once", async () => {
  const clock = new FakeClock();
  let usedBytes = GIB;
  const errors: string[] = [];
  const limits = limitsOf(HTTP, { memoryBytes: 4 * GIB });
  watchMemory(
    limits,
    ({ message }) => errors.push(message),
    clock,
    () => usedBytes,
  );
  usedBytes = 3.9 * GIB;
  await clock.advanceMs(1000);
  assert.deepEqual(errors, []);
  usedBytes = 4.5 * GIB;
  await clock.advanceMs(1000);
  assert.deepEqual(errors, ["the load took 3,584 MiB of the 4,096 MiB of memory that were free"]);
  assert.equal(clock.timerCount, 0);
});
