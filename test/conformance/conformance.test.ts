import assert from "node:assert/strict";
import { after, before, describe, test } from "node:test";
import type { Plan } from "../../src/plan/plan.ts";
import { DEFAULT_TLS } from "../../src/plan/tls.ts";
import { sum } from "../../src/plan/units.ts";
import { checkPlan } from "../../src/registry/check-plan.ts";
import { TARGETS } from "../../src/registry/service-kinds.ts";
import type { RunResult } from "../../src/result/run-result.ts";
import { startPlan } from "../../src/run/run-plan.ts";
import { makePlan } from "../plan/make-plan.ts";
import { makeCertificates } from "../servers/tls.ts";
import { LIMIT } from "../time-limit.ts";
import { CASES, type Case, type CaseName, OPEN_SEQUENCES } from "./cases.ts";
import { loadRows } from "./load-rows.ts";
import type { ConformanceRow, RowServer } from "./row.ts";

/** Every service kind with every protocol of its own goes through the same cases: see README.md for how to add one. */

const STATISTICS = "the server's own statistics";

const rows = await loadRows();
const certificates = await makeCertificates();
after(() => certificates.remove());
// Cases that wait begin with those of the first row.
before(() => Promise.all(rows.map(({ prepare }) => prepare?.())));

/** Runs a case against servers of its own. */
async function runCase(row: ConformanceRow, aCase: Case): Promise<void> {
  const { serverCount = 1, hasTls, fault, holdUntil, interruptAt } = aCase;
  const start = (): Promise<RowServer> | undefined =>
    row.start?.({
      fault: (index) => (fault?.has(index) === true ? fault.name : undefined),
      holdUntil,
      certificates: hasTls === true ? certificates : undefined,
      isSequence: aCase.isSequence === true,
    });
  const starting = Array.from({ length: serverCount }, start).filter((server) => server !== undefined);
  const servers = await Promise.all(starting);
  try {
    const plan = planOf(row, aCase, servers);
    checkPlan(plan);
    const running = startPlan(plan, {
      openObserver: async () => ({}),
      check: async () => {},
    });
    if (interruptAt !== undefined) {
      running.result.catch(() => {});
      await servers[0]?.traffic.until(interruptAt);
      running.interrupt();
    }
    const result = await running.result;
    checkCounts(row, aCase, result, servers);
    aCase.check?.(
      result,
      servers.map(({ traffic }) => traffic),
    );
  } finally {
    await Promise.all(servers.map((server) => server.stop()));
  }
}

function planOf(row: ConformanceRow, { plan, hasTls, fault }: Case, servers: readonly RowServer[]): Plan {
  const urls = servers.map(({ address }) => {
    const port = address.slice(address.lastIndexOf(":"));
    if (hasTls !== true) return address;
    return `${row.wire === "http" ? "https://" : ""}localhost${port}`;
  });
  const tls = hasTls === true ? { ...DEFAULT_TLS, isEnabled: true, caFile: certificates.caFile } : DEFAULT_TLS;
  const [url = "", ...moreUrls] = urls;
  const target = row.target({ url, moreUrls, tls, fault: fault?.name });
  const made = makePlan(plan);
  // Faults are counted: a run would end at the first one of a server that has answered nothing.
  const behaviour = fault === undefined ? {} : { behaviour: { ...made.behaviour, waitsForServer: true as const } };
  return { ...made, target, ...behaviour, ...(row.inputs === undefined ? {} : { inputs: row.inputs }) };
}

/** What the result says of the requests is what the servers saw. */
function checkCounts(row: ConformanceRow, aCase: Case, result: RunResult, servers: readonly RowServer[]): void {
  const { sentCount, completedCount, failedCount, cancelledCount, resendCount, failures } = result;
  const fault = aCase.fault?.name;
  const isEnding = fault !== undefined && row.ending?.faults.has(fault) === true;
  if (isEnding) {
    assert.equal(result.error?.code, "unreachable");
    assert.match(result.error?.message ?? "", row.ending?.error ?? /^/);
  } else {
    assert.equal(result.error, undefined, result.error?.message);
    // A sequence that is open when the last request is sent gets its end.
    const mostEnds = aCase.isSequence === true ? OPEN_SEQUENCES : 0;
    assert.ok(sentCount >= aCase.count && sentCount <= aCase.count + mostEnds, `${sentCount} of ${aCase.count}`);
    checkStatistics(row, aCase, result, servers);
  }
  assert.equal(sentCount, completedCount + failedCount + cancelledCount);
  assert.equal(sum(failures.map(({ count }) => count)), failedCount + cancelledCount);
  if (servers.length > 0) {
    const sum = (of: "received" | "answered" | "faulted"): number =>
      servers.reduce((total, { traffic }) => total + traffic[of], 0);
    assert.equal(completedCount, sum("answered"), "requests that were answered well");
    const unseenCount = sentCount + resendCount - sum("received");
    // One more request is sent before it is known that the server has ended.
    const mostUnseen = isEnding ? 1 : row.losesCancelled === true ? cancelledCount : 0;
    assert.ok(unseenCount >= 0 && unseenCount <= mostUnseen, `${unseenCount} requests did not arrive`);
    const badCount = failedCount + cancelledCount + resendCount;
    assert.equal(badCount, sum("faulted") + unseenCount, "requests that were not answered well");
  }
  const expected = fault === undefined ? undefined : row.failures[fault];
  if (expected === undefined || aCase.interruptAt !== undefined || cancelledCount > 0) return;
  // Each server, and each member of a mix, has a count of its own.
  const kinds = new Set(failures.map(({ kind, status }) => JSON.stringify({ kind, status })));
  assert.deepEqual(
    [...kinds],
    [JSON.stringify({ kind: expected.kind, status: expected.status })],
    failures[0]?.example,
  );
}

/** The server's own statistics are those of the result. */
function checkStatistics(row: ConformanceRow, aCase: Case, result: RunResult, servers: readonly RowServer[]): void {
  const { completedCount, failedCount, cancelledCount, server } = result;
  const fault = aCase.fault?.name;
  if (servers.length > 1) assert.equal(server, undefined, "the statistics of one server are not those of all");
  // What is still open after Ctrl-C has a moment to end: on a busy machine the last query of the counters may be cut off.
  else if (row.hasStatistics === true && (server !== undefined || aCase.interruptAt === undefined)) {
    const successCount = server?.successCount ?? 0;
    const isCounted = fault !== undefined && row.countedAsSuccess?.has(fault) === true;
    const mostMore = isCounted ? failedCount + cancelledCount : 0;
    assert.ok(
      successCount >= completedCount && successCount <= completedCount + mostMore,
      `${STATISTICS}: ${successCount} successes, where ${completedCount} requests were completed`,
    );
    if (fault === "error" && !isCounted) assert.equal(server?.failCount, failedCount, STATISTICS);
  }
  if (servers.length === 0) assert.equal(server?.failCount, failedCount, STATISTICS);
}

test("every kind of target has a row", () => {
  const kinds = new Set<string>(rows.map(({ target }) => target(NOWHERE).kind));
  const missing = Object.keys(TARGETS).filter((kind) => !kinds.has(kind));
  assert.deepEqual(
    missing,
    [],
    `write test/service/NAME/conformance.ts, as the README here says, for ${missing.join(", ")}`,
  );
});

const NOWHERE = { url: "127.0.0.1:1", moreUrls: [], tls: DEFAULT_TLS, fault: undefined };

/** Cases that wait, by their names and rows: those of all rows wait at the same time. */
const waiting = new Map<CaseName, ReadonlyMap<ConformanceRow, Promise<void>>>();

function runWithOthers(row: ConformanceRow, name: CaseName): Promise<void> | undefined {
  let running = waiting.get(name);
  if (running === undefined) {
    const able = rows.filter(({ cannot }) => cannot[name] === undefined);
    running = new Map(able.map((each) => [each, runCase(each, CASES[name])]));
    for (const one of running.values()) one.catch(() => {}); // Its own test reports it.
    waiting.set(name, running);
  }
  return running.get(row);
}

/** Cases of rows that start slowly, which have begun. */
const begun = new Map<ConformanceRow, Map<CaseName, Promise<void>>>();

/** Runs a case, and begins the next one of its row, so that servers start while others are measured. */
function runWithNext(row: ConformanceRow, name: CaseName): Promise<void> {
  const running = begun.get(row) ?? new Map<CaseName, Promise<void>>();
  begun.set(row, running);
  const able = NAMES.filter((each) => row.cannot[each] === undefined && !("waits" in CASES[each]));
  for (const each of able.slice(able.indexOf(name)).slice(0, 2)) {
    if (running.has(each)) continue;
    const one = runCase(row, CASES[each]);
    one.catch(() => {}); // Its own test reports it.
    running.set(each, one);
  }
  return running.get(name) as Promise<void>;
}

const NAMES = Object.keys(CASES) as CaseName[];

function runTestOf(row: ConformanceRow, name: CaseName): Promise<void> | undefined {
  const { waits }: Case = CASES[name];
  if (waits === true) return runWithOthers(row, name);
  return row.startsSlowly === true ? runWithNext(row, name) : runCase(row, CASES[name]);
}

for (const row of rows) {
  describe(row.name, () => {
    for (const name of NAMES) {
      const reason = row.cannot[name];
      if (reason === undefined) test(name, LIMIT, () => runTestOf(row, name));
      else
        test(`cannot have: ${name} (${reason})`, async () => {
          assert.ok(reason.length > 10);
          for (const { ask, error } of row.refusals?.[name] ?? []) assert.match(await ask(), error);
        });
    }
  });
}
