import assert from "node:assert/strict";
import { test } from "node:test";
import * as v from "valibot";
import { COMMAND } from "../../../src/cli/schema.ts";
import { reportedMetrics } from "../../../src/measure/metrics/catalogue.ts";
import { toReportJson } from "../../../src/report/json/report-json.ts";
import { toPageState } from "../../../src/report/live/watch/watch-page.ts";
import { publishedSchema } from "../../../src/report/schema/json-schema.ts";
import { REPORT_VERSION, reportSchema } from "../../../src/report/schema/report-schema.ts";
import { captureIo } from "../../cli/captured-io.ts";
import { makePlan } from "../../plan/make-plan.ts";
import { checkSchema } from "../check-schema.ts";
import { startFakeRun } from "../live/fake-run.ts";
import { makeLevel, makeResult } from "../make-result.ts";

/** The published schema of the JSON report. */

const plan = makePlan({ outputs: { style: "rampart" } });
const report = (): Record<string, unknown> =>
  JSON.parse(JSON.stringify(toReportJson(plan, makeResult(plan, [makeLevel()])))) as Record<string, unknown>;

test("a report has the fields of the schema, and tests reject any other", () => {
  checkSchema(report());
  assert.throws(() => checkSchema({ ...report(), surprise: 1 }));
  const { durationSec: _left, ...rest } = report();
  assert.throws(() => checkSchema(rest));
});

test("the published schema accepts fields of a later version, and refuses another version", () => {
  assert.equal(v.is(reportSchema, { ...report(), surprise: 1 }), true);
  assert.equal(v.is(reportSchema, { ...report(), version: 1 }), false);
});

/** Endings of names that say the unit. */
const UNIT = /(^us|Us|Ns|Ms|Sec|Pct|[rR]atio|[cC]ount|Bytes|Megabytes|Watts|Joules)(Low|High)?$/;
/** Numbers of things, and numbers that name or order things. */
const COUNTS = new Set([
  ...["sent", "unsent", "completed", "failed", "cancelled", "resent", "delayed", "responses", "sequences"],
  ...[
    "connections",
    "trials",
    "readings",
    "cores",
    "withContent",
    "withoutContent",
    "withoutEndMark",
    "missing",
    "otherTexts",
  ],
  ...["runs", "runsMet", "atLeast", "atMost", "inFlightAtStart", "inFlightAtEnd", "inFlightMean", "percentileDigits"],
  ...[
    "index",
    "phase",
    "seed",
    "status",
    "exitCode",
    "percentile",
    "unresolvedRuns",
    "runsWithoutLoad",
    "runsAtUpperEnd",
    "runsNeeded",
  ],
]);
/** What a user chose, in units of the user's own. */
const OF_USER = new Set(["parameters", "extracted", "derived", "gpuHourPrice", "values"]);
/** Requests in flight, and numbers of windows. */
const COUNTED =
  /\.(?:inFlight(?:\.littlesLaw)?\.(?:atStart|atEnd|min|max|mean|expectedMean)|levels\.windows\.(?:first|last))$/;
/** Values and statistics of metrics, whose names have the unit. */
const OF_NAMED =
  /\.metrics\.\*\.(?:(?:value|total|mean|min|max|p[\d.]+|low|high|deviation|withinDeviation)(?:\.|$)|confidence95\.)/;
/** Fields of an object with a `unit`, which is theirs. The level of an assertion is in the unit of its load. */
const IN_UNIT = new Set([
  ...["value", "low", "high", "level", "asked", "delivered", "highest", "next"],
  ...["base", "new", "difference"],
]);

/** Rates that are no metric: of the rules of MLPerf. */
const OTHER_RATES = ["completedPerSec", "samplesPerSec", "tokensPerSec", "withoutOverheadPerSec"];

interface Schema {
  readonly $ref?: string;
  readonly type?: string;
  readonly anyOf?: readonly Schema[];
  readonly items?: Schema;
  readonly additionalProperties?: Schema;
  readonly properties?: Readonly<Record<string, Schema>>;
}

/** Returns the paths of numbers without a unit. */
function findUnitless(
  { type, anyOf = [], items, additionalProperties, properties = {} }: Schema,
  path: string,
): string[] {
  return [
    ...(type === "number" || type === "integer" ? [path] : []),
    ...anyOf.flatMap((one) => findUnitless(one, path)),
    ...(items === undefined ? [] : findUnitless(items, path)),
    ...(additionalProperties === undefined ? [] : findUnitless(additionalProperties, `${path}.*`)),
    ...Object.entries(properties).flatMap(([key, one]) => {
      const at = `${path}.${key}`;
      const isNamed = UNIT.test(key) || COUNTS.has(key) || OF_USER.has(key) || COUNTED.test(at) || OF_NAMED.test(at);
      const isInUnit = "unit" in properties && IN_UNIT.has(key);
      const isLevel = path.endsWith("assertions") && key === "level";
      return isNamed || isInUnit || isLevel ? [] : findUnitless(one, at);
    }),
  ];
}

test("every number has its unit in its name, in a field unit beside it, or is a count", () => {
  assert.deepEqual([...new Set(findUnitless(publishedSchema("report") as Schema, ""))], []);
  assert.deepEqual([...new Set(findUnitless(publishedSchema("comparison") as Schema, ""))], []);
  assert.deepEqual([...new Set(findUnitless(publishedSchema("sweep") as Schema, ""))], []);
  assert.deepEqual([...new Set(findUnitless(publishedSchema("scenarios") as Schema, ""))], []);
  const number = { type: "number" };
  const wrong = { properties: { speed: number, timeMs: number, unit: {}, value: number, at: { anyOf: [{}, number] } } };
  assert.deepEqual(findUnitless(wrong, ""), [".speed", ".at"]);
  const below = { properties: { speed: number, mean: number } };
  const levels = {
    properties: { inFlight: below, windows: { items: below }, metrics: { additionalProperties: below } },
  };
  assert.deepEqual(findUnitless({ properties: { levels } }, ""), [
    ...[".levels.inFlight.speed", ".levels.windows.speed", ".levels.windows.mean", ".levels.metrics.*.speed"],
  ]);
});

/** Returns the paths of numbers in data whose own name and those above have no unit, and that are no counts. */
function findUnitlessData(data: unknown, path: string): string[] {
  if (typeof data === "number") return [path];
  if (typeof data !== "object" || data === null) return [];
  return Object.entries(data).flatMap(([key, inner]) =>
    UNIT.test(key) || COUNTS.has(key) || COUNTS_OF_STATE.test(key) ? [] : findUnitlessData(inner, `${path}.${key}`),
  );
}

const COUNTS_OF_STATE = /^inFlight$|PerSec(?:PerUser)?$/;

test("every number of /state.json has its unit in its name, or is a count", () => {
  const run = startFakeRun(makePlan({ target: { isStreaming: true } }));
  run.state.onLevelStart("concurrency", 1, false);
  run.end(1);
  run.pass(1);
  const state = toPageState(plan, run.state.snapshot() ?? assert.fail());
  assert.deepEqual(findUnitlessData(state, ""), []);
  assert.deepEqual(findUnitlessData({ levels: [{ speed: 1, latencyUs: { p50: 1 } }] }, ""), [".levels.0.speed"]);
});

/** Returns the names of rates anywhere in a schema. */
function findRates({ anyOf = [], items, additionalProperties, properties = {} }: Schema): string[] {
  const below = [...anyOf, items, additionalProperties, ...Object.values(properties)].flatMap((one) => one || []);
  return [...Object.keys(properties).filter((name) => /PerSec(?:Low|High)?$/.test(name)), ...below.flatMap(findRates)];
}

test("a rate that is a metric has the name of the metric everywhere", () => {
  const known = new Set(reportedMetrics().map(({ name }) => name));
  const others = findRates(publishedSchema("report") as Schema).filter((name) => !known.has(name));
  assert.deepEqual([...new Set(others)].sort(), OTHER_RATES);
});

test("the names of metrics are unique and have their units, or are numbers of tokens", () => {
  const names = reportedMetrics().map(({ name }) => name);
  assert.equal(new Set(names).size, names.length);
  assert.deepEqual(
    names.filter((name) => !UNIT.test(name) && !/PerSec|Tokens$/.test(name)),
    [],
  );
});

test("rampart schema comparison prints the schema of a comparison", async () => {
  const io = captureIo();
  assert.equal(await COMMAND.run(["comparison"], "rampart schema", io.io), 0);
  assert.deepEqual(JSON.parse(io.out), JSON.parse(JSON.stringify(publishedSchema("comparison"))));
  assert.match(io.out, /"\$id": "urn:rampart:comparison:2"/);
});

test("rampart schema sweep prints the schema of a sweep", async () => {
  const io = captureIo();
  assert.equal(await COMMAND.run(["sweep"], "rampart schema", io.io), 0);
  assert.deepEqual(JSON.parse(io.out), JSON.parse(JSON.stringify(publishedSchema("sweep"))));
  assert.match(io.out, /"\$id": "urn:rampart:sweep:2"/);
});

test("rampart schema scenarios prints the schema of several scenarios", async () => {
  const io = captureIo();
  assert.equal(await COMMAND.run(["scenarios"], "rampart schema", io.io), 0);
  assert.deepEqual(JSON.parse(io.out), JSON.parse(JSON.stringify(publishedSchema("scenarios"))));
  assert.match(io.out, /"\$id": "urn:rampart:scenarios:1"/);
});

test("rampart schema report prints the schema with its version", async () => {
  const io = captureIo();
  assert.equal(await COMMAND.run(["report"], "rampart schema", io.io), 0);
  const schema = JSON.parse(io.out) as Record<string, unknown>;
  assert.deepEqual(schema, JSON.parse(JSON.stringify(publishedSchema("report"))));
  assert.equal(schema["$schema"], "https://json-schema.org/draft/2020-12/schema");
  assert.equal(schema["$id"], `urn:rampart:report:${REPORT_VERSION}`);
});

for (const [args, message] of [
  [[], /NAME: no schema is named. Use one of report/],
  [["reprot"], /NAME: is not the name of a schema.*reprot/],
] as const) {
  test(`rampart schema ${args.join(" ")} is a usage error`, async () => {
    const io = captureIo();
    assert.equal(await COMMAND.run(args, "rampart schema", io.io), 64);
    assert.match(io.err, message);
  });
}
