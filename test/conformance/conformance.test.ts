import assert from "node:assert/strict";
import { readdirSync } from "node:fs";
import { after, describe, test } from "node:test";
import type { Plan } from "../../src/plan/plan.ts";
import { DEFAULT_TLS } from "../../src/plan/tls.ts";
import { checkPlan } from "../../src/registry/check-plan.ts";
import { TARGETS } from "../../src/registry/service-kinds.ts";
import type { RunResult } from "../../src/result/run-result.ts";
import { startPlan } from "../../src/run/run-plan.ts";
import { makePlan } from "../plan/make-plan.ts";
import { makeCertificates } from "../servers/tls.ts";
import { CASES, type Case, type CaseName } from "./cases.ts";
import type { ConformanceRow, RowServer } from "./row.ts";

/** Every service kind with every protocol of its own goes through the same cases: see README.md for how to add one. */

const STATISTICS = "the server's own statistics";
const LIMIT = { timeout: 30_000 };

interface RowFile {
  readonly rows: readonly ConformanceRow[];
}

const files = readdirSync(new URL("./rows/", import.meta.url)).filter((file) => file.endsWith(".ts"));
const rows = (await Promise.all(files.sort().map(async (file) => (await import(`./rows/${file}`)) as RowFile))).flatMap(
  (file) => file.rows,
);
const certificates = await makeCertificates();
after(() => certificates.remove());

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
    const running = startPlan(
      checkPlan(planOf(row, aCase, servers)),
      async () => ({}),
      async () => {},
    );
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
  return { ...makePlan(plan), target, ...(row.inputs === undefined ? {} : { inputs: row.inputs }) };
}

/** What the result says of the requests is what the servers saw. */
function checkCounts(row: ConformanceRow, aCase: Case, result: RunResult, servers: readonly RowServer[]): void {
  const { sentCount, completedCount, failedCount, cancelledCount, resendCount, failures, server } = result;
  assert.equal(result.error, undefined, result.error?.message);
  assert.equal(sentCount, completedCount + failedCount + cancelledCount);
  assert.equal(
    failures.reduce((sum, { count }) => sum + count, 0),
    failedCount + cancelledCount,
  );
  assert.equal(sentCount, aCase.count);
  if (servers.length > 1) assert.equal(server, undefined, "the statistics of one server are not those of all");
  else if (row.hasStatistics === true) assert.equal(server?.successCount ?? 0, completedCount, STATISTICS);
  if (servers.length === 0) assert.equal(server?.failCount, failedCount, STATISTICS);
  else {
    const sum = (of: "received" | "answered" | "faulted"): number =>
      servers.reduce((total, { traffic }) => total + traffic[of], 0);
    assert.equal(sum("received"), sentCount + resendCount, "requests that arrived");
    assert.equal(completedCount, sum("answered"), "requests that were answered well");
    assert.equal(failedCount + cancelledCount + resendCount, sum("faulted"), "requests that were not");
  }
  const name = aCase.fault?.name;
  const expected = name === undefined ? undefined : row.failures[name];
  if (expected === undefined || aCase.interruptAt !== undefined || cancelledCount > 0) return;
  const kinds = failures.map(({ kind, status }) => (status === undefined ? { kind } : { kind, status }));
  assert.deepEqual(kinds, [expected], failures[0]?.example);
}

/** Kinds whose cases stand in a test of their own. */
const ELSEWHERE: readonly string[] = [
  // Its models need the environment of Triton's Python in the whole process: test/e2e/in-process.test.ts.
  "triton-c-api",
];

test("every kind of target has a row", () => {
  const kinds = new Set<string>([...ELSEWHERE, ...rows.map(({ target }) => target(NOWHERE).kind)]);
  const missing = Object.keys(TARGETS).filter((kind) => !kinds.has(kind));
  assert.deepEqual(missing, [], `write test/conformance/rows/NAME.ts, as its README says, for ${missing.join(", ")}`);
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

const NAMES = Object.keys(CASES) as CaseName[];

for (const row of rows) {
  describe(row.name, () => {
    for (const name of NAMES) {
      const reason = row.cannot[name];
      const { waits }: Case = CASES[name];
      if (reason === undefined)
        test(name, LIMIT, () => (waits === true ? runWithOthers(row, name) : runCase(row, CASES[name])));
      else test(`cannot have: ${name} (${reason})`, () => assert.ok(reason.length > 10));
    }
  });
}
