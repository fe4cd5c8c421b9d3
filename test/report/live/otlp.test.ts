import assert from "node:assert/strict";
import type { ServerResponse } from "node:http";
import { describe, test } from "node:test";
import { OtlpExporter } from "../../../src/report/live/otlp/otlp-exporter.ts";
import { resolveOtlpUrl } from "../../../src/report/live/otlp/otlp-settings.ts";
import { makePlan } from "../../plan/make-plan.ts";
import { startAnsweringServer } from "../../servers/answering-server.ts";
import { makeSink } from "../make-result.ts";
import { startFakeRun } from "./fake-run.ts";

/** OTLP: where it goes, what is sent, and what happens when no collector accepts it. */

const HEADERS = { OTEL_EXPORTER_OTLP_HEADERS: "x-key=a%20b,x-other=2" };
const resolved: readonly (readonly [text: string, env: Record<string, string>, url: string | RegExp])[] = [
  ["http://host:4318", {}, "http://host:4318/v1/metrics"],
  ["localhost:4318", {}, "http://localhost:4318/v1/metrics"],
  ["https://host/otlp/v1/metrics?x=1", {}, "https://host/otlp/v1/metrics?x=1"],
  ["env", { OTEL_EXPORTER_OTLP_ENDPOINT: "http://host:4318/base/" }, "http://host:4318/base/v1/metrics"],
  [
    "env",
    { OTEL_EXPORTER_OTLP_METRICS_ENDPOINT: "http://host/m", OTEL_EXPORTER_OTLP_ENDPOINT: "http://x" },
    "http://host/m",
  ],
  ["http://host:1", { OTEL_EXPORTER_OTLP_ENDPOINT: "http://other" }, "http://host:1/v1/metrics"],
  ["env", {}, /OTEL_EXPORTER_OTLP_ENDPOINT/],
  ["env", { OTEL_EXPORTER_OTLP_ENDPOINT: "http://h", OTEL_EXPORTER_OTLP_PROTOCOL: "grpc" }, /grpc/],
  ["ftp://host", {}, /such as http:\/\/localhost:4318/],
  ["http://user:secret@host", {}, /such as http:\/\/localhost:4318/],
  ["", {}, /not an HTTP address/],
  ["http://h", { OTEL_EXPORTER_OTLP_HEADERS: "no-value" }, /OTEL_EXPORTER_OTLP_HEADERS/],
  ["http://h", { OTEL_EXPORTER_OTLP_HEADERS: "a=x%0ay" }, /OTEL_EXPORTER_OTLP_HEADERS/],
];
for (const [text, env, expected] of resolved)
  test(`--otlp "${text}" with ${JSON.stringify(env)}`, () => {
    const found = resolveOtlpUrl(text, env);
    if (typeof expected === "string") assert.deepEqual(found, { url: expected });
    else assert.match("url" in found ? "" : `${found.message} ${found.hint}`, expected);
  });

interface Sent {
  readonly warnings: string;
  readonly received: readonly { readonly path: string; readonly text: string; readonly headers: object }[];
}

/** Sends a run with three requests, and finishes. */
async function send(answer: (response: ServerResponse) => void, env: Record<string, string> = {}): Promise<Sent> {
  using server = await startAnsweringServer(answer);
  const plan = makePlan({ name: "a scenario" });
  const run = startFakeRun(plan);
  const sink = makeSink();
  const exporter = new OtlpExporter(plan, run.state, sink, `${server.url}/v1/metrics`, env);
  run.state.onLevelStart("concurrency", 1, false);
  exporter.onProgress();
  for (const latencyMs of [1, 2, undefined]) run.end(latencyMs);
  run.state.finish();
  await exporter.finish();
  return { warnings: sink.printed.err, received: server.received };
}

describe("the OTLP exporter", () => {
  test("sends the last state at the end, with the run's attributes and the headers of the environment", async () => {
    const env = { ...HEADERS, OTEL_RESOURCE_ATTRIBUTES: "team=perf", OTEL_SERVICE_NAME: "bench" };
    const { warnings, received } = await send((response) => response.end("{}"), env);
    assert.deepEqual([warnings, received.length], ["", 1]);
    const [request] = received;
    assert.equal(request?.path, "/v1/metrics");
    const headers = request?.headers as Record<string, string>;
    assert.deepEqual([headers["content-type"], headers["x-key"], headers["x-other"]], ["application/json", "a b", "2"]);
    const { resource } = JSON.parse(request?.text ?? "").resourceMetrics[0];
    const attributes = Object.fromEntries(
      resource.attributes.map(({ key, value }: { key: string; value: { stringValue: string } }) => [
        key,
        value.stringValue,
      ]),
    );
    assert.deepEqual(
      [attributes["service.name"], attributes["team"], attributes["rampart.scenario"], attributes["rampart.target"]],
      ["bench", "perf", "a scenario", "127.0.0.1:8000"],
    );
  });

  const refusals: readonly (readonly [what: string, answer: (response: ServerResponse) => void, warning: RegExp])[] = [
    ["an error", (response) => response.writeHead(503).end(), /answered with status 503/],
    ["a redirect", (response) => response.writeHead(307, { Location: "/x" }).end(), /could not be sent/],
    [
      "a partial success",
      (response) => response.end('{"partialSuccess":{"rejectedDataPoints":"3","errorMessage":"too old"}}'),
      /rejected metrics: 3 data points, too old/,
    ],
    ["nothing", () => {}, /no response within 0.2 s/],
    ["a closed connection", (response) => response.destroy(), /could not be sent/],
  ];
  for (const [what, answer, warning] of refusals) {
    test(`a collector that answers with ${what} is one warning`, async () => {
      // A busy machine takes longer than 0.2 s for an answer.
      const { warnings } = await send(answer, { OTEL_EXPORTER_OTLP_TIMEOUT: what === "nothing" ? "200" : "60000" });
      assert.match(warnings, warning);
      assert.equal(warnings.split("\n").length, 2);
    });
  }

  test("while it runs there is one request at a time, and one warning for many failures", async () => {
    const three = Promise.withResolvers<void>();
    let open = 0;
    let most = 0;
    let count = 0;
    const server = await startAnsweringServer((response) => {
      most = Math.max(most, ++open);
      if (++count === 3) three.resolve();
      setImmediate(() => {
        open--;
        response.writeHead(500).end();
      });
    });
    const plan = makePlan();
    const run = startFakeRun(plan);
    const sink = makeSink();
    const env = { OTEL_METRIC_EXPORT_INTERVAL: "5" };
    const exporter = new OtlpExporter(plan, run.state, sink, server.url, env);
    // Keeps the process alive, because the exporter does not.
    const alive = setInterval(() => {}, 1000);
    exporter.onProgress();
    await three.promise;
    clearInterval(alive);
    run.state.finish();
    await exporter.finish();
    server.close();
    assert.equal(most, 1);
    assert.equal(sink.printed.err.match(/could not be sent/g)?.length, 1);
  });
});
