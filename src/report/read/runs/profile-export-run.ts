import { Column } from "../../../measure/column.ts";
import { estimateMean } from "../../../measure/intervals/mean-interval.ts";
import { percentileEstimator } from "../../../measure/intervals/percentile-interval.ts";
import { nsToSec } from "../../../plan/units.ts";
import { type ExportedExperiment, openProfileExport } from "../profile-export.ts";
import { describeLoad, type MeasuredLevel, type MeasuredValue, type RunFormat, withBounds } from "./measured-run.ts";

/** Profile exports of perf_analyzer and Rampart: every request, so that all percentiles have intervals. */

const NAME = "profile export";
const PERCENTILES = [50, 75, 90, 95, 99, 99.9] as const;

/** Requests of one experiment. */
class Requests {
  readonly latenciesNs = new Column();
  readonly firstNs = new Column();
  private startNs: bigint | undefined;
  private endNs = 0n;
  responseCount = 0;

  add(sentNs: bigint, offsetsNs: readonly number[]): void {
    const [first] = offsetsNs;
    const last = offsetsNs.at(-1);
    if (first === undefined || last === undefined) return;
    this.latenciesNs.push(last);
    this.firstNs.push(first);
    this.responseCount += offsetsNs.length;
    const endNs = sentNs + BigInt(Math.round(last));
    if (this.startNs === undefined || sentNs < this.startNs) this.startNs = sentNs;
    if (endNs > this.endNs) this.endNs = endNs;
  }

  /** From the first send to the last response. */
  get durationSec(): number {
    return this.startNs === undefined ? 0 : nsToSec(Number(this.endNs - this.startNs));
  }
}

/** A profile export of one run. */
export const profileExportRun: RunFormat = {
  name: NAME,
  detectHead: (head) => /^\s*\{\s*"experiments"\s*:/.test(head),
  detectDocument: (document) => Array.isArray(document["experiments"]),
  read: ({ path }) => {
    const exported = openProfileExport(path);
    const requests = exported.experiments.map(() => new Requests());
    for (const { experiment, timestampNs, responseOffsetsNs } of exported.requests())
      requests[experiment]?.add(timestampNs, responseOffsetsNs);
    const { serviceKind, endpoint } = exported;
    const facts = new Map([
      ["service kind", serviceKind],
      ["endpoint", endpoint],
    ]);
    const levels = exported.experiments.map((experiment, index) => toLevel(experiment, requests[index] as Requests));
    return [{ source: path, format: NAME, isPartial: false, facts, levels }];
  },
};

function toLevel({ mode, value }: ExportedExperiment, requests: Requests): MeasuredLevel {
  const values = new Map<string, MeasuredValue>();
  const { latenciesNs, firstNs, responseCount, durationSec } = requests;
  const count = latenciesNs.length;
  if (count > 0 && durationSec > 0) {
    values.set("throughput", { value: count / durationSec });
    putSample(values, "latency", latenciesNs.measured());
    if (responseCount > count) {
      values.set("responsesPerSec", { value: responseCount / durationSec });
      putSample(values, "firstResponse", firstNs.measured());
    }
  }
  return { label: describeLoad(mode, value), values, notes: [] };
}

function putSample(values: Map<string, MeasuredValue>, name: string, sample: Float64Array): void {
  const mean = estimateMean(sample);
  values.set(`${name}.average`, withBounds(mean.value, mean.low, mean.high, 1));
  const estimate = percentileEstimator(sample);
  for (const percentile of PERCENTILES) {
    const { value, low, high } = estimate(percentile);
    values.set(`${name}.p${percentile}`, withBounds(value, low, high, 1));
  }
}
