import * as v from "valibot";
import { LEVEL_UNITS } from "../../../load/level-units.ts";
import { sampleOfSketch } from "../../../measure/metrics/sample.ts";
import { NumberTally } from "../../../measure/tally/number-tally.ts";
import { notJson } from "../../../plan/problem.ts";
import { msToNs, nsToSec } from "../../../plan/units.ts";
import { scanItems } from "../profile-export.ts";
import { describeLoad, type MeasuredLevel, type MeasuredValue, parseDocument, type RunFormat } from "./measured-run.ts";
import { putSample } from "./profile-export-run.ts";

/** Files of records of Rampart and AIPerf, read line by line, so that a file of any length needs little memory. */

const NAME = "file of records";

const TIME = v.optional(v.object({ value: v.number() }));
/** The part of a line that is compared. */
const LINE = v.object({
  metadata: v.looseObject({
    request_start_ns: v.number(),
    request_end_ns: v.number(),
    benchmark_phase: v.string(),
    was_cancelled: v.optional(v.boolean()),
    model: v.optional(v.string()),
    run: v.optional(v.number()),
    phase: v.optional(v.string()),
    window: v.optional(v.number()),
  }),
  metrics: v.object({ request_latency: TIME, time_to_first_response: TIME, time_to_first_token: TIME }),
  error: v.optional(v.unknown()),
});
type Line = v.InferOutput<typeof LINE>;

/** Metrics of requests by their names in this code. */
const TIMES = [
  ["latency", "request_latency"],
  ["firstResponse", "time_to_first_response"],
  ["timeToFirstToken", "time_to_first_token"],
] as const;

/** Requests of one level. Times are nanoseconds since the first send in the file. */
class Requests {
  private readonly times = TIMES.map(() => new NumberTally());
  private readonly counts = TIMES.map(() => 0);
  private count = 0;
  private failedCount = 0;
  private startNs = Number.POSITIVE_INFINITY;
  private endNs = Number.NEGATIVE_INFINITY;

  get isEmpty(): boolean {
    return this.count + this.failedCount === 0;
  }

  add({ metadata, metrics, error }: Line, originNs: number): void {
    if (metadata.was_cancelled === true) return;
    const endNs = metadata.request_end_ns - originNs;
    this.startNs = Math.min(this.startNs, metadata.request_start_ns - originNs);
    this.endNs = Math.max(this.endNs, endNs);
    if (error !== undefined && error !== null) {
      this.failedCount++;
      return;
    }
    this.count++;
    for (const [at, [, key]] of TIMES.entries()) {
      const time = metrics[key];
      if (time === undefined) continue;
      this.times[at]?.add(msToNs(time.value), endNs);
      this.counts[at] = (this.counts[at] as number) + 1;
    }
  }

  read(): Map<string, MeasuredValue> {
    const { count, failedCount, startNs, endNs } = this;
    const values = new Map<string, MeasuredValue>();
    const total = count + failedCount;
    if (total > 0) values.set("errorRate", { value: failedCount / total, total });
    // From the first send to the last response.
    if (count > 0 && endNs > startNs) values.set("throughput", { value: count / nsToSec(endNs - startNs) });
    for (const [at, [name]] of TIMES.entries())
      if ((this.counts[at] as number) > 0)
        putSample(values, name, sampleOfSketch((this.times[at] as NumberTally).cut(startNs, endNs)));
    return values;
  }
}

/** A level: its requests in windows, and all its requests. Files without windows have only the latter. */
type Level = { readonly inWindows: Requests; readonly all: Requests };

/** A file of records. */
export const recordsRun: RunFormat = {
  name: NAME,
  detectHead: (head) => /^\s*\{\s*"metadata"\s*:\s*\{/.test(head),
  read: ({ path }) => {
    const runs = new Map<number, Map<string, Level>>();
    let originNs: number | undefined;
    let model: string | undefined;
    for (const line of readLines(path)) {
      const { metadata } = line;
      originNs ??= metadata.request_start_ns;
      model ??= metadata.model;
      if (metadata.benchmark_phase !== "profiling") continue;
      const { inWindows, all } = levelOf(runs, line);
      if (metadata.window !== undefined) inWindows.add(line, originNs);
      else if (inWindows.isEmpty) all.add(line, originNs);
    }
    const facts = new Map(model === undefined ? [] : [["model", model]]);
    return [...runs].map(([run, levels]) => ({
      source: runs.size === 1 ? path : `${path}, run ${run}`,
      format: NAME,
      isPartial: false,
      facts,
      levels: [...levels].map(
        ([label, { inWindows, all }]): MeasuredLevel => ({
          label,
          values: (inWindows.isEmpty ? all : inWindows).read(),
        }),
      ),
    }));
  },
};

function levelOf(runs: Map<number, Map<string, Level>>, { metadata }: Line): Level {
  const { run = 1, phase } = metadata;
  const levels = runs.get(run) ?? new Map<string, Level>();
  runs.set(run, levels);
  const label = describeLevel(metadata, phase);
  const level = levels.get(label) ?? { inWindows: new Requests(), all: new Requests() };
  levels.set(label, level);
  return level;
}

/** Lines of genai-perf mode and of AIPerf do not contain the load. */
function describeLevel(metadata: Line["metadata"], phase: string | undefined): string {
  const place = phase === undefined ? "" : `phase ${phase}, `;
  for (const { exported } of Object.values(LEVEL_UNITS)) {
    const value = metadata[exported];
    if (typeof value === "number") return `${place}${describeLoad(exported, value)}`;
  }
  return `${place}all requests`;
}

/** @throws UserError naming the file and the line */
function* readLines(path: string): Generator<Line> {
  let number = 0;
  const texts = scanItems(path, function* (scanner) {
    for (const { text } of scanner.lines()) yield text;
  });
  for (const text of texts) {
    number++;
    if (text.trim() === "") continue;
    const at = `${path}, line ${number}`;
    yield parseDocument(LINE, parse(text, at), at);
  }
}

function parse(text: string, at: string): unknown {
  try {
    return JSON.parse(text);
  } catch (error) {
    throw notJson(at, error, "The file may be cut off: remove what follows its last whole line.");
  }
}
