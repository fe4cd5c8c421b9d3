import * as v from "valibot";
import { defined } from "../../../plan/objects.ts";
import { userError } from "../../../plan/problem.ts";
import { formatPoint } from "../../../result/sweep.ts";
import { joinTexts } from "../../notes/join-notes.ts";
import { labelsOf } from "../../schema/scenarios.ts";
import { type MeasuredLevel, type MeasuredRun, parseDocument, type RunFormat, toRunFile } from "./measured-run.ts";
import { rampartJson } from "./rampart-json.ts";

/** Rampart's JSON of a sweep, targets with separate loads, or several scenarios, read as one run with the levels of all. */

const value = v.union([v.number(), v.string()]);
const sweepSchema = v.object({
  points: v.array(v.object({ values: v.record(v.string(), value), report: v.record(v.string(), v.unknown()) })),
});
const scenariosSchema = v.object({
  scenarios: v.array(
    v.object({ name: v.string(), file: v.string(), report: v.optional(v.record(v.string(), v.unknown())) }),
  ),
});

/** One of the reports, with the name of its point, target or scenario. */
interface Part {
  readonly name: string;
  /** Undefined: the run ended without a report. */
  readonly document: Readonly<Record<string, unknown>> | undefined;
}

/** Rampart's JSON of several runs. */
export const jointJson: RunFormat = {
  name: "Rampart's JSON of several runs",
  detectDocument: (document) => "version" in document && ("points" in document || "scenarios" in document),
  read: ({ path, readDocument }) => {
    const parts = partsOf({ name: "", document: readDocument() ?? {} }, path);
    const left = parts.flatMap((part) => whyLeftOut(part) ?? []);
    const read = parts.flatMap((part) =>
      part.document === undefined || whyLeftOut(part) !== undefined
        ? []
        : [{ name: part.name, runs: rampartJson.read(toRunFile(path, part.document)) }],
    );
    if (read.length === 0) {
      const message = `has nothing to compare: ${left.join("; ")}`;
      throw userError("mismatch", path, message, "Give the reports of single runs.");
    }
    const count = Math.max(0, ...read.map(({ runs }) => runs.length));
    return Array.from({ length: count }, (_, index): MeasuredRun => {
      const here = read.flatMap(({ name, runs }) => (runs[index] === undefined ? [] : [{ name, run: runs[index] }]));
      const whole = here.filter(({ run }) => !run.isPartial);
      const cut = here.filter(({ run }) => run.isPartial).map(({ name }) => `${name} is left out: it ended early`);
      const startedAt = here.find(({ run }) => run.startedAt !== undefined)?.run.startedAt;
      return {
        source: count === 1 ? path : `${path}, run ${index + 1}`,
        format: jointJson.name,
        ...defined({ startedAt }),
        isPartial: whole.length === 0,
        facts: joinFacts(whole.map(({ run }) => run.facts)),
        levels: whole.flatMap(({ name, run }) => run.levels.map((level) => namedLevel(name, level))),
        notes: [
          ...cut,
          ...(index === 0 ? left : []),
          ...joinTexts(
            whole.flatMap(({ name, run }) => (run.notes ?? []).map((text) => ({ at: name, text }))),
            whole.length,
            "parts",
          ),
        ],
      };
    });
  },
};

/** Explains why a part cannot be compared; undefined if it can. */
function whyLeftOut({ name, document }: Part): string | undefined {
  if (document === undefined) return `${name} is left out: it has no report`;
  return "comparisons" in document ? `${name} is left out: it is a comparison itself` : undefined;
}

/** Returns the reports of the runs in a document, including scenarios that are sweeps. @throws UserError */
function partsOf({ name, document = {} }: Part, path: string): Part[] {
  const of = (part: string): string => (name === "" ? part : `${name}, ${part}`);
  if ("scenarios" in document) {
    const { scenarios } = parseDocument(scenariosSchema, document, path);
    const labels = labelsOf(scenarios);
    return scenarios.flatMap(({ report }, at) => {
      const part = { name: of(labels[at] ?? ""), document: report };
      return report === undefined ? [part] : partsOf(part, path);
    });
  }
  if (!("points" in document)) return [{ name, document }];
  const { points } = parseDocument(sweepSchema, document, path);
  return points.map(({ values, report }) => ({ name: of(formatPoint(Object.entries(values))), document: report }));
}

function namedLevel(part: string, { label, name, ...rest }: MeasuredLevel): MeasuredLevel {
  return { ...rest, label: `${part}, ${label}`, ...(name === undefined ? {} : { name: `${part}, ${name}` }) };
}

/** Joins the facts of the runs: values that differ between them are listed. */
function joinFacts(all: readonly ReadonlyMap<string, string>[]): Map<string, string> {
  const paths = new Set(all.flatMap((facts) => [...facts.keys()]));
  return new Map(
    [...paths].map((path) => {
      const found = all.flatMap((facts) => facts.get(path) ?? []);
      return [path, [...new Set(found)].join(" | ")];
    }),
  );
}
