import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { test } from "node:test";
import { fileURLToPath } from "node:url";
import { COMMANDS } from "../src/cli/commands.ts";
import { readDescriptions } from "../src/cli/help/descriptions.ts";
import * as api from "../src/index.ts";
import { METRIC_KEYS, reportedMetrics } from "../src/measure/metrics/catalogue.ts";
import { scenarioJsonSchema } from "../src/scenario/data/json-schema.ts";
import { GUIDES } from "./guides/blocks.ts";

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
    const [, name] = /`(\w+)`/.exec(first) ?? [];
    if (name === undefined) return [];
    const named = Array.from(others.matchAll(/`(\w+)`/g), ([, other = ""]) => other);
    return [{ name, option: /`--([\w-]+)`/.exec(option)?.[1] ?? "", others: named }];
  });
}

const TERMS = readTerms();

/** The names of fields, options, builders and metrics of the language, as code and as data. */
function listNames(): ReadonlySet<string> {
  const found = new Set<string>([...Object.keys(api), ...METRIC_KEYS]);
  const collect = (part: unknown): void => {
    if (typeof part !== "object" || part === null) return;
    for (const [key, inner] of Object.entries(part)) {
      if (key === "properties") for (const name of Object.keys(inner as object)) found.add(name);
      collect(inner);
    }
  };
  collect(scenarioJsonSchema(readDescriptions()));
  return found;
}

const NAMES = listNames();

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

test("the table has terms, each of the language and, where it says so, of the options", () => {
  assert.ok(TERMS.length >= 10);
  // Of `run`, `llm`, `triton` and `k8s`.
  for (const name of ["dry-run", "isl", "shapes", "image"]) assert.ok(OPTIONS.has(name), `--${name} is not found`);
  for (const { name, option } of TERMS) {
    assert.ok(NAMES.has(name), `${name} is no name of the language`);
    if (option !== "") assert.ok(OPTIONS.has(option), `--${option} is no option`);
  }
});

test("no other spelling of a term is a name of the language or an option", () => {
  for (const { option, others } of TERMS)
    for (const other of others) {
      assert.ok(!NAMES.has(other), `${other} is a name of the language`);
      const spelled = toOption(other);
      assert.ok(spelled === option || !OPTIONS.has(spelled), `--${spelled} is an option`);
    }
});

test("no name of the language says the unit of a ratio, which its value has", () => {
  const metrics: ReadonlySet<string> = new Set(METRIC_KEYS);
  const found = [...NAMES].filter((name) => !metrics.has(name) && /(?:Ratio|Percent|Pct|Percentage)$/.test(name));
  assert.deepEqual(found, []);
});

test("metrics have their keys as names in JSON", () => {
  for (const { key, name } of reportedMetrics()) assert.ok(name.startsWith(key), `${key} is ${name}`);
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
