import type { Dispatcher } from "undici/index.js";
import { compactBuckets, type ExponentialHistogram } from "../../../measure/exponential-histogram.ts";
import type { Plan } from "../../../plan/plan.ts";
import { messageOf } from "../../../plan/problem.ts";
import { msToSec, nsToSec } from "../../../plan/units.ts";
import { urlsOf } from "../../../registry/service-kinds.ts";
import { nowNs, toEpochNs } from "../../../runtime/clock.ts";
import { VERSION } from "../../../runtime/this-program.ts";
import type { Report, TextSink } from "../../report.ts";
import { type Labels, listMetrics, type Metric } from "../metric-list.ts";
import type { RunState } from "../run-state.ts";
import { type OtlpSettings, readOtlpSettings } from "./otlp-settings.ts";

/**
 * Sends the metrics of a run to an OTLP collector while it lasts, as HTTP with JSON. Counts are cumulative, so nothing is lost when
 * a request is skipped or fails: there is one request at a time, no queue, and the next request contains everything.
 */

/** Timeout of the last request at the end of the run. */
const FLUSH_MS = 3000;
/** Maximum size of a response. Collectors respond with a few bytes. */
const MOST_RESPONSE_BYTES = 1024 * 1024; // 1 MiB

/** The exporter. */
export class OtlpExporter implements Report {
  private readonly state: RunState;
  private readonly sink: TextSink;
  private readonly url: string;
  private readonly settings: OtlpSettings;
  private readonly attributes: Readonly<Record<string, string>>;
  private startEpochNs = 0n;
  private timer: ReturnType<typeof setInterval> | undefined;
  private sending: AbortController | undefined;
  private hasWarned = false;
  private dispatcher: Dispatcher | undefined;

  /** @param sink gets one warning when metrics cannot be delivered @param env default: the process's environment */
  constructor(plan: Plan, state: RunState, sink: TextSink, url: string, env = process.env) {
    this.state = state;
    this.sink = sink;
    this.url = url;
    this.settings = readOtlpSettings(env);
    this.attributes = {
      "service.name": "rampart",
      "service.version": VERSION,
      "service.instance.id": crypto.randomUUID(),
      "rampart.scenario": plan.name,
      "rampart.target": urlsOf(plan.target).map(withoutLogin).join(","),
      ...this.settings.attributes,
    };
  }

  onProgress(): void {
    if (this.timer !== undefined) return;
    this.startEpochNs = toEpochNs(nowNs());
    this.timer = setInterval(() => {
      if (this.sending === undefined) void this.send(this.settings.timeoutMs);
    }, this.settings.intervalMs);
    this.timer.unref?.();
  }

  /** Sends the last state. A pending request is older, so it is aborted. */
  async finish(): Promise<void> {
    this.discard();
    if (this.timer === undefined) return;
    await this.send(Math.min(FLUSH_MS, this.settings.timeoutMs));
    this.discard();
  }

  discard(): void {
    clearInterval(this.timer);
    this.sending?.abort();
    void this.dispatcher?.destroy();
    this.dispatcher = undefined;
  }

  /** Sends the metrics. Never rejects. */
  private async send(timeoutMs: number): Promise<void> {
    const sending = new AbortController();
    this.sending = sending;
    const late = setTimeout(() => sending.abort(new Error(`no response within ${msToSec(timeoutMs)} s`)), timeoutMs);
    try {
      const snapshot = await this.state.freshSnapshot();
      if (snapshot === undefined || sending.signal.aborted) return;
      const { attributes, startEpochNs } = this;
      const scope = { version: VERSION, attributes, startEpochNs, atEpochNs: toEpochNs(nowNs()) };
      await this.post(encodeOtlp(listMetrics(snapshot), scope), sending.signal);
    } catch (error) {
      const { reason } = sending.signal;
      // Aborted without a reason: a later request contains the same metrics.
      if (!sending.signal.aborted || reason?.name !== "AbortError") this.warn(sending.signal.aborted ? reason : error);
    } finally {
      clearTimeout(late);
      if (this.sending === sending) this.sending = undefined;
    }
  }

  private async post(body: string, signal: AbortSignal): Promise<void> {
    const headers = { ...this.settings.headers, "Content-Type": "application/json" };
    const { openDispatcher, readBodyText, requestOnce } = await import("../../../transport/request-once.ts");
    this.dispatcher ??= openDispatcher();
    const { dispatcher, url } = this;
    const response = await requestOnce(url, { dispatcher, method: "POST", headers, body, signal });
    const text = await readBodyText(response, MOST_RESPONSE_BYTES, signal);
    const { statusCode: status } = response;
    if (status < 200 || status > 299) throw new Error(`the collector answered with status ${status}`);
    const rejected = readRejected(text);
    if (rejected !== undefined) throw new Error(`the collector rejected metrics: ${rejected}`);
  }

  private warn(error: unknown): void {
    if (this.hasWarned) return;
    this.hasWarned = true;
    this.sink.err(
      `rampart: metrics could not be sent to ${this.url}: ${messageOf(error)}; the run continues, and later failures are not reported\n`,
    );
  }
}

/** Returns the collector's message about rejected metrics; undefined if it accepted all. */
function readRejected(text: string): string | undefined {
  let response: { partialSuccess?: { rejectedDataPoints?: string | number; errorMessage?: string } };
  try {
    response = JSON.parse(text) as typeof response;
  } catch {
    // Collectors may respond with protobuf, or with an empty body.
    return undefined;
  }
  const { rejectedDataPoints = 0, errorMessage = "no reason given" } = response?.partialSuccess ?? {};
  return Number(rejectedDataPoints) > 0 ? `${rejectedDataPoints} data points, ${errorMessage}` : undefined;
}

function withoutLogin(url: string): string {
  return url.replace(/^([a-z][a-z\d+.-]*:\/\/)?[^/?#\s]*@/i, "$1").replace(/[?#].*$/, "");
}

/** Metrics as OTLP in JSON. Source: `ExportMetricsServiceRequest` of opentelemetry-proto; 64-bit integers are strings. */

/** The default of OpenTelemetry's SDKs. */
const MOST_BUCKETS = 160;
const CUMULATIVE = 2;

/** Data shared by all metrics of a request. */
interface OtlpScope {
  readonly version: string;
  readonly attributes: Labels;
  readonly startEpochNs: bigint;
  readonly atEpochNs: bigint;
}

/** Encodes a request. */
export function encodeOtlp(metrics: readonly Metric[], scope: OtlpScope): string {
  return JSON.stringify({
    resourceMetrics: [
      {
        resource: { attributes: toAttributes(scope.attributes) },
        scopeMetrics: [
          {
            scope: { name: "rampart", version: scope.version },
            metrics: metrics.map((metric) => toMetric(metric, scope)),
          },
        ],
      },
    ],
  });
}

function toMetric(metric: Metric, { startEpochNs, atEpochNs }: OtlpScope): object {
  const { name, help, unit } = metric;
  const head = { name, description: help, unit };
  const timeUnixNano = String(atEpochNs);
  const times = { startTimeUnixNano: String(startEpochNs), timeUnixNano };
  if (metric.kind === "histogram") {
    const dataPoints = metric.points.map(({ labels, histogram }) => ({
      ...{ attributes: toAttributes(labels), ...times, ...toHistogram(histogram) },
    }));
    return { ...head, exponentialHistogram: { aggregationTemporality: CUMULATIVE, dataPoints } };
  }
  if (metric.kind === "counter") {
    const dataPoints = metric.points.map(({ labels, value }) => ({
      ...{ attributes: toAttributes(labels), ...times, asInt: String(value) },
    }));
    return { ...head, sum: { aggregationTemporality: CUMULATIVE, isMonotonic: true, dataPoints } };
  }
  const dataPoints = metric.points.map(({ labels, value }) => ({
    ...{ attributes: toAttributes(labels), timeUnixNano, asDouble: value },
  }));
  return { ...head, gauge: { dataPoints } };
}

function toHistogram(histogram: ExponentialHistogram): object {
  const { scale, offset, counts } = compactBuckets(histogram, MOST_BUCKETS);
  return {
    count: String(histogram.count),
    sum: nsToSec(histogram.sumNs),
    scale,
    zeroCount: "0",
    positive: { offset, bucketCounts: counts.map(String) },
  };
}

function toAttributes(labels: Labels): object[] {
  return Object.entries(labels).map(([key, value]) => ({ key, value: { stringValue: value } }));
}
