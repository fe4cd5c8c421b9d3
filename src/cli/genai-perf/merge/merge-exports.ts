import { join } from "node:path";
import { joinExports, type RunGap } from "../../../campaign/join-exports.ts";
import { writeMergedExport } from "../../../campaign/merged-export.ts";
import { LEVEL_UNITS } from "../../../load/level-units.ts";
import { TokenGaps } from "../../../measure/tokens/token-gaps.ts";
import { type Problem, problem, UserError, userError } from "../../../plan/problem.ts";
import { textsIn } from "../../../registry/input-files.ts";
import { writeArtifacts } from "../../../report/genai-perf/files.ts";
import { familyOf } from "../../../report/genai-perf/layout.ts";
import {
  detectExportedCustomKind,
  type ExportRules,
  measureExports,
} from "../../../report/genai-perf/measure-export.ts";
import { type Measured, toMeasured } from "../../../report/genai-perf/measured.ts";
import { artifactFiles } from "../../../report/genai-perf/outputs.ts";
import { drawRuns, removePlots } from "../../../report/genai-perf/plots.ts";
import type { MergedLoad } from "../../../report/genai-perf/reported-run.ts";
import { printTables } from "../../../report/genai-perf/run-console.ts";
import { mergeTelemetry } from "../../../report/genai-perf/telemetry/merge-telemetry.ts";
import { formatTelemetryConsole } from "../../../report/genai-perf/telemetry/telemetry.ts";
import type { PlottedRun } from "../../../report/plots/plotted-run.ts";
import { parseResponseField } from "../../../service/openai/response-field.ts";
import type { ResponseKind } from "../../../service/openai/response-kind.ts";
import type { Tokenizer } from "../../../tokenize/tokenizer.ts";
import type { CommandIo } from "../../execute.ts";
import { findReadOutputs } from "../../output-files.ts";
import type { Asked, Values } from "../options/asked.ts";
import { nameFolder } from "../plan/to-outputs.ts";
import { type ProfilePlan, toProfilePlan } from "../plan/to-plan.ts";
import { openTokenizer } from "../profile/token-work.ts";
import { findExports } from "./find-exports.ts";
import { type HostRun, readHost } from "./read-host.ts";

/** `genai-perf process-export-files`: merges the requests that several hosts measured at the same time into one run. */

/**
 * Reads all results below the input folder, measures them as one run, and reports like a profile.
 * @returns true; every failure throws
 * @throws UserError naming the file, RunError
 */
export async function mergeExports(asked: Asked, io: CommandIo): Promise<true> {
  const note = (text: string): void => io.err(`rampart: ${text}\n`);
  const inputFolder = asked.get("process.input_path");
  const { hosts: found, skipped } = findExports(inputFolder);
  for (const folder of skipped) note(`${folder} is left out: it has no export with its JSON report`);
  const hosts = found.map(readHost);
  const [first] = hosts as [HostRun, ...HostRun[]];
  checkSame(hosts, asked.get("tokenizer.name") !== "");
  const merged = mergeAsked(first, asked);
  const exports = hosts.map(({ source }) => source);
  const { sources, gaps, unanswered, startEpochNs } = joinExports(exports);
  if (unanswered.length > 0) throw new UserError(unanswered.map(noResponses));
  reportDoubts(hosts, gaps, note);
  const plan = toProfilePlan(merged, join(asked.get("output.artifact_directory"), nameFolder(merged)), []);
  const load = { ...loadOf(hosts), startEpochNs };
  const { measured, runs } = await measure(plan, hosts, sources, load);
  if (measured.columns.count === 0) {
    const message = "the exports hold no request that was answered";
    const hint = "Give the exports of runs that measured something.";
    throw userError("missing", "--input-directory", message, hint, inputFolder);
  }
  const { folder } = plan.outputs.genaiPerf;
  const { plots, ...files } = artifactFiles(folder, asked.get("output.profile_export_file"));
  const outputs = Object.values(files).map((path) => ["--artifact-dir", path] as const);
  const read = hosts.flatMap((host) => textsIn([host.source.path, host.files]));
  const problems = findReadOutputs(outputs, read);
  if (problems.length > 0) throw new UserError(problems);
  await writeMergedExport(files.profileExport, exports);
  printTables(measured, io);
  await writeArtifacts(measured, io, { plots, ...files });
  await removePlots(plots);
  if (asked.get("output.generate_plots")) await drawRuns(measured, runs, plots, io);
  const { telemetry } = measured.result;
  if (asked.get("-v") && telemetry !== undefined) io.out(formatTelemetryConsole(telemetry));
  note(`${hosts.length === 1 ? "1 export is" : `${hosts.length} exports are`} merged in ${folder}`);
  return true;
}

/** A host that measured nothing must be reported. Otherwise the throughput of the other hosts would look like the total. */
function noResponses(path: string): Problem {
  const hint = "Measure again on this host, or remove its folder.";
  return problem("missing", path, "holds no request that was answered", hint);
}

function loadOf(hosts: readonly HostRun[]): Pick<MergedLoad, "unit" | "level"> {
  const loads = hosts.flatMap(({ source }) => source.experiments[0] ?? []);
  const isRate = loads[0]?.mode === LEVEL_UNITS["request-rate"].exported;
  return { unit: isRate ? "request-rate" : "concurrency", level: loads.reduce((sum, { value }) => sum + value, 0) };
}

/** Reports conditions that may be mistakes. */
function reportDoubts(hosts: readonly HostRun[], gaps: readonly RunGap[], note: (text: string) => void): void {
  for (const { source } of hosts)
    if (source.experiments.length > 1)
      note(`${source.path} has ${source.experiments.length} levels of load: the first is merged`);
  const loads = hosts.map(({ asked }) => JSON.stringify(asked.get("perf_analyzer.stimulus")));
  const other = loads.findIndex((load) => load !== loads[0]);
  if (other > 0)
    note(
      `the loads differ, such as those of ${hosts[0]?.files.report} and ${hosts[other]?.files.report}: points of a sweep are not hosts of one run`,
    );
  for (const { path, durationSec } of gaps)
    note(
      `${path} begins ${durationSec.toFixed(1)} s after the others have ended, so they did not run together (or clocks differ): that time is left out, and throughput is the average over the times in which one ran`,
    );
}

async function measure(
  plan: ProfilePlan,
  hosts: readonly HostRun[],
  sources: readonly HostRun["source"][],
  load: MergedLoad,
): Promise<{ readonly measured: Measured; readonly runs: readonly PlottedRun[] }> {
  const { kind, field } = readingOf(plan, sources[0] as HostRun["source"]);
  const tokenizer = familyOf(kind) === "text" ? await openNamed(plan, hosts[0] as HostRun) : undefined;
  const countTokens = tokenizer === undefined ? undefined : (text: string): number => tokenizer.count(text);
  const columns = measureExports(sources, { kind, countTokens, field });
  const telemetry = mergeTelemetry(hosts.map((host) => host.telemetry).filter((one) => one !== undefined));
  const rules = { kind, countTokens };
  return {
    measured: toMeasured(plan, columns, kind, { run: undefined, merged: load, telemetry }),
    runs: plan.outputs.files.plots === undefined ? [] : measureForPlots(plan, hosts, sources, rules),
  };
}

/** Returns the kind of the hosts' responses, and for `custom` the place of their text, from the first one. @throws UserError */
function readingOf(
  { measurement: { tokens } }: ProfilePlan,
  source: HostRun["source"],
): Pick<ExportRules, "field"> & { readonly kind: ResponseKind } {
  const field = tokens?.field === undefined ? undefined : parseResponseField(tokens.field);
  const known = tokens?.responses as ResponseKind;
  return { kind: known === "custom" ? detectExportedCustomKind(source, field) : known, field };
}

/** Maximum number of hosts in a plot. More colours could not be distinguished. */
const MOST_HOSTS = 8;

/** Returns one run per host for plots, or one joint run for more than eight hosts. @param sources exports, in the same order */
function measureForPlots(
  { requests: { layout } }: ProfilePlan,
  hosts: readonly HostRun[],
  sources: readonly HostRun["source"][],
  rules: Pick<ExportRules, "kind" | "countTokens">,
): PlottedRun[] {
  const measure = (name: string, some: readonly HostRun["source"][]): PlottedRun => {
    const gaps = new TokenGaps();
    const columns = measureExports(some, { ...rules, onTimes: ({ contentNs }) => gaps.add(contentNs) });
    return { name, columns, gaps: gaps.summarize(), isStreaming: layout.isStreaming };
  };
  if (hosts.length > MOST_HOSTS) return [measure(`${hosts.length} hosts`, sources)];
  return hosts.map(({ files }, i) => measure(files.host, [sources[i] as HostRun["source"]]));
}

/** The tokenizer of the other hosts may not exist on this one. */
async function openNamed(plan: ProfilePlan, { files, asked }: HostRun): Promise<Tokenizer | undefined> {
  try {
    return await openTokenizer(plan, asked.get("tokenizer.trust_remote_code"));
  } catch (error) {
    const tokenizer = asked.get("tokenizer.name") || asked.get("model_names")[0];
    if (!(error instanceof UserError) || plan.measurement.tokens?.tokenizer !== tokenizer) throw error;
    const path = `${files.report}, input_config.tokenizer`;
    const hint = "Name the tokenizer with --tokenizer, as it is called on this host.";
    throw new UserError(error.problems.map((problem) => ({ ...problem, path, hint })));
  }
}

const TOKENIZER = "tokenizer.name";

/** Options that must be equal on all hosts, so that their requests are comparable. */
const SAME: readonly (keyof Values)[] = [
  "model_names",
  "endpoint.type",
  "endpoint.backend",
  "endpoint.streaming",
  "input.goodput",
];

function checkSame(hosts: readonly HostRun[], hasTokenizer: boolean): void {
  const [first, ...others] = hosts as [HostRun, ...HostRun[]];
  const same = hasTokenizer ? SAME : [...SAME, TOKENIZER];
  const problems = others.flatMap(({ files, asked }) =>
    same.flatMap((name): Problem[] => {
      const [one, other] = [first.asked, asked].map(({ values }) => JSON.stringify(values.get(name)));
      if (one === other) return [];
      const hint =
        name === TOKENIZER ? "Choose one with --tokenizer." : "Merge only runs of the same kind: remove this folder.";
      return [problem("conflict", files.report, `${name} is ${other}, but ${one} in ${first.files.report}`, hint)];
    }),
  );
  if (problems.length > 0) throw new UserError(problems);
}

/** Settings of the command line that concern the merge, regardless of the hosts. */
const OF_MERGE = /^(?:-v$|output\.|process\.|rampart\.plot_formats$)/;

/** Returns the settings of the first host, with the outputs and the tokenizer of the command line. */
function mergeAsked({ asked }: HostRun, line: Asked): Asked {
  const isOfMerge = (name: string): boolean =>
    OF_MERGE.test(name) || (name === TOKENIZER && line.get(TOKENIZER) !== "");
  return asked.with(Object.fromEntries([...line.values].filter(([name]) => isOfMerge(name))), line);
}
