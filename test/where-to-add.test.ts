import assert from "node:assert/strict";
import { cpSync, mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { after, before, test } from "node:test";
import { fileURLToPath, pathToFileURL } from "node:url";
import type { CommandIo } from "../src/cli/execute.ts";
import { inScenario } from "../src/cli/setting-names.ts";
import { startMock } from "../src/mock/server.ts";
import { DEFAULT_MOCK } from "../src/plan/mock.ts";
import type { Plan } from "../src/plan/plan.ts";
import { DEFAULT_TLS } from "../src/plan/tls.ts";
import type * as ModelFiles from "../src/report/model-files.ts";
import type { ScenarioDefinition } from "../src/scenario/define.ts";
import { makeFolder } from "./make-folder.ts";
import { startMetricsStub, twoGpus } from "./servers/metrics-stub.ts";
import { LIMIT } from "./time-limit.ts";
import { TINY } from "./tokenize/tiny.ts";
import { typeCheck } from "./type-check.ts";

/**
 * What `src/README.md` says of adding things is true: a copy of the source with a made-up service kind, load mode, report, metric and
 * option, each added in the files that are named there and nowhere else, measures with them.
 */

const ROOT = dirname(dirname(fileURLToPath(import.meta.url)));

/** A line that is added to a table, after another one. */
interface Line {
  readonly after: string;
  readonly added: string;
}

/** Stands before a line of exports. */
const EXPORTS = 'export type { Count, Duration, Percent, Percentile, Positive } from "./plan/units.ts";';

/** What adding each thing takes, by the file below `src/`: a new file's text, or lines for one that is there. */
const ADDITIONS: Readonly<Record<string, Readonly<Record<string, string | readonly Line[]>>>> = {
  "a service kind": {
    "service/lines/kind.ts": `
      import * as v from "valibot";
      import type { PlanOf } from "../../plan/schema.ts";
      import { faultOf } from "../../transport/response-check.ts";
      import { describeServer, OF_SERVERS } from "../server-target.ts";
      import type { PayloadCodec } from "../content.ts";
      import type { ServiceKind } from "../service.ts";
      import { serverEntries } from "../target-schemas.ts";

      /** A server that answers a text with a line. */
      export type LinesTargetPlan = PlanOf<typeof schema>;

      declare module "../../plan/plan.ts" {
        interface TargetPlans {
          readonly lines: LinesTargetPlan;
        }
      }

      const schema = () =>
        v.object({
          kind: v.literal("lines"),
          ...serverEntries(),
          protocol: v.literal("http"),
          isStreaming: v.literal(false, "must be false: a response is one line"),
          batchSize: v.literal(1),
        });

      const codec: PayloadCodec = {
        encode: ({ bytes }) => ({ path: "/lines", method: "POST", headers: [], payload: bytes }),
        responseChecks: () => () => ({
          whole: (bytes, start, end) => (bytes[end - 1] === 10 ? undefined : faultOf("is no line", bytes, start, end)),
          begin: () => {},
          piece: () => {},
          event: () => {},
          end: () => undefined,
        }),
        decode: (body) => ({ outputs: body, describe: () => new TextDecoder().decode(body) }),
        explain: (failure) => failure,
        describe: ({ payload }) => new TextDecoder().decode(payload),
      };

      export const linesKind: ServiceKind<LinesTargetPlan> = {
        schema,
        address: ({ url, headers }) => ({ url, wire: "http", defaultPort: 7000, headers }),
        ...OF_SERVERS,
        describe: (target) => \`lines from \${describeServer(target)}\`,
        takes: () => "payloads",
        exported: () => ({ serviceKind: "lines", endpoint: "lines" }),
        path: () => "lines",
        server: "a server of lines",
        api: {
          name: "lines",
          label: "lines",
          probes: [{ protocol: "http", path: "/", recognize: ({ text }) => (/lines/.test(text) ? "lines" : undefined) }],
        },
        open: ({ model }) => ({
          setUp: async () => ({
            model: { name: model, version: "", maxBatchSize: 0, inputs: [], outputs: [] },
            codec,
            wire: "http",
            batchSize: 1,
            isSequence: false,
            isDecoupled: false,
            warnings: [],
          }),
          listModels: async () => [],
        }),
      };`,
    "mock/lines.ts": `
      import { createServer } from "node:http";

      /** Starts a server that answers each request with a line, except those whose text has the word "mute". */
      export async function startLines(): Promise<{ readonly port: number; stop(): void }> {
        const server = createServer((request, response) => {
          let text = "";
          request.on("data", (part) => {
            text += part;
          });
          request.on("end", () => response.end(text.includes("mute") ? "no" : "a line\\n"));
        });
        await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
        const { port } = server.address() as { port: number };
        return { port, stop: () => server.close() };
      }`,
    "registry/service-kinds.ts": [
      {
        after: 'import { openAiKind } from "../service/openai/kind.ts";',
        added: 'import { linesKind } from "../service/lines/kind.ts";',
      },
      { after: "  openai: openAiKind,", added: "  lines: linesKind," },
    ],
  },
  "a load mode": {
    "load/bursts.ts": `
      import * as v from "valibot";
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
        schema: () =>
          v.object({ kind: v.literal("bursts"), size: v.pipe(v.number(), v.minValue(1, "must be 1 or more")), everyMs: v.number() }),
        prepare: ({ size, everyMs }) => ({
          level: (size * 1000) / everyMs,
          drive: () => {
            let count = 0;
            return { kind: "scheduled", arrivals: () => Math.floor(count++ / size) * everyMs * 1e6 };
          },
        }),
        unit: "request-rate",
        describe: ({ size, everyMs }) => \`bursts of \${size} every \${everyMs} ms\`,
        perfAnalyzer: { exported: { unit: "request-rate", value: 7 } },
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
      import type { Plan } from "../plan/plan.ts";
      import { createModelReport, type Report, type TextSink } from "./report.ts";

      /** The verdict and the facts of a run in one line. It renders the model and knows no metric. */
      export function createOneLine(plan: Plan, sink: TextSink): Report {
        return createModelReport(plan, sink, ({ verdict }) => \`ONE LINE: \${verdict.name}, \${verdict.facts.join()}\\n\`, sink.out);
      }`,
    "report/report-formats.ts": [
      {
        after: "const REPORTS: readonly ReportKind[] = [",
        added: `{
          isWanted: (plan) => plan.name === "in one line",
          create: async (plan, sink) => (await import("./one-line.ts")).createOneLine(plan, sink),
        },`,
      },
    ],
  },
  "a report in a file": {
    "report/facts.ts": `
      import type { ReportModel } from "./model/report-model.ts";

      /** The facts of a run, a line each. */
      export const formatFacts = ({ verdict }: ReportModel): string => \`\${verdict.facts.join("\\n")}\\n\`;`,
    "report/model-files.ts": [
      {
        after: "export const MODEL_FILES = {",
        added: "facts: { render: formatFacts },",
      },
      {
        after: 'import { formatCsv } from "./csv.ts";',
        added: 'import { formatFacts } from "./facts.ts";',
      },
    ],
  },
  "a column of levels": {
    "report/model/level-columns.ts": [
      {
        after: "const LEVEL_COLUMNS: readonly LevelColumn[] = [",
        added: `{
          key: "requestsPerMin",
          title: "req/min",
          quantity: "rate",
          dropOrder: 1,
          cell: ({ metrics }) => ({ value: 60 * (readerOf(metrics)("throughput")?.value ?? 0) }),
        },`,
      },
    ],
  },
  "an option on all commands": {
    "cli/options/shared-options.ts": [
      {
        after: "const OPTIONS: readonly SharedOption[] = [",
        added: '{ name: "draws", kind: "whole", setting: "seed", min: 0, help: "Seed of all draws." },',
      },
    ],
  },
  "an option of perf_analyzer mode": {
    "cli/perf-analyzer/options/rampart-options.ts": [
      {
        after: "export const RAMPART_OPTIONS: readonly UngroupedOption[] = [",
        added:
          'option("outputs.files.records", { names: ["--log"], isRampart: true, value: "FILE", help: "Write requests.", parse: filled("Give it.") }),',
      },
    ],
  },
  "an option of genai-perf mode": {
    "cli/genai-perf/options/rampart-options.ts": [
      {
        after: 'export const RAMPART_OPTIONS = inGroup("Rampart", [',
        added:
          '{ names: ["--patience"], key: "rampart.patience", ...lands<number | null>("decimal", "client.requestTimeoutMs", null, { min: 1, unit: "seconds" }), help: "How long to wait." },',
      },
    ],
  },
  "a metric of requests": {
    "measure/metrics/request-metrics.ts": [
      {
        after: "const REQUESTS = {",
        added: `openAtEnd: {
          label: "requests left open",
          quantity: "count",
          unit: "requests",
          better: "lower",
          value: ({ window }) => window.openAfterCount,
        },`,
      },
    ],
  },
  "a metric of the server": {
    "measure/metrics/server-metrics.ts": [
      { after: "const SERVER = {", added: 'serverSuccess: { label: "server success", ...timeOf("success") },' },
    ],
  },
  "a gauge of its page of metrics": {
    "measure/metrics/server-gauges.ts": [
      { after: "export const GAUGES = {", added: 'temperatureC: { of: "gpu", families: ["nv_gpu_temperature"] },' },
      {
        after: "const GAUGE_ENTRIES = {",
        added:
          'gpuTemperature: { label: "GPU temperature", quantity: "number", unit: "C", ...readingsOf("temperatureC") },',
      },
    ],
  },
  "a metric of tokens": {
    "measure/tokens/metrics.ts": [
      {
        after: "export const METRICS = {",
        added: `halfLatencyNs: {
          label: "half of the latency",
          option: "half",
          isFollowed: true,
          limit: "most",
          record: { name: "half_latency", unit: "ms" },
          value: ({ latencyNs }) => latencyNs / 2,
        },`,
      },
    ],
  },
  "a builder of targets": {
    "scenario/targets/lines.ts": `
      import * as v from "valibot";
      import type { OutputOf } from "../../plan/schema.ts";
      import { strictOptions } from "../fields.ts";
      import { serverForm } from "../form.ts";
      import { splitUrls, type Target } from "./target.ts";
      import type { TargetBuilder } from "./target-builder.ts";
      import { type FieldsFor, landed, schemasOf } from "./target-field.ts";
      import { headersField, type ModelOptions, modelField, serverEntries, tlsField, toServerPlan } from "./target-fields.ts";

      /** A server of lines. */
      export function lines(url: string, options: ModelOptions): Target<"http", "plain"> {
        return { kind: "lines", ...splitUrls(url), options: options as { readonly protocol?: "http" } };
      }

      const fields = () =>
        ({ model: modelField(), headers: headersField(), tls: tlsField() }) satisfies FieldsFor<ModelOptions>;
      const schema = () =>
        v.object({ kind: v.literal("lines"), ...serverEntries('lines("localhost:9000")'), options: strictOptions(schemasOf(fields())) });

      export const linesBuilder: TargetBuilder<OutputOf<typeof schema>> = {
        form: serverForm("lines"),
        takes: "payloads",
        schema,
        toPlan: ({ options, ...server }, folder) => ({
          ...{ kind: "lines", protocol: "http", isStreaming: false, batchSize: 1 },
          ...{ ...toServerPlan(server), ...landed(fields(), options, folder) },
        }),
      };`,
    "scenario/targets/table.ts": [
      {
        after: 'import { tritonBuilder } from "./triton.ts";',
        added: 'import { linesBuilder } from "./lines.ts";',
      },
      { after: "const TARGET_BUILDERS = {", added: "  lines: linesBuilder," },
    ],
    "index.ts": [{ after: EXPORTS, added: 'export { lines } from "./scenario/targets/lines.ts";' }],
  },
  "a field of a target": {
    "scenario/targets/grpc.ts": [
      {
        after: "export interface GrpcOptions<E extends string = string> extends HeaderOptions, ExtractOptions<E> {",
        added: "/** Name in reports. Default: the method. */\n  readonly label?: string;",
      },
      {
        after: '    method: landing(methodSchema(), "method"),',
        added: '    label: landing(v.optional(nameSchema("a name")), "model"),',
      },
    ],
  },
  "a builder of loads": {
    "scenario/loads/bursts.ts": `
      import type { Duration } from "../../plan/units.ts";
      import { spanSchema, strictOptions, toMs } from "../fields.ts";
      import { levelsSchema } from "./extent.ts";
      import type { Load } from "./load.ts";
      import { loadBuilder } from "./load-builder.ts";

      /** So many requests at once, again and again. */
      export function bursts(size: number, options: { readonly every: Duration }): Load<"scheduled"> {
        return { kind: "bursts", pacing: "scheduled", values: [size], options };
      }

      export const burstsBuilder = loadBuilder({
        form: { name: "bursts", args: ["size"] },
        values: levelsSchema,
        options: () => strictOptions({ every: spanSchema() }),
        toPlan: ({ values: [size = 1], options: { every } }) => ({ kind: "bursts", size, everyMs: toMs(every) }),
        extent: () => ({ kind: "requests", count: 10 }),
      });`,
    "scenario/loads/table.ts": [
      {
        after: 'import { findMaxBuilder } from "./find-max.ts";',
        added: 'import { burstsBuilder } from "./bursts.ts";',
      },
      {
        after: "const LOADS: Readonly<Record<string, LoadBuilder | PhasesBuilder>> = {",
        added: "  bursts: burstsBuilder,",
      },
    ],
    "index.ts": [{ after: EXPORTS, added: 'export { bursts } from "./scenario/loads/bursts.ts";' }],
  },
  "a builder of inputs": {
    "scenario/texts.ts": `
      import { resolve } from "node:path";
      import { strictOptions } from "./fields.ts";
      import { filesSchema, inputBuilder } from "./input-builder.ts";
      import type { Inputs } from "./input-data.ts";

      /** Texts of a file. */
      export function texts(file: string): Inputs<"payloads"> {
        return { kind: "texts", files: [file], options: {} };
      }

      export const textsBuilder = inputBuilder({
        form: { name: "texts", space: "input", args: ["file"] },
        files: filesSchema,
        options: () => strictOptions({}),
        makes: ["payloads"],
        toPlan: ({ files }, folder) => ({ kind: "payloads", file: resolve(folder, files[0] ?? "") }),
      });`,
    "scenario/inputs.ts": [
      {
        after: 'import { generate, generateBuilder } from "./generate/builder.ts";',
        added: 'import { texts, textsBuilder } from "./texts.ts";',
      },
      {
        after: "const INPUT_BUILDERS: Readonly<Record<string, InputBuilder>> = {",
        added: "  texts: textsBuilder,",
      },
      { after: "export const input = {", added: "  texts," },
    ],
  },
  "a builder of assertions": {
    "scenario/assertions.ts": [
      {
        after: "/** Returns all comparisons; the types of metrics only offer those that make sense. */",
        added: `export function openAtEnd(): AllLimits<"openAtEnd", never> {
          return limitsOf({ key: "openAtEnd" });
        }`,
      },
    ],
    "index.ts": [{ after: EXPORTS, added: 'export { openAtEnd } from "./scenario/assertions.ts";' }],
  },
};

/** The copy's modules that the tests begin with; all others they import from there. */
interface Copy {
  readonly executePlan: typeof import("../src/cli/execute.ts").executePlan;
  readonly checkPlan: typeof import("../src/registry/check-plan.ts").checkPlan;
  readonly toPlan: typeof import("../src/scenario/to-plan.ts").toPlan;
}

/** The copy's modules of perf_analyzer mode. */
interface PerfAnalyzer {
  readonly parseOptions: typeof import("../src/cli/perf-analyzer/options/table.ts").parseOptions;
  readonly readSettings: typeof import("../src/cli/perf-analyzer/settings.ts").readSettings;
  readonly toPlan: typeof import("../src/cli/perf-analyzer/to-plan.ts").toPlan;
  readonly toFlags: typeof import("../src/cli/perf-analyzer/to-flags.ts").toFlags;
  readonly formatHelp: typeof import("../src/cli/perf-analyzer/command.ts").formatHelp;
}

/** The copy's front doors for metrics. */
interface Doors {
  readonly mean: (name: string) => Limits;
  readonly max: (name: string) => Limits;
  readonly metric: (name: string) => Limits;
  readonly loadDataScenario: typeof import("../src/scenario/data/load-data.ts").loadDataScenario;
  readonly scenarioJsonSchema: typeof import("../src/scenario/data/json-schema.ts").scenarioJsonSchema;
  readonly runCompareCommand: typeof import("../src/cli/compare/command.ts").runCompareCommand;
}

/** The limits of a metric that only the copy has. */
interface Limits {
  below(limit: unknown): never;
  atLeast(limit: unknown): never;
  where(tags: object): Limits;
}

/** The made-up file in `mock/`. */
interface Lines {
  startLines(): Promise<{ readonly port: number; stop(): void }>;
}

let folder = "";
let copy: Copy;

before(async () => {
  // Beside the dependencies.
  mkdirSync(join(ROOT, "dist"), { recursive: true });
  folder = mkdtempSync(join(ROOT, "dist", "where-to-add-"));
  const src = join(folder, "src");
  cpSync(join(ROOT, "src"), src, { recursive: true });
  // What makes types and the reference of it.
  cpSync(join(ROOT, "compile"), join(folder, "compile"), { recursive: true });
  for (const file of ["tsconfig.json", "package.json", "package-lock.json"])
    cpSync(join(ROOT, file), join(folder, file));
  symlinkSync(join(ROOT, "node_modules"), join(folder, "node_modules"), "dir");
  for (const files of Object.values(ADDITIONS))
    for (const [path, change] of Object.entries(files)) {
      const text = typeof change === "string" ? change : change.reduce(addLine, readFileSync(join(src, path), "utf8"));
      mkdirSync(dirname(join(src, path)), { recursive: true });
      writeFileSync(join(src, path), text, { flag: typeof change === "string" ? "wx" : "w" });
    }
  copy = (await load("cli/execute.ts", "registry/check-plan.ts", "scenario/to-plan.ts")) as Copy;
});

/** Returns what the copy's modules export. */
async function load(...paths: string[]): Promise<object> {
  const modules = await Promise.all(
    paths.map(async (path) => (await import(pathToFileURL(join(folder, "src", path)).href)) as object),
  );
  return Object.assign({}, ...modules) as object;
}

after(() => rmSync(folder, { recursive: true, force: true }));

function addLine(text: string, { after: line, added }: Line): string {
  assert.equal(text.split(line).length, 2, `the table has no line of its own: ${line}`);
  return text.replace(line, () => `${line}\n${added}`);
}

const { embedded } = await import("../src/scenario/targets/embedded.ts");
const { embeddedLlm } = await import("../src/scenario/targets/llm.ts");
const { hold, ramp } = await import("../src/scenario/loads/concurrency.ts");
const { prompts } = await import("../src/scenario/prompts.ts");
const { defineScenario } = await import("../src/scenario/define.ts");
const { findMax } = await import("../src/scenario/loads/find-max.ts");

/** A server that takes a while, so that a run for a time needs no core for itself. */
const SLOW = { latency: "5 ms" } as const;

function planOf(change: Partial<ScenarioDefinition>): Plan {
  const definition = { name: "a test", target: embedded(SLOW), load: hold(1, { requests: 10 }), ...change };
  const plan = copy.toPlan(defineScenario(definition as ScenarioDefinition), ROOT);
  return { ...plan, outputs: { ...plan.outputs, files: { json: join(folder, "report.json") } } };
}

/** Runs a plan in the copy. Returns what it printed. */
async function execute(plan: Plan): Promise<string> {
  const io = silentIo();
  const { result, outputError } = await copy.executePlan(plan, io);
  assert.equal(result.error ?? outputError, undefined);
  assert.equal(result.completedCount, 10);
  return io.text();
}

test("a made-up service kind is checked, measured, judged, and named in reports", LIMIT, async () => {
  const { startLines } = (await load("mock/lines.ts")) as Lines;
  const server = await startLines();
  const file = join(folder, "texts.jsonl");
  const exportFile = join(folder, "lines.json");
  writeFileSync(file, '{"text": "a"}\n');
  const base = planOf({});
  const target = { kind: "lines", url: `127.0.0.1:${server.port}`, model: "m", headers: [], tls: DEFAULT_TLS };
  const served = { ...target, protocol: "http", isStreaming: false, batchSize: 1 } as unknown as Plan["target"];
  const outputs = { ...base.outputs, files: { profileExport: exportFile } };
  const plan: Plan = { ...base, target: served, inputs: { kind: "payloads", file }, outputs };
  try {
    assert.match(await execute(plan), new RegExp(`lines from 127\\.0\\.0\\.1:${server.port}, http`));
    const about = JSON.parse(readFileSync(exportFile, "utf8")) as { service_kind: string; endpoint: string };
    assert.deepEqual([about.service_kind, about.endpoint], ["lines", "lines"]);
    writeFileSync(file, '{"text": "mute"}\n');
    await assert.rejects(execute({ ...plan, failures: { maxRatio: 0 } }), /is no line/);
  } finally {
    server.stop();
  }
  const streaming = { ...plan, target: { ...served, isStreaming: true } as Plan["target"] };
  assert.throws(() => copy.checkPlan(streaming), /target\.isStreaming.*must be false: a response is one line/);
  assert.throws(() => copy.checkPlan({ ...plan, inputs: base.inputs }), /inputs\.kind.*This target takes payloads/);
});

test("a made-up option is read, in the help, in the plan, and printed back", LIMIT, async () => {
  const perfAnalyzer = (await load(
    "cli/perf-analyzer/options/table.ts",
    "cli/perf-analyzer/settings.ts",
    "cli/perf-analyzer/to-plan.ts",
    "cli/perf-analyzer/to-flags.ts",
    "cli/perf-analyzer/command.ts",
  )) as PerfAnalyzer;
  const args = ["-m", "simple", "--log", "/dev/null"];
  const { settings, problems } = perfAnalyzer.readSettings(perfAnalyzer.parseOptions(args));
  const { plan } = perfAnalyzer.toPlan(settings);
  assert.deepEqual([problems, plan.outputs.files.records], [[], "/dev/null"]);
  assert.deepEqual(perfAnalyzer.toFlags(plan).args, ["-m", "simple", "--concurrency-range", "1", "--log", "/dev/null"]);
  assert.match(perfAnalyzer.formatHelp("rampart"), /^ +--log FILE +Write requests\.$/m);
  assert.match(await execute({ ...planOf({}), outputs: plan.outputs }), /^Request concurrency: 1$/m);
});

test("a made-up option on all commands is in the help and in the plan of each", LIMIT, async (context) => {
  const { runCommandLine } = (await load("cli/commands.ts")) as typeof import("../src/cli/commands.ts");
  const printed = async (args: readonly string[]): Promise<string> => {
    const io = silentIo();
    assert.equal(await runCommandLine("rampart", args, io), 0, io.text());
    return io.text();
  };
  const [scenario, config] = [join(folder, "drawn.yaml"), join(folder, "config.yaml")];
  writeFileSync(scenario, "name: a test\ntarget: embedded\nload: { hold: { concurrency: 1, requests: 1 } }\n");
  const settings = ["model_names: m", "endpoint: { type: chat }", `tokenizer: { name: ${TINY} }`];
  writeFileSync(config, [...settings, "rampart: { draws: 7, dry_run: true }", ""].join("\n"));
  const mock = await startMock(DEFAULT_MOCK, ANY_PORT);
  context.after(() => mock.stop());
  const server = `127.0.0.1:${mock.httpPort}`;
  const doors: readonly (readonly [command: readonly string[], ...args: string[]])[] = [
    [["run"], scenario],
    [["http"], "localhost:1"],
    [["llm"], server, "--tokenizer", TINY],
    [["triton"], server],
    [["perf_analyzer"], "-m", "simple"],
    [["genai-perf", "profile"], "-m", "m", "--endpoint-type", "chat", "--tokenizer", TINY],
  ];
  for (const [command, ...args] of doors) {
    const help = command.length > 1 || command[0] === "perf_analyzer" ? "--help" : "--help-all";
    assert.match(await printed([...command, help]), /^ +--draws N +Seed of all draws\./m, command.join(" "));
    const plan = JSON.parse(planIn(await printed([...command, ...args, "--draws", "7", "--dry-run"]))) as Plan;
    assert.equal(plan.seed, 7, command.join(" "));
    await assert.rejects(printed([...command, ...args, "--draws", "-1", "--dry-run"]), /--draws/);
  }
  assert.match(await printed(["genai-perf", "config", "-f", config]), /"seed": 7$/m);
});

test(
  "a made-up option of genai-perf mode is in the help, read from flags and files, and lands in the plan",
  LIMIT,
  async () => {
    const { runCommandLine } = (await load("cli/commands.ts")) as typeof import("../src/cli/commands.ts");
    const run = async (...args: string[]): Promise<string> => {
      const io = silentIo();
      await runCommandLine("rampart", ["genai-perf", ...args], io);
      return io.text();
    };
    const config = join(folder, "patient.yaml");
    const settings = ["model_names: m", "endpoint: { type: chat }", `tokenizer: { name: ${TINY} }`];
    writeFileSync(config, [...settings, "rampart: { patience: 2.5, dry_run: true }", ""].join("\n"));
    const args = ["-m", "m", "--endpoint-type", "chat", "--tokenizer", TINY, "--dry-run"];
    assert.match(await run("profile", "--help"), /^ +--patience PATIENCE +How long to wait\. In seconds\./m);
    for (const printed of [await run("profile", ...args, "--patience", "2.5"), await run("config", "-f", config)])
      assert.equal((JSON.parse(planIn(printed)) as Plan).client.requestTimeoutMs, 2500);
    assert.doesNotMatch(await run("profile", ...args), /requestTimeoutMs/);
    assert.match(await run("profile", ...args, "--patience", "0"), /0 exceeds lower bounds/);
  },
);

/** Returns the plan in what a command printed. */
function planIn(text: string): string {
  return text.slice(text.indexOf("{\n"), text.lastIndexOf("\n}") + 2);
}

const ANY_PORT = { host: "127.0.0.1", httpPort: 0, grpcPort: 0 } as const;

const BURSTS = { kind: "bursts", size: 5, everyMs: 500 } as unknown as Plan["load"];

test("a made-up load mode sends, is checked, and is named in reports", LIMIT, async () => {
  const exportFile = join(folder, "export.json");
  const plan = planOf({});
  const outputs = { ...plan.outputs, verbosity: 1 as const, files: { profileExport: exportFile } };
  const beginMs = Date.now();
  const text = await execute({ ...plan, load: BURSTS, outputs });
  assert.match(text, /bursts of 5 every 500 ms\n/);
  assert.match(text, /^req\/s asked +(req\/min +)?sent\/s/m);
  const { experiments } = JSON.parse(readFileSync(exportFile, "utf8")) as {
    experiments: [{ experiment: object; requests: { timestamp: number }[] }];
  };
  assert.deepEqual(experiments[0].experiment, { mode: "request_rate", value: 7 });
  const times = experiments[0].requests.map(({ timestamp }) => timestamp).toSorted((a, b) => a - b);
  // The second burst may be late, never early, whenever the first one was sent.
  assert.ok((times[5] as number) / 1e6 >= beginMs + 495, `${beginMs}: ${times.join(", ")}`);
  const wrong = { ...plan, load: Object.assign({}, BURSTS, { size: 0 }) };
  assert.throws(() => copy.checkPlan(wrong), /load\.size.*must be 1 or more/);
});

/** The copy's builders of scenarios that only the copy has. */
interface Added {
  lines(url: string, options: { readonly model: string }): ScenarioDefinition["target"];
  bursts(size: number, options: { readonly every: string }): ScenarioDefinition["load"];
  texts(file: string): ScenarioDefinition["inputs"];
  openAtEnd(): Limits;
}

test(
  "made-up builders of a target, a load, inputs and an assertion are written in TypeScript and YAML, and measure",
  LIMIT,
  async () => {
    const { lines, bursts, texts, openAtEnd } = (await load(
      "scenario/targets/lines.ts",
      "scenario/loads/bursts.ts",
      "scenario/texts.ts",
      "scenario/assertions.ts",
    )) as Added;
    const doors = (await load("scenario/data/load-data.ts", "scenario/data/json-schema.ts")) as Doors;
    const { startLines } = (await load("mock/lines.ts")) as Lines;
    const server = await startLines();
    const url = `127.0.0.1:${server.port}`;
    const [file, scenario] = [join(folder, "some.jsonl"), join(folder, "lines.yaml")];
    writeFileSync(file, '{"text": "a"}\n');
    const data = {
      name: "a test",
      target: { lines: { url, model: "m" } },
      load: { bursts: { size: 5, every: "20 ms" } },
    };
    writeFileSync(scenario, JSON.stringify({ ...data, inputs: { texts: file }, assert: ["openAtEnd < 1000"] }));
    const typed = {
      target: lines(url, { model: "m" }),
      load: bursts(5, { every: "20 ms" }),
      inputs: texts(file),
      assert: [openAtEnd().below(1000)],
    } as Partial<ScenarioDefinition>;
    try {
      const plan = planOf(typed);
      const written = copy.toPlan(doors.loadDataScenario(scenario, scenario).scenario, ROOT);
      for (const part of ["target", "load", "inputs", "assertions"] as const)
        assert.deepEqual(written[part], plan[part]);
      const text = await execute(plan);
      assert.match(text, /^ *pass +requests left open < 1,000 requests/m);
    } finally {
      server.stop();
    }
    const wrong = (change: object): void => void planOf({ ...typed, ...change });
    assert.throws(() => wrong({ target: { ...typed.target, options: { colour: 1 } } }), /target\.colour/);
    assert.throws(() => wrong({ load: bursts(0, { every: "20 ms" }) }), /load\.size.*must be 1 or more/);
    assert.throws(() => wrong({ inputs: { kind: "texts", files: [], options: {} } }), /must name a file/);
    assert.throws(() => wrong({ inputs: { kind: "others" } }), /must be input\.texts\(…\), input\.random\(\)/);
    const schema = JSON.stringify(doors.scenarioJsonSchema());
    for (const name of ["lines", "bursts", "texts"]) assert.ok(schema.includes(`"${name}":{`), name);
  },
);

test("a made-up field of a target is in the plan, in YAML and in the published schema", LIMIT, async () => {
  const { grpc } = (await load("scenario/targets/grpc.ts")) as typeof import("../src/scenario/targets/grpc.ts");
  const doors = (await load("scenario/data/load-data.ts", "scenario/data/json-schema.ts")) as Doors;
  const named = (label: string) => ({ method: "a.B/C", message: {}, label }) as const;
  const typed = planOf({ target: grpc("h:1", named("mine")) } as Partial<ScenarioDefinition>);
  assert.equal("model" in typed.target && typed.target.model, "mine");
  const scenario = join(folder, "labelled.yaml");
  const data = { name: "a test", target: { grpc: { url: "h:1", ...named("mine") } }, load: { hold: 1 } };
  writeFileSync(scenario, JSON.stringify(data));
  assert.deepEqual(copy.toPlan(doors.loadDataScenario(scenario, scenario).scenario, ROOT).target, typed.target);
  const wrong = { target: grpc("h:1", named("")) } as Partial<ScenarioDefinition>;
  assert.throws(() => planOf(wrong), /target\.label: must be a name/);
  assert.ok(JSON.stringify(doors.scenarioJsonSchema()).includes('"label":{'));
});

test("a made-up report is written", LIMIT, async () => {
  assert.match(await execute(planOf({ name: "in one line" })), /^ONE LINE: measured,.*,10 requests$/m);
});

test("a made-up report is written to a file", LIMIT, async () => {
  const plan = planOf({});
  const facts = join(folder, "facts.txt");
  await execute({ ...plan, outputs: { ...plan.outputs, files: { facts } as Plan["outputs"]["files"] } });
  assert.match(readFileSync(facts, "utf8"), /^[\d.]+ m?s\n10 requests\n$/);
});

test("a made-up report is written of a stored run, and of several", LIMIT, async () => {
  const { writeModelFiles, MODEL_FILES } = (await load("report/model-files.ts")) as typeof ModelFiles;
  const stored = join(folder, "stored.txt");
  const model = { verdict: { facts: ["stored"] } } as unknown as Parameters<typeof writeModelFiles>[1];
  await writeModelFiles({ facts: stored } as Parameters<typeof writeModelFiles>[0], model, {});
  assert.equal(readFileSync(stored, "utf8"), "stored\n");
  assert.ok("facts" in MODEL_FILES);
});

test("a made-up column is in the console, in Markdown and in JUnit", LIMIT, async () => {
  const plan = planOf({});
  const files = { markdown: join(folder, "column.md"), junit: join(folder, "column.xml") };
  const text = await execute({ ...plan, outputs: { ...plan.outputs, files } });
  assert.match(text, /^concurrency +req\/min +infer\/s /m);
  assert.match(readFileSync(files.markdown, "utf8"), /^\| concurrency \| req\/min \| infer\/s \|/m);
  assert.match(readFileSync(files.junit, "utf8"), /req\/min \d/);
});

test("a made-up metric is measured, reported and asserted", LIMIT, async () => {
  const plan = planOf({
    target: embeddedLlm({ streaming: true, tokenizer: TINY }),
    inputs: prompts({ isl: 12, osl: 5, count: 4 }),
  });
  const metric = { key: "halfLatency", statistic: "mean" } as unknown as Plan["assertions"][number]["metric"];
  const assertions: Plan["assertions"] = [{ metric, comparison: "at-least", limit: 0 }];
  const text = await execute({ ...plan, assertions, outputs: { ...plan.outputs, verbosity: 1 as const } });
  assert.match(text, /^ +1 +half of the latency /m);
  assert.match(text, /^ {2}pass +mean half of the latency/m);
  assert.match(readFileSync(join(folder, "report.json"), "utf8"), /"halfLatency\w*": \{/);
});

/** Two GPUs at 70 °C and 60 °C, which Rampart does not read without the made-up metric. */
function hotGpus(scrape: number): string {
  const samples = ["aaa", "bbb"].map((gpu, at) => `nv_gpu_temperature{gpu_uuid="GPU-${gpu}"} ${70 - 10 * at}`);
  return `${twoGpus(scrape)}# TYPE nv_gpu_temperature gauge\n${samples.join("\n")}\n`;
}

const METRIC_KEYS = ["openAtEnd", "serverSuccess", "gpuTemperature"];

/** What a level or several runs measured, in JSON. */
interface MeasuredJson {
  readonly metrics: Readonly<Record<string, Readonly<Record<string, unknown>>>>;
}

/** What a run of the copy asserts of the three metrics, as code and as text. */
const METRIC_TEXTS = ["openAtEnd < 1000", "mean(serverSuccess) < 10 s", "max(gpuTemperature) >= 60"];

test(
  "made-up metrics are asserted as code and as text, searched for, in JSON, and limits of a comparison",
  LIMIT,
  async () => {
    const doors = (await load(
      "scenario/assertions.ts",
      "scenario/data/load-data.ts",
      "scenario/data/json-schema.ts",
      "cli/compare/command.ts",
    )) as Doors;
    const { mean, max, metric } = doors;
    const where = [
      metric("openAtEnd").below(1000),
      mean("serverSuccess").below("10 s"),
      max("gpuTemperature").atLeast(60),
    ];
    const gpus = await startMetricsStub({ text: hotGpus });
    const metrics = { url: gpus.url, every: "50 ms" } as const;
    const [scenario, report] = [join(folder, "scenario.yaml"), join(folder, "metrics.json")];
    const asText = {
      name: "a test",
      target: { embedded: SLOW },
      load: { hold: { concurrency: 1, for: "500 ms" } },
      metrics,
    };
    writeFileSync(scenario, JSON.stringify({ ...asText, assert: METRIC_TEXTS }));
    try {
      const [page, markdown] = [join(folder, "metrics.html"), join(folder, "metrics.md")];
      const outputs = { files: { json: report, html: page, markdown }, verbosity: 1 as const };
      const plan = copy.toPlan(doors.loadDataScenario(scenario, scenario).scenario, ROOT);
      const written = { ...plan, outputs: { ...plan.outputs, ...outputs } };
      const typed = planOf({ load: hold(1, { for: "500 ms" }), metrics, assert: where });
      assert.deepEqual(written.assertions, typed.assertions);
      const text = await runCopy(written);
      assert.match(text, /^ *pass +requests left open < 1,000 requests/m);
      assert.match(text, /^ *pass +mean server success < 10 s/m);
      assert.match(text, /^ *pass +max GPU temperature ≥ 60 C +70 C/m);
      const { levels } = JSON.parse(readFileSync(report, "utf8")) as { levels: [MeasuredJson] };
      const [{ metrics: measured }] = levels;
      assert.equal(measured["gpuTemperatureC"]?.max, 70);
      assert.ok("openAtEnd" in measured && "serverSuccessUs" in measured);
      // Without a column of its own, each is in the table of other metrics, with its unit.
      for (const shown of [text, readFileSync(page, "utf8"), readFileSync(markdown, "utf8")]) {
        const cells = shown.replace(/<[^>]*>|[|*]/g, " ").replace(/\s+/g, " ");
        assert.match(cells, / requests left open \d+ requests /);
        assert.match(cells, / server success [\d.]+ (us|ms) /);
        assert.match(cells, / GPU temperature 65 C 70 C /);
      }

      const search = findMax({ range: ramp(1, 2), where, settle: "50 ms", window: "200 ms", forAtMost: "400 ms" });
      assert.match(await runCopy(planOf({ load: search, metrics })), /: at least .* 2$/m);
    } finally {
      await gpus.stop();
    }
    // Four runs with the same values.
    const runs = [1, 2, 3, 4].map((year) => {
      const path = join(folder, `run-${year}.json`);
      writeFileSync(path, readFileSync(report, "utf8").replace(/("startedAt":\s*")\d{4}/, `$1200${year}`));
      return path;
    });
    const sides = ["--base", ...runs.slice(0, 2), "--new", ...runs.slice(2)];
    const fails = ["openAtEnd > 1000", "serverSuccess > 10s", "max(gpuTemperature) > 69"];
    const codes = await Promise.all(
      fails.map((limit) => doors.runCompareCommand([...sides, "--fail-if", limit], "rampart compare", silentIo())),
    );
    assert.deepEqual(codes, [0, 0, 65]);
    const schema = JSON.stringify(doors.scenarioJsonSchema());
    for (const key of METRIC_KEYS) assert.ok(schema.includes(key), key);
    // What such a run does not have is refused by name.
    assert.throws(
      () => planOf({ assert: [max("gpuTemperature").atLeast(60)] }),
      /gpuTemperature needs the server's page/,
    );
  },
);

test("made-up metrics are asserted of tagged requests and over several runs", LIMIT, async () => {
  const { mean, max, metric } = (await load("scenario/assertions.ts")) as Doors;
  await using gpus = await startMetricsStub({ text: hotGpus });
  const metrics = { url: gpus.url, every: "50 ms" } as const;
  const size = { size: "small" };
  const { json = "" } = planOf({}).outputs.files;
  // Long enough for a reading on a busy machine.
  const shared = { load: hold(1, { for: "2 s" }), metrics };
  const ofTag = { ...shared, tags: () => size };
  const text = await runCopy(planOf({ ...ofTag, assert: [metric("openAtEnd").where(size).below(1000)] }));
  assert.match(text, /^ *pass +requests left open where size is small < 1,000 requests/m);
  // Servers count all requests together.
  const ofServer = [mean("serverSuccess").where(size).below("10 s"), max("gpuTemperature").where(size).atLeast(60)];
  assert.throws(
    () => planOf({ ...ofTag, assert: ofServer }),
    (error: Error) =>
      ["serverSuccess", "gpuTemperature"].every((key) =>
        error.message.includes(`${key} is of all requests of a server`),
      ),
  );
  const repeated = planOf({
    ...shared,
    repeat: 2,
    assert: [metric("openAtEnd").below(1000), mean("serverSuccess").below("10 s"), max("gpuTemperature").atLeast(60)],
  });
  assert.match(await runCopy(repeated), /^ *pass +max GPU temperature ≥ 60 C +mean 70 C/m);
  const { combination } = JSON.parse(readFileSync(json, "utf8")) as { combination: { levels: [MeasuredJson] } };
  const [{ metrics: over }] = combination.levels;
  assert.equal((over["gpuTemperatureC"]?.["max"] as { mean: number } | undefined)?.mean, 70);
  assert.ok("openAtEnd" in over && "serverSuccessUs" in over);
});

test("made-up metrics and builders are in the types of scenarios and in the reference", LIMIT, async () => {
  const { COMMAND } = (await load("cli/types/command.ts")) as typeof import("../src/cli/types/command.ts");
  // Nothing of the repository is beside it.
  const own = makeFolder();
  assert.equal(await COMMAND.run([own], "rampart types", silentIo()), 0);
  writeFileSync(
    join(own, "scenario.ts"),
    `import { mean, bursts, defineScenario, embedded, hold, goodput, input, lines, max, metric, openAtEnd, p99 } from "rampart";
    export const added = defineScenario({
      name: "of made-up builders",
      target: lines("localhost:7000", { model: "m" }),
      load: bursts(5, { every: "20 ms" }),
      inputs: input.texts("some.jsonl"),
      assert: [openAtEnd().below(1000)],
    });
    // @ts-expect-error It needs its time.
    bursts(5, {});
    export default defineScenario({
      name: "a test",
      target: embedded(),
      load: hold(1, { requests: 10 }),
      metrics: { url: "localhost:8002" },
      assert: [metric("openAtEnd").below(1000), mean("serverSuccess").below("10 s"), max("gpuTemperature").atLeast(60)],
    });
    p99("halfLatency").below("10 s");
    goodput({ halfLatency: "10 s" }).atLeast(1);
    // @ts-expect-error It is a time.
    goodput({ halfLatency: 10 });
    // @ts-expect-error It is a time.
    mean("serverSuccess").below(10);
    // @ts-expect-error It has no minimum.
    max("openAtEnd");\n`,
  );
  assert.equal(typeCheck(own), "");
  const path = join(folder, "compile/docs/scenario-reference.ts");
  const { formatAssertions, formatChapter } = (await import(
    pathToFileURL(path).href
  )) as typeof import("../compile/docs/scenario-reference.ts");
  const chapters = (["targets", "loads", "inputs"] as const).map((name) => formatChapter(name));
  const reference = [...chapters, formatAssertions()].join("\n");
  for (const key of [...METRIC_KEYS, "halfLatency"]) assert.match(reference, new RegExp(`^\\| \`"${key}"\` \\|`, "m"));
  assert.match(reference, /^\| `label` \| `string` \| the method \| Name in reports\. \|$/m);
  for (const call of ["lines(url, options)", "bursts(size, options)", "input.texts(file)", "openAtEnd()"])
    assert.ok(reference.includes(`\n| \`${call}\` | `), call);
});

test(
  "made-up metrics are limits of options, and of good requests, in records and in the CSV",
  LIMIT,
  async (context) => {
    const { runCommandLine } = (await load("cli/commands.ts")) as typeof import("../src/cli/commands.ts");
    const run = async (...args: string[]): Promise<readonly [code: number, text: string]> => {
      const io = silentIo();
      return [await runCommandLine("rampart", args, io), io.text()];
    };
    const gpus = await startMetricsStub({ text: hotGpus });
    context.after(() => gpus.stop());
    const shared = { load: { hold: { concurrency: 1, for: "2 s" } }, metrics: { url: gpus.url, every: "50 ms" } };
    const server = join(folder, "server.yaml");
    writeFileSync(server, JSON.stringify({ name: "a server", target: { embedded: SLOW }, ...shared }));
    const model = join(folder, "model.yaml");
    const target = { embeddedLlm: { streaming: true, tokenizer: TINY } };
    const assertions = ["goodput(halfLatency <= 10 s) > 0.1"];
    const inputs = { prompts: { isl: 12, osl: 5, count: 4 } };
    writeFileSync(model, JSON.stringify({ name: "a model", target, inputs, ...shared, assert: assertions }));
    const limited = (...limits: string[]): string[] => limits.flatMap((limit) => ["--fail-if", limit]);
    const both = limited("openAtEnd > 1000", "max(gpuTemperature) > 69");

    const [code, text] = await run("run", server, ...both, ...limited("serverSuccess > 10s"));
    assert.equal(code, 65, text);
    assert.match(text, /^ *pass +requests left open ≤ 1,000 requests/m);
    assert.match(text, /^ *pass +mean server success ≤ 10 s/m);
    assert.match(text, /^ *FAIL +max GPU temperature ≤ 69 C +70 C/m);

    const [records, csv] = [join(folder, "half.jsonl"), join(folder, "half.csv")];
    const [failed, screen] = await run("run", model, ...limited("half.mean > 10s"), "--records", records, "--csv", csv);
    assert.equal(failed, 0, screen);
    assert.match(screen, /^ *pass +goodput/m);
    assert.match(screen, /^ *pass +mean half of the latency ≤ 10 s/m);
    assert.match(readFileSync(records, "utf8"), /"half_latency":\{"value":[\d.]+,"unit":"ms"\}/);
    for (const metric of ["half of the latency", "requests left open", "GPU temperature"])
      assert.ok(readFileSync(csv, "utf8").includes(metric), metric);

    const mock = await startMock(DEFAULT_MOCK, ANY_PORT);
    context.after(() => mock.stop());
    const slos = ["openAtEnd=1000", "half=10s"].flatMap((slo) => ["--slo", slo]);
    const [, answer] = await run("llm", `127.0.0.1:${mock.httpPort}`, "--tokenizer", TINY, ...slos, "--dry-run");
    const { limits: searched } = JSON.parse(planIn(answer)) as Plan;
    assert.deepEqual(
      searched?.map(({ metric, comparison, limit }) => [metric, comparison, limit]),
      [
        [{ key: "openAtEnd" }, "at-most", 1000],
        [{ key: "halfLatency", statistic: 99 }, "at-most", 10e9],
      ],
    );
  },
);

test("the compiler finds no other place that an addition needs", LIMIT, () => {
  const settings = join(folder, "tsconfig.added.json");
  writeFileSync(settings, JSON.stringify({ extends: "./tsconfig.json", include: ["src/*.ts"] }));
  assert.equal(typeCheck(settings), "");
});

/** Runs a plan in the copy, whatever its number of requests. Returns what it printed. */
async function runCopy(plan: Plan): Promise<string> {
  const io = silentIo();
  const { result, outputError } = await copy.executePlan(plan, io);
  assert.equal(result.error ?? outputError, undefined);
  return io.text();
}

function silentIo(): CommandIo & { text(): string } {
  let text = "";
  const out = (part: string): void => {
    text += part;
  };
  return {
    nameOf: inScenario,
    out,
    err: out,
    text: () => text,
    onInterrupt: () => () => {},
    loadApi: async () => ({}),
  };
}

test("src/README.md names the files that each of them took", () => {
  const guide = readFileSync(join(ROOT, "src/README.md"), "utf8");
  const section = guide.slice(guide.indexOf("## Where to add what"));
  for (const [what, files] of Object.entries(ADDITIONS)) {
    const existing = Object.values(files).filter((change) => typeof change !== "string");
    // Users import a builder from index.ts.
    const exported = "index.ts" in files ? 1 : 0;
    const most = (what === "a service kind" ? 3 : 2) + exported;
    assert.ok(existing.length <= 1 + exported && Object.keys(files).length <= most, what);
    for (const path of Object.keys(files)) {
      // Of new files the folder is named.
      const named = typeof files[path] === "string" ? `${dirname(path).replace("lines", "NAME")}/` : path;
      assert.ok(section.includes(named), `${what}: ${named}`);
    }
  }
});
