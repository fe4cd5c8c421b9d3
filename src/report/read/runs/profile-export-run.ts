import type { Uncertain } from "../../../measure/intervals/certainty.ts";
import { type Sample, sampleOfSketch } from "../../../measure/metrics/sample.ts";
import type { Sketch } from "../../../measure/sketch.ts";
import { NumberTally } from "../../../measure/tally/number-tally.ts";
import { nsToSec } from "../../../plan/units.ts";
import { type ExportedExperiment, openProfileExport } from "../profile-export.ts";
import { describeLoad, type MeasuredLevel, type MeasuredValue, type RunFormat, withBounds } from "./measured-run.ts";

/** Profile exports of perf_analyzer and Rampart: they contain every request, so that all percentiles have intervals. */

const NAME = "profile export";
const PERCENTILES = [50, 75, 90, 95, 99, 99.9] as const;

/** Requests of one experiment. Times are nanoseconds since the first send in the file. */
class Requests {
  readonly latencies = new NumberTally();
  readonly firsts = new NumberTally();
  count = 0;
  responseCount = 0;
  startNs = Number.POSITIVE_INFINITY;
  endNs = 0;

  add(sentNs: number, offsetsNs: readonly number[]): void {
    const [first] = offsetsNs;
    const last = offsetsNs.at(-1);
    if (first === undefined || last === undefined) return;
    const endNs = sentNs + last;
    this.latencies.add(last, endNs);
    this.firsts.add(first, endNs);
    this.count++;
    this.responseCount += offsetsNs.length;
    this.startNs = Math.min(this.startNs, sentNs);
    this.endNs = Math.max(this.endNs, endNs);
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
    let originNs: bigint | undefined;
    for (const { experiment, timestampNs, responseOffsetsNs } of exported.requests()) {
      originNs ??= timestampNs;
      requests[experiment]?.add(Number(timestampNs - originNs), responseOffsetsNs);
    }
    const { serviceKind, endpoint } = exported;
    const facts = new Map([
      ["service kind", serviceKind],
      ["endpoint", endpoint],
    ]);
    // Only requests to language models have an endpoint. GenAI-Perf, which reports on these, interpolates percentiles;
    // perf_analyzer does not.
    const rule: Pick<Sketch, "isInterpolated"> = endpoint === "" ? {} : { isInterpolated: true };
    const levels = exported.experiments.map((experiment, index) =>
      toLevel(experiment, requests[index] as Requests, rule),
    );
    return [{ source: path, format: NAME, isPartial: false, facts, levels }];
  },
};

function toLevel(
  { mode, value }: ExportedExperiment,
  requests: Requests,
  rule: Pick<Sketch, "isInterpolated">,
): MeasuredLevel {
  const values = new Map<string, MeasuredValue>();
  const { latencies, firsts, count, responseCount, startNs, endNs } = requests;
  // From the first send to the last response.
  const durationSec = nsToSec(endNs - startNs);
  if (count > 0 && durationSec > 0) {
    values.set("throughput", { value: count / durationSec });
    putSample(values, "latency", sampleOfSketch({ ...latencies.cut(startNs, endNs), ...rule }));
    if (responseCount > count) {
      values.set("responsesPerSec", { value: responseCount / durationSec });
      putSample(values, "firstResponse", sampleOfSketch({ ...firsts.cut(startNs, endNs), ...rule }));
    }
  }
  return { label: describeLoad(mode, value), values };
}

/** Adds the mean and the percentiles of times with their intervals. */
export function putSample(values: Map<string, MeasuredValue>, name: string, sample: Sample): void {
  const put = (statistic: string, found: Uncertain | undefined): void => {
    if (found !== undefined) values.set(`${name}.${statistic}`, withBounds(found.value, found.low, found.high));
  };
  put("mean", sample.estimateMean?.({}));
  for (const percentile of PERCENTILES) put(`p${percentile}`, sample.estimatePercentile?.(percentile));
}
