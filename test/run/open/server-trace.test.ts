import assert from "node:assert/strict";
import { test } from "node:test";
import { RunError } from "../../../src/plan/problem.ts";
import type { TracePlan } from "../../../src/plan/telemetry.ts";
import type { RunWarning } from "../../../src/result/observer.ts";
import { setServerTrace } from "../../../src/run/open/open-target.ts";
import type { Ask, Query, ServiceFront } from "../../../src/service/service.ts";

type Values = Readonly<Record<string, readonly string[]>>;

/** A server with trace settings. @param refuse why a change is refused; undefined: it is taken */
function makeServer(refuse: (change: Values) => string | undefined = () => undefined) {
  let settings: Values = { trace_level: ["OFF"], trace_rate: ["1000"], trace_file: [""] };
  const query = (change: Values | undefined): Query => ({ change }) as unknown as Query;
  const front = {
    traceQueries: () =>
      Promise.resolve({ read: () => query(undefined), write: query, parse: (answer: unknown) => answer as Values }),
  } as unknown as ServiceFront;
  const ask: Ask = (asked) => {
    const { change } = asked as unknown as { change: Values | undefined };
    const why = change && refuse(change);
    if (why !== undefined) return Promise.reject(new RunError("refused", why, ""));
    settings = { ...settings, ...change };
    return Promise.resolve(settings);
  };
  const warnings: RunWarning[] = [];
  const set = (change: Partial<TracePlan>) =>
    setServerTrace({ file: null, levels: null, rate: null, count: null, logFrequency: null, ...change }, front, ask, {
      onWarning: (warning) => warnings.push(warning),
    });
  return { set, warnings, settings: () => settings };
}

test("settings are set, and the previous ones are restored", async () => {
  const server = makeServer();
  const former = server.settings();
  const restore = await server.set({ levels: ["TIMESTAMPS"], rate: 10 });
  assert.deepEqual(server.settings(), { ...former, trace_level: ["TIMESTAMPS"], trace_rate: ["10"] });
  await restore();
  assert.deepEqual([server.settings(), server.warnings], [former, []]);
});

test("a setting that is refused is named, and nothing is set", async () => {
  const server = makeServer((change) => (change.trace_file?.[0] === "/x" ? "no file" : undefined));
  const former = server.settings();
  await assert.rejects(server.set({ file: "/x", rate: 10 }), (error: unknown) => {
    assert.ok(error instanceof RunError);
    assert.match(error.message, /no file/);
    return true;
  });
  assert.deepEqual(server.settings(), former);
});

test("settings that cannot be restored are a warning, not an error", async () => {
  let isAway = false;
  const server = makeServer(() => (isAway ? "gone" : undefined));
  const restore = await server.set({ rate: 10 });
  isAway = true;
  await restore();
  assert.equal(server.warnings.length, 1);
  const [warning] = server.warnings;
  assert.deepEqual([warning?.kind, warning?.kind === "trace-kept" && warning.reason], ["trace-kept", "gone"]);
});
