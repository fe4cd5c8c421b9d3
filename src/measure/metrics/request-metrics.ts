import type { MetricPlan } from "../../plan/assertions.ts";
import { nsToSec } from "../../plan/units.ts";
import { inferPerSec, meanGapNs, responsesPerSec, sentPerSec, sequencesPerSec } from "../derived-values.ts";
import { countText, findExtracted } from "../extracted-tally.ts";
import { errorRatioInterval } from "../intervals/ratio-interval.ts";
import { throughputInterval } from "../intervals/throughput.ts";
import { latencyOf } from "../measurement.ts";
import { computeDerived } from "./derived.ts";
import {
  ALL_STATISTICS,
  type Asked,
  type Counted,
  factsOf,
  type MeasuredPart,
  type Metric,
  ratioOf,
} from "./metric.ts";
import { type Ends, sampleOfExtracted, sampleOfSketch, sampleOfSum } from "./sample.ts";

const REQUESTS = {
  throughput: {
    label: "throughput",
    quantity: "rate",
    better: "higher",
    value: ({ window }, _metric, { batchSize }) => inferPerSec(window, batchSize),
    ends: throughputEnds,
  },
  errorRate: {
    label: "error rate",
    better: "lower",
    ...ratioOf(countFailed),
    ends: ({ window }, _metric, { confidence }) => errorRatioInterval(window, confidence),
  },
  /** Over the time in which requests were due. */
  sentPerSec: {
    label: "sent/s",
    quantity: "rate",
    unit: "requests/s",
    better: "higher",
    needs: "schedule",
    value: ({ window }) => (window.isScheduled ? sentPerSec(window) : undefined),
    explain: () => "fewer than two requests were due at different times",
  },
  /** Measured from the actual send. */
  latency: {
    label: "latency",
    quantity: "time",
    better: "lower",
    statistics: ALL_STATISTICS,
    isBlindToGaps: true,
    sample: ({ window }) => sampleOfSketch(window.latency),
  },
  /** Measured from the intended send, so it includes delays by a late client or a slow server. */
  scheduledLatency: {
    label: "scheduled latency",
    quantity: "time",
    better: "lower",
    needs: "schedule",
    statistics: ALL_STATISTICS,
    isBlindToGaps: true,
    sample: ({ window }) => (window.isScheduled ? sampleOfSketch(latencyOf(window, "scheduledLatency")) : undefined),
  },
  /** For requests that may have several responses. */
  firstResponse: {
    label: "first response",
    quantity: "time",
    better: "lower",
    needs: "responses",
    statistics: ALL_STATISTICS,
    isBlindToGaps: true,
    sample: ({ window }) => window.firstResponse && sampleOfSketch(window.firstResponse),
  },
  /** Mean over all pairs of consecutive responses. */
  betweenResponses: {
    label: "time between responses",
    quantity: "time",
    better: "lower",
    needs: "responses",
    statistics: ["mean"],
    sample: ({ window }) => {
      const meanNs = meanGapNs(window);
      return meanNs === undefined ? undefined : sampleOfSum(meanNs, 1);
    },
  },
  responsesPerSec: {
    label: "responses/s",
    quantity: "rate",
    unit: "responses/s",
    better: "higher",
    needs: "responses",
    value: ({ window }) => (window.isDecoupled ? responsesPerSec(window) : undefined),
  },
  sequencesPerSec: {
    label: "sequences/s",
    quantity: "rate",
    unit: "sequences/s",
    better: "higher",
    value: ({ window }) => (window.sequenceCount === 0 ? undefined : sequencesPerSec(window)),
    explain: () => "no sequence ended at its whole length",
  },
} as const satisfies Readonly<Record<string, Metric>>;

export const REQUEST_METRICS = factsOf(REQUESTS);

const OTHERS = {
  /** Numbers that the target extracts from responses. */
  extracted: {
    label: "extracted",
    quantity: "number",
    definedIn: "extract",
    statistics: ALL_STATISTICS,
    sample: ({ window }, { name = "" }) => {
      const found = findExtracted(window.extracted, name);
      return found && sampleOfExtracted(found);
    },
    explain: () => "no response had a number there",
  },
  /** Ratio of the responses whose extracted value is a certain text. */
  extractedShare: {
    label: "share of an extracted text",
    definedIn: "extract",
    ...ratioOf(countShare),
    explain: ({ window }, { name = "" }) =>
      (findExtracted(window.extracted, name)?.otherCount ?? 0) > 0
        ? "too many different texts to count each"
        : undefined,
  },
  /** Values that a scenario computes from other metrics. */
  derived: {
    label: "derived",
    quantity: "number",
    definedIn: "derive",
    value: (_part, { value }, { level }) => (value === undefined ? undefined : computeDerived(value, level).value),
    explain: (_part, { value }, level) => {
      if (value === undefined) return undefined;
      const { missing, error } = computeDerived(value, level);
      return missing ?? error;
    },
  },
  /** Result of a search. */
  highestLoad: {
    label: "highest load within the limits",
    quantity: "number",
    better: "higher",
    isOfReports: true,
    isOfSearch: true,
    value: () => undefined,
  },
} as const satisfies Readonly<Record<string, Metric>>;

/** Metrics that scenarios define, and metrics that only reports have. */
export const OTHER_METRICS = factsOf(OTHERS);

function countShare({ window }: MeasuredPart, { name = "", text = "" }: MetricPlan): Counted {
  const found = findExtracted(window.extracted, name);
  return (found && countText(found, text)) ?? { count: 0, total: 0 };
}

function countFailed({ window }: MeasuredPart): Counted {
  const { failedCount, requestCount } = window;
  return { count: failedCount, total: failedCount + requestCount };
}

/** Without a completion, the rate is at most the one at which that would be too improbable, if completions are independent. */
function throughputEnds({ window }: MeasuredPart, _metric: unknown, { value, batchSize, confidence }: Asked): Ends {
  if (window.requestCount > 0 || window.durationNs <= 0)
    return throughputInterval(window, value, batchSize, confidence);
  return { low: 0, high: (-batchSize * Math.log((1 - confidence) / 2)) / nsToSec(window.durationNs) };
}
