import assert from "node:assert/strict";
import { Exposition } from "../../../src/telemetry/exposition.ts";

/** A sample of a page of metrics. */
export interface Sample {
  readonly name: string;
  readonly labels: Readonly<Record<string, string>>;
  readonly value: number;
}

const NAME = "[a-z][a-z0-9_]*";
const LABEL = '[a-z_]+="(?:[^"\\\\\\n]|\\\\[\\\\"n])*"';
const SAMPLE = new RegExp(`^(${NAME})(?:\\{${LABEL}(?:,${LABEL})*\\})? (?:-?[\\d.e+-]+|\\+Inf)$`);
const COMMENT = new RegExp(`^# (HELP|TYPE) (${NAME}) (\\S.*)$`);

/**
 * Reads Prometheus' text strictly: each line has the format's syntax, each family is declared once, before its samples, with help and type,
 * samples of a family stand together, and no series comes twice.
 */
export function readMetrics(text: string): Sample[] {
  const types = new Map<string, string>();
  const series = new Set<string>();
  let family = "";
  assert.ok(text.endsWith("\n"), "ends with a line feed");
  for (const line of text.split("\n").slice(0, -1)) {
    if (line === "") continue;
    const [, what, name = "", rest = ""] = COMMENT.exec(line) ?? [];
    if (what === "HELP") {
      assert.ok(!types.has(name), `${name} is declared once`);
      family = name;
    } else if (what === "TYPE") {
      assert.equal(name, family);
      assert.ok(["counter", "gauge", "histogram"].includes(rest), line);
      types.set(name, rest);
    } else {
      const [, sample = assert.fail(`no sample: ${line}`)] = SAMPLE.exec(line) ?? [];
      const base = types.get(family) === "histogram" ? sample.replace(/_(bucket|sum|count)$/, "") : sample;
      assert.equal(base, family, "samples stand below their family");
      if (types.get(family) === "counter") assert.match(sample, /_total$/);
      const key = line.slice(0, line.lastIndexOf(" "));
      assert.ok(!series.has(key), `${key} comes once`);
      series.add(key);
    }
  }
  const samples: Sample[] = [];
  new Exposition().read(text, ({ name, labels, family: { kind } }, value) => {
    assert.notEqual(kind, "unknown");
    samples.push({ name, labels: Object.fromEntries(labels), value });
  });
  assert.equal(samples.length, series.size);
  return samples;
}
