import assert from "node:assert/strict";
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { test } from "node:test";
import { COMMAND } from "../../src/cli/http/command.ts";
import { readMetrics, type Sample } from "../report/live/read-metrics.ts";
import { startAnsweringServer } from "../servers/answering-server.ts";
import { LIMIT } from "../time-limit.ts";
import { captureIo } from "./captured-io.ts";
import { createFolder } from "./rampart-process.ts";

/** What one can see of a run while it lasts agrees with its report. */

const COUNT = 20;
/** This request is answered after the state was looked at. */
const FAILING = 5;

interface OtlpMetric {
  readonly name: string;
  readonly sum?: { readonly dataPoints: readonly { readonly asInt: string }[] };
  readonly exponentialHistogram?: {
    readonly dataPoints: readonly { readonly count: string; readonly positive: { readonly bucketCounts: string[] } }[];
  };
}

interface Shown {
  readonly report: {
    readonly requests: { readonly sent: number; readonly completed: number; readonly failed: number };
    readonly levels: readonly { readonly completed: number }[];
  };
  readonly metrics: readonly Sample[];
  /** The last event that a page got. */
  readonly lastState: Readonly<Record<string, unknown>>;
  /** The last request to the collector. */
  readonly otlp: readonly OtlpMetric[];
  readonly err: string;
}

/** Runs a load test whose last request is answered after its metrics were read. */
async function watch(): Promise<Shown> {
  using folder = createFolder({});
  const addressed = Promise.withResolvers<string>();
  const watched = Promise.withResolvers<void>();
  const looked = Promise.withResolvers<void>();
  const target = await startAnsweringServer((response, index) => {
    const answer = (): void => {
      response.statusCode = index === FAILING ? 500 : 200;
      response.end("ok");
    };
    if (index === 0) void watched.promise.then(answer);
    else if (index === COUNT - 1) void looked.promise.then(answer);
    else answer();
  });
  const collector = await startAnsweringServer((response) => response.end("{}"));
  const { io } = captureIo();
  let err = "";
  const listening = {
    ...io,
    err: (text: string): void => {
      err += text;
      const [, url] = /watched at (http:\S+)\/ /.exec(err) ?? [];
      if (url !== undefined) addressed.resolve(url);
    },
  };
  const file = join(folder.path, "report.json");
  const args = [target.url, "-n", String(COUNT), "-q", "--watch-port", "0", "--otlp", collector.url, "--json", file];
  const running = COMMAND.run(args, "rampart http", listening);
  const url = await addressed.promise;
  const page = await fetch(`${url}/events`);
  watched.resolve();
  const metrics = await readUntil(url, COUNT - 1);
  looked.resolve();
  const events = await page.text();
  const code = await running;
  assert.equal(code, 0, err);
  target.close();
  collector.close();
  const [, last = ""] = [...events.matchAll(/^event: state\ndata: (.*)$/gm)].at(-1) ?? [];
  const { resourceMetrics } = JSON.parse(collector.received.at(-1)?.text ?? "");
  return {
    report: JSON.parse(await readFile(file, "utf8")),
    ...{ metrics, err },
    lastState: JSON.parse(last),
    otlp: resourceMetrics[0].scopeMetrics[0].metrics,
  };
}

/** Reads the metrics until this number of requests has ended. */
async function readUntil(url: string, endedCount: number): Promise<Sample[]> {
  for (;;) {
    const samples = readMetrics(await (await fetch(`${url}/metrics`)).text());
    if (sumOf(samples, "rampart_requests_total") === endedCount) return samples;
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
}

function sumOf(samples: readonly Sample[], name: string, labels: Readonly<Record<string, string>> = {}): number {
  return samples
    .filter((one) => one.name === name && Object.entries(labels).every(([key, value]) => one.labels[key] === value))
    .reduce((sum, { value }) => sum + value, 0);
}

test("metrics, page, OTLP and report of one run have the same counts", LIMIT, async () => {
  const { report, metrics, lastState, otlp, err } = await watch();
  assert.deepEqual(report.requests, { sent: COUNT, completed: COUNT - 1, failed: 1 });

  // While the last request is in flight.
  const durations = "rampart_latency_seconds";
  assert.equal(sumOf(metrics, "rampart_requests_total", { outcome: "completed" }), COUNT - 2);
  assert.equal(sumOf(metrics, "rampart_requests_total", { outcome: "failed" }), 1);
  assert.equal(sumOf(metrics, "rampart_requests_sent_total"), COUNT);
  assert.equal(sumOf(metrics, "rampart_requests_in_flight"), 1);
  assert.equal(sumOf(metrics, `${durations}_count`), COUNT - 2);
  assert.equal(sumOf(metrics, `${durations}_bucket`, { le: "+Inf" }), COUNT - 2);

  // At the end.
  const { isFinished, sent, completed, failed, inFlight } = lastState;
  assert.deepEqual(
    { isFinished, inFlight, sent, completed, failed },
    { isFinished: true, inFlight: 0, ...report.requests },
  );
  const metric = (name: string): OtlpMetric => otlp.find((one) => one.name === name) ?? assert.fail(name);
  const ended = metric("rampart.requests").sum?.dataPoints.map(({ asInt }) => Number(asInt));
  assert.deepEqual(ended, [report.requests.completed, report.requests.failed, 0]);
  const [latency] = metric("rampart.latency").exponentialHistogram?.dataPoints ?? [];
  assert.equal(Number(latency?.count), report.requests.completed);
  assert.equal(
    latency?.positive.bucketCounts.reduce((sum, count) => sum + Number(count), 0),
    report.levels[0]?.completed,
  );
  assert.match(err, /^rampart: the run can be watched at [^\n]*\n$/);
});
