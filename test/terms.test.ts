import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { test } from "node:test";
import { fileURLToPath } from "node:url";
import { COMMANDS } from "../src/cli/commands.ts";
import { readDescriptions } from "../src/cli/help/descriptions.ts";
import * as api from "../src/index.ts";
import { METRIC_KEYS, reportedMetrics } from "../src/measure/metrics/catalogue.ts";
import { listMetrics } from "../src/report/live/metric-list.ts";
import { toPageState } from "../src/report/live/watch/watch-page.ts";
import { measuredColumns } from "../src/report/model/level-columns.ts";
import { publishedSchema } from "../src/report/schema/json-schema.ts";
import { scenarioJsonSchema } from "../src/scenario/data/json-schema.ts";
import { GUIDES } from "./guides/blocks.ts";
import { makePlan } from "./plan/make-plan.ts";
import { startFakeRun } from "./report/live/fake-run.ts";

/** One meaning has one word in scenarios, YAML, options, reports and guides: the table of terms in `src/README.md`. */

const ROOT = dirname(dirname(fileURLToPath(import.meta.url)));

interface Term {
  readonly name: string;
  /** Without dashes; empty: there is none. */
  readonly option: string;
  readonly others: readonly string[];
}

function readTerms(): readonly Term[] {
  const guide = readFileSync(join(ROOT, "src/README.md"), "utf8");
  const [, section = ""] = guide.split("\n## Terms\n");
  const [table = ""] = section.split("\n## ", 1);
  return table.split("\n").flatMap((line) => {
    const [, first = "", option = "", , others = ""] = line.split("|");
    const namesIn = (text: string): string[] => Array.from(text.matchAll(/`(\w+)`/g), ([, name = ""]) => name);
    const common = { option: /`--([\w-]+)`/.exec(option)?.[1] ?? "", others: namesIn(others) };
    return namesIn(first).map((name) => ({ name, ...common }));
  });
}

const TERMS = readTerms();

/** Returns the names of all fields of a JSON Schema. */
function fieldsOf(part: unknown): string[] {
  if (typeof part !== "object" || part === null) return [];
  return Object.entries(part).flatMap(([key, inner]) => [
    ...(key === "properties" ? Object.keys(inner as object) : []),
    ...fieldsOf(inner),
  ]);
}

/** Returns the names of all fields of plain data. */
function keysOf(data: unknown): string[] {
  if (typeof data !== "object" || data === null) return [];
  return Object.entries(data).flatMap(([key, inner]) => [...(Array.isArray(data) ? [] : [key]), ...keysOf(inner)]);
}

/** Returns the types of all fields of a JSON Schema that have this name. */
function typesOf(name: string, part: unknown): unknown[] {
  if (typeof part !== "object" || part === null) return [];
  const { properties = {} } = part as { readonly properties?: Readonly<Record<string, { readonly type?: unknown }>> };
  const here = Object.hasOwn(properties, name) ? [properties[name]?.type] : [];
  return [...here, ...Object.values(part).flatMap((inner) => typesOf(name, inner))];
}

/** The names of fields, options, builders and metrics of the language, as code and as data. */
const NAMES: ReadonlySet<string> = new Set([
  ...Object.keys(api),
  ...METRIC_KEYS,
  ...fieldsOf(scenarioJsonSchema(readDescriptions())),
]);

/** The endings of names in outputs that say the unit. */
const UNIT = /(?:Us|Ms|Ns|Sec|PerSec|Pct|Ratio|Count|Bytes|Megabytes|Watts|Joules)$/;

/** The names in outputs, without their units: JSON, the state of a run, columns, and metrics of a page. */
function listOutputNames(): ReadonlySet<string> {
  const run = startFakeRun(makePlan({ target: { isStreaming: true } }));
  run.state.onLevelStart("concurrency", 1, false);
  run.end(1);
  const snapshot = run.state.snapshot() ?? assert.fail();
  const columns = measuredColumns({ unit: "", hasTokens: true }, []).map(({ key }) => key.replace(/\..*$/, ""));
  // `rampart.time_to_first_token` is `timeToFirstToken`.
  const ofPage = listMetrics(snapshot).map(({ name }) =>
    name.replace(/^rampart\./, "").replace(/[._]([a-z])/g, (_, letter: string) => letter.toUpperCase()),
  );
  const schemas = [publishedSchema("report"), publishedSchema("comparison"), publishedSchema("sweep")];
  const all = [...schemas.flatMap(fieldsOf), ...keysOf(toPageState(makePlan(), snapshot)), ...columns, ...ofPage];
  return new Set(all.flatMap((name) => [name, name.replace(UNIT, "")]));
}

const OUTPUT_NAMES = listOutputNames();

/** The compatible modes have the words of their originals. */
const OF_ORIGINALS = ["perf_analyzer", "genai-perf"];

/** The options of all of Rampart's own commands. */
const OPTIONS: ReadonlySet<string> = new Set(
  (
    await Promise.all(
      COMMANDS.filter(({ name }) => !OF_ORIGINALS.includes(name)).map(async ({ load }) => (await load()).usage()),
    )
  )
    .flatMap(({ options, subcommands = [] }) => [options, ...subcommands.map((one) => one.options)].flat())
    .flatMap(({ names }) => names.map((name) => name.replace(/^--/, ""))),
);

function toOption(name: string): string {
  return name.replace(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`);
}

test("the table has terms, each of the language or of outputs and, where it says so, of the options", () => {
  assert.ok(TERMS.length >= 10);
  // Of `run`, `llm`, `triton` and `k8s`.
  for (const name of ["dry-run", "isl", "shapes", "image"]) assert.ok(OPTIONS.has(name), `--${name} is not found`);
  for (const { name, option } of TERMS) {
    assert.ok(NAMES.has(name) || OUTPUT_NAMES.has(name), `${name} is no name of the language or of an output`);
    if (option !== "") assert.ok(OPTIONS.has(option), `--${option} is no option`);
  }
});

test("no other spelling of a term is a name of the language, of an output or of an option", () => {
  for (const { option, others } of TERMS)
    for (const other of others) {
      assert.ok(!NAMES.has(other), `${other} is a name of the language`);
      assert.ok(!OUTPUT_NAMES.has(other), `${other} is a name in an output`);
      const spelled = toOption(other);
      assert.ok(spelled === option || !OPTIONS.has(spelled), `--${spelled} is an option`);
    }
});

test("successes are completed in every output: requests is no number there, but holds several", () => {
  const schemas = (["report", "comparison", "sweep"] as const).map(publishedSchema);
  const types = new Set(schemas.flatMap((schema) => typesOf("requests", schema)));
  assert.deepEqual([...types], ["object"]);
  assert.ok(new Set(schemas.flatMap((schema) => typesOf("completed", schema))).has("integer"));
});

test("no name of the language says the unit of a ratio, which its value has", () => {
  const metrics: ReadonlySet<string> = new Set(METRIC_KEYS);
  const found = [...NAMES].filter((name) => !metrics.has(name) && /(?:Ratio|Percent|Pct|Percentage)$/.test(name));
  assert.deepEqual(found, []);
});

test("metrics have their keys as names in JSON, in columns and on the page of metrics", () => {
  for (const { key, name } of reportedMetrics()) assert.ok(name.startsWith(key), `${key} is ${name}`);
  for (const name of ["latency", "firstResponse", "timeToFirstToken", "throughput"])
    assert.ok(OUTPUT_NAMES.has(name), name);
});

test("no guide of Rampart's own commands writes another spelling of a term as code", () => {
  // The guides of the compatible modes have the words of their originals.
  const guides = GUIDES.filter((guide) => !/^test\/|perf-analyzer|genai-perf/.test(guide));
  const found = guides.flatMap((guide) => {
    const [text = ""] = readFileSync(join(ROOT, guide), "utf8").split("\n## Terms\n", 1);
    const code = Array.from(text.matchAll(/```[\s\S]*?```|`[^`\n]+`/g), ([span]) => span).join("\n");
    const others = TERMS.flatMap(({ others }) => others);
    return others
      .filter((other) => new RegExp(`(?<![\\w.-])${other}(?=\\s*[:(?]|\`)`).test(code))
      .map((other) => [guide, other]);
  });
  assert.deepEqual(found, []);
});
