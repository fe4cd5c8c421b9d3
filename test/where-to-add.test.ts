import assert from "node:assert/strict";
import { cpSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { after, before, test } from "node:test";
import { fileURLToPath, pathToFileURL } from "node:url";
import type { CommandIo } from "../src/cli/execute.ts";
import { inScenario } from "../src/cli/setting-names.ts";
import type { Plan } from "../src/plan/plan.ts";
import type { ScenarioDefinition } from "../src/scenario/define.ts";

/**
 * What `src/README.md` says of adding things is true: a copy of the source with a made-up load mode, report and metric, each added in the
 * one or two files that are named there and nowhere else, measures with them.
 */

const ROOT = dirname(dirname(fileURLToPath(import.meta.url)));
const TINY = join(ROOT, "test/tokenize/fixtures/tiny");
const LIMIT = { timeout: 60_000 };

/** A line that is added to a table, after another one. */
interface Line {
  readonly after: string;
  readonly added: string;
}

/** What adding each thing takes, by the file below `src/`: a new file's text, or lines for one that is there. */
const ADDITIONS: Readonly<Record<string, Readonly<Record<string, string | readonly Line[]>>>> = {
  "a load mode": {
    "load/bursts.ts": `
      import type { LoadMode } from "./load-mode.ts";

      /** So many requests at once, again and again. */
      export interface BurstsLoadPlan {
        readonly kind: "bursts";
        readonly size: number;
        readonly everyMs: number;
      }

      declare module "../plan/load-plan.ts" {
        interface LoadPlans {
          readonly bursts: BurstsLoadPlan;
        }
      }

      export const burstsMode: LoadMode<BurstsLoadPlan> = {
        schema: (v) =>
          v.object({ kind: v.literal("bursts"), size: v.pipe(v.number(), v.minValue(1, "must be 1 or more")), everyMs: v.number() }),
        prepare: ({ size, everyMs }) => ({
          search: { unit: "request-rate", levels: { kind: "list", values: [(size * 1000) / everyMs] }, search: "linear" },
          drive: () => {
            let count = 0;
            return { kind: "scheduled", arrivals: () => Math.floor(count++ / size) * everyMs * 1e6 };
          },
        }),
        unit: "request-rate",
        describe: ({ size, everyMs }) => \`bursts of \${size} every \${everyMs} ms\`,
        perfAnalyzer: { exported: { mode: "request_rate", value: 7 } },
      };`,
    "registry/load-modes.ts": [
      {
        after: 'import { concurrencyMode } from "../load/concurrency.ts";',
        added: 'import { burstsMode } from "../load/bursts.ts";',
      },
      { after: "  concurrency: concurrencyMode,", added: "  bursts: burstsMode," },
    ],
  },
  "a report": {
    "report/one-line.ts": `
      import type { Report, TextSink } from "./report.ts";

      /** A run in one line. */
      export function createOneLine(sink: TextSink): Report {
        return {
          finish: ({ completedCount, failedCount }) => sink.out(\`ONE LINE: \${completedCount} good, \${failedCount} bad\\n\`),
        };
      }`,
    "report/reports.ts": [
      {
        after: "const REPORTS: readonly ReportKind[] = [",
        added: `{
          isWanted: (plan) => plan.name === "in one line",
          create: async (_plan, sink) => (await import("./one-line.ts")).createOneLine(sink),
        },`,
      },
    ],
  },
  "a metric of tokens": {
    "measure/tokens/metrics.ts": [
      {
        after: "export const METRICS = {",
        added: `halfLatencyNs: {
          label: "half of the latency",
          isRow: true,
          isAsserted: true,
          value: ({ latencyNs }) => latencyNs / 2,
        },`,
      },
    ],
  },
};

/** The copy's modules that the tests begin with; all others they import from there. */
interface Copy {
  readonly executePlan: typeof import("../src/cli/execute.ts").executePlan;
  readonly checkPlan: typeof import("../src/registry/check-plan.ts").checkPlan;
  readonly toPlan: typeof import("../src/scenario/to-plan.ts").toPlan;
}

let folder = "";
let copy: Copy;

before(async () => {
  // Beside the dependencies.
  mkdirSync(join(ROOT, "dist"), { recursive: true });
  folder = mkdtempSync(join(ROOT, "dist", "where-to-add-"));
  const src = join(folder, "src");
  cpSync(join(ROOT, "src"), src, { recursive: true });
  for (const files of Object.values(ADDITIONS))
    for (const [path, change] of Object.entries(files)) {
      const text = typeof change === "string" ? change : change.reduce(addLine, readFileSync(join(src, path), "utf8"));
      writeFileSync(join(src, path), text, { flag: typeof change === "string" ? "wx" : "w" });
    }
  const load = async (path: string): Promise<object> => import(pathToFileURL(join(src, path)).href) as Promise<object>;
  copy = Object.assign(
    {},
    await load("cli/execute.ts"),
    await load("registry/check-plan.ts"),
    await load("scenario/to-plan.ts"),
  ) as Copy;
});

after(() => rmSync(folder, { recursive: true, force: true }));

function addLine(text: string, { after: line, added }: Line): string {
  assert.equal(text.split(line).length, 2, `the table has no line of its own: ${line}`);
  return text.replace(line, () => `${line}\n${added}`);
}

const { embedded } = await import("../src/scenario/targets.ts");
const { embeddedLlm } = await import("../src/scenario/llm-targets.ts");
const { hold } = await import("../src/scenario/loads.ts");
const { prompts } = await import("../src/scenario/prompts.ts");
const { defineScenario } = await import("../src/scenario/define.ts");

function planOf(change: Partial<ScenarioDefinition>): Plan {
  const definition = { name: "a test", target: embedded(), load: hold(1, { requests: 10 }), ...change };
  return copy.toPlan(defineScenario(definition as ScenarioDefinition), ROOT, {
    files: { json: join(folder, "report.json") },
  });
}

/** Runs a plan in the copy. Returns what it printed. */
async function execute(plan: Plan): Promise<string> {
  let text = "";
  const out = (part: string): void => {
    text += part;
  };
  const io: CommandIo = { out, err: out, onInterrupt: () => () => {}, loadApi: async () => ({}) };
  const { result, outputError } = await copy.executePlan(plan, io, { door: inScenario, onInterrupt: () => {} });
  assert.equal(result.error ?? outputError, undefined);
  assert.equal(result.completedCount, 10);
  return text;
}

const BURSTS = { kind: "bursts", size: 5, everyMs: 20 } as unknown as Plan["load"];

test("a made-up load mode sends, is checked, and is named in reports", LIMIT, async () => {
  const exportFile = join(folder, "export.json");
  const plan = planOf({});
  const outputs = { ...plan.outputs, files: { profileExport: exportFile } };
  const text = await execute({ ...plan, load: BURSTS, outputs });
  assert.match(text, /bursts of 5 every 20 ms\n/);
  assert.match(text, /req\/s asked +req\/s sent/);
  const { experiments } = JSON.parse(readFileSync(exportFile, "utf8")) as {
    experiments: [{ experiment: object; requests: { timestamp: number }[] }];
  };
  assert.deepEqual(experiments[0].experiment, { mode: "request_rate", value: 7 });
  const times = experiments[0].requests.map(({ timestamp }) => timestamp).toSorted((a, b) => a - b);
  // Sent late it may be, early never.
  assert.ok((times[5] as number) - (times[0] as number) >= 15e6, times.join(", "));
  const wrong = { ...plan, load: Object.assign({}, BURSTS, { size: 0 }) };
  assert.throws(() => copy.checkPlan(wrong), /load\.size.*must be 1 or more/);
});

test("a made-up report is written", LIMIT, async () => {
  assert.match(await execute(planOf({ name: "in one line" })), /^ONE LINE: 10 good, 0 bad$/m);
});

test("a made-up metric is measured, reported and asserted", LIMIT, async () => {
  const plan = planOf({
    target: embeddedLlm({ streaming: true, tokenizer: TINY }),
    inputs: prompts({ isl: 12, osl: 5, count: 4 }),
  });
  const metric = { kind: "token-average", of: "halfLatency" } as unknown as Plan["assertions"][number]["metric"];
  const assertions: Plan["assertions"] = [{ metric, comparison: "above", limit: 0 }];
  const text = await execute({ ...plan, assertions });
  assert.match(text, /^ *half of the latency /m);
  assert.match(text, /^pass +average half of the latency/m);
  assert.match(readFileSync(join(folder, "report.json"), "utf8"), /"halfLatency\w*": \{/);
});

test("src/README.md names the files that each of them took", () => {
  const guide = readFileSync(join(ROOT, "src/README.md"), "utf8");
  const section = guide.slice(guide.indexOf("## Where to add what"));
  for (const [what, files] of Object.entries(ADDITIONS)) {
    assert.ok(Object.keys(files).length <= 2, what);
    for (const path of Object.keys(files)) {
      // Of new files the folder is named.
      const named = typeof files[path] === "string" ? `${dirname(path)}/` : path;
      assert.ok(section.includes(named), `${what}: ${named}`);
    }
  }
});
