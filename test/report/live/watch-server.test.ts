import assert from "node:assert/strict";
import { request } from "node:http";
import { afterEach, beforeEach, describe, test } from "node:test";
import { openWatchServer } from "../../../src/report/live/watch/watch-server.ts";
import type { Report } from "../../../src/report/report.ts";
import { makePlan } from "../../plan/make-plan.ts";
import { makeResult, makeSink } from "../make-result.ts";
import { type FakeRun, startFakeRun } from "./fake-run.ts";
import { readMetrics } from "./read-metrics.ts";

/** The server of a run's state: what it answers, and to whom. */

const plan = makePlan({ name: "<b>bold</b>" });

let run: FakeRun;
let server: Report;
let port = 0;

beforeEach(async () => {
  run = startFakeRun(plan);
  run.state.onLevelStart("concurrency", 1, false);
  run.end(1);
  const sink = makeSink();
  server = await openWatchServer(plan, run.state, sink, 0);
  port = Number(/^rampart: the run can be watched at http:\/\/127\.0\.0\.1:(\d+)\//.exec(sink.printed.err)?.[1]);
});

afterEach(async () => {
  run.state.finish();
  await server.finish(makeResult(plan, []));
});

interface Answer {
  readonly status: number | undefined;
  readonly headers: Readonly<Record<string, string | string[] | undefined>>;
  readonly text: string;
}

function ask(path: string, headers: Readonly<Record<string, string>> = {}, method = "GET"): Promise<Answer> {
  return new Promise((resolve, reject) => {
    const asked = request({
      host: "127.0.0.1",
      port,
      path,
      method,
      headers: { Host: `127.0.0.1:${port}`, ...headers },
    });
    asked.on("error", reject);
    asked.on("response", (response) => {
      let text = "";
      response.setEncoding("utf8");
      response.on("data", (piece: string) => {
        text += piece;
      });
      response.on("end", () => resolve({ status: response.statusCode, headers: response.headers, text }));
    });
    asked.end();
  });
}

describe("the server of a run's state", () => {
  test("/metrics is for Prometheus, /state.json has the page's numbers, and / is the page", async () => {
    const metrics = await ask("/metrics");
    assert.equal(metrics.headers["content-type"], "text/plain; version=0.0.4; charset=utf-8");
    assert.ok(readMetrics(metrics.text).some(({ name, value }) => name === "rampart_requests_total" && value === 1));
    const accept = "application/vnd.google.protobuf;proto=io.prometheus.client.MetricFamily;encoding=delimited";
    assert.match(String((await ask("/metrics", { Accept: accept })).headers["content-type"]), /^application\/vnd/);
    const state = JSON.parse((await ask("/state.json")).text);
    assert.deepEqual([state.scenario, state.completed, state.place], ["<b>bold</b>", 1, "concurrency 1"]);
    const page = await ask("/");
    assert.match(page.text, /^<!doctype html>/);
    assert.doesNotMatch(page.text, /bold|https?:\/\//, "the page has nothing of the run, and loads nothing");
    assert.equal((await ask("/x")).status, 404);
  });

  test("no response can be framed, cached, sniffed or read by another site", async () => {
    for (const path of ["/", "/metrics", "/state.json", "/x"]) {
      const { headers } = await ask(path);
      assert.equal(headers["x-frame-options"], "DENY");
      assert.equal(headers["cross-origin-resource-policy"], "same-origin");
      assert.equal(headers["x-content-type-options"], "nosniff");
      assert.equal(headers["cache-control"], "no-store");
      assert.equal(headers["access-control-allow-origin"], undefined);
    }
    const { headers, text } = await ask("/");
    const policy = String(headers["content-security-policy"]);
    assert.match(policy, /^default-src 'none'; .*frame-ancestors 'none'$/);
    const nonce = /script-src 'nonce-([\w-]+)'/.exec(policy)?.[1] ?? "";
    assert.equal(text.split(`nonce="${nonce}"`).length, 3, "style and script");
  });

  const asked: readonly (readonly [what: string, headers: Readonly<Record<string, string>>, status: number])[] = [
    ["its own address", {}, 200],
    ["localhost", { Host: "localhost:PORT" }, 200],
    ["its own page", { Origin: "http://127.0.0.1:PORT", "Sec-Fetch-Site": "same-origin" }, 200],
    ["a name that someone points to this host", { Host: "rebound.example:PORT" }, 421],
    ["another port's name", { Host: "127.0.0.1:1" }, 421],
    ["a script of another site", { Origin: "http://evil.example", "Sec-Fetch-Site": "cross-site" }, 403],
    ["an image of another site", { "Sec-Fetch-Site": "cross-site", "Sec-Fetch-Mode": "no-cors" }, 403],
    ["a page on another port", { Origin: "http://127.0.0.1:1", "Sec-Fetch-Site": "same-site" }, 403],
    [
      "a frame of another site",
      { "Sec-Fetch-Site": "cross-site", "Sec-Fetch-Mode": "navigate", "Sec-Fetch-Dest": "iframe" },
      403,
    ],
    [
      "a link on another site",
      { "Sec-Fetch-Site": "cross-site", "Sec-Fetch-Mode": "navigate", "Sec-Fetch-Dest": "document" },
      200,
    ],
  ];
  for (const [what, headers, status] of asked) {
    test(`a request by ${what} gets ${status}`, async () => {
      const given = Object.entries(headers).map(([name, value]) => [name, value.replace("PORT", String(port))]);
      assert.equal((await ask("/state.json", Object.fromEntries(given))).status, status);
    });
  }

  test("other methods are refused", async () => assert.equal((await ask("/", {}, "POST")).status, 405));

  test("requests beyond a number per second are refused, and responses are made once for many", async () => {
    const responses = await Promise.all(Array.from({ length: 120 }, () => ask("/metrics").catch(() => undefined)));
    const statuses = responses.map((answer) => answer?.status);
    assert.ok(statuses.filter((status) => status === 200).length > 0);
    assert.ok(statuses.filter((status) => status !== 200).length > 0, "some are refused");
    assert.ok(statuses.every((status) => [200, 429, undefined].includes(status)));
  });

  test("a page gets the last state when the run ends", async () => {
    const events = ask("/events");
    // The first event has come when the server answers the next request.
    await ask("/state.json");
    run.end(3);
    run.end(undefined);
    run.state.finish();
    await server.finish(makeResult(plan, []));
    const { text, headers } = await events;
    assert.equal(headers["content-type"], "text/event-stream");
    const states = [...text.matchAll(/^event: state\ndata: (.*)$/gm)].map(([, json = ""]) => JSON.parse(json));
    const last = states.at(-1);
    assert.deepEqual([last.isFinished, last.completed, last.failed], [true, 2, 1]);
  });

  test("a port in use is a mistake with its number", async () => {
    await assert.rejects(openWatchServer(plan, run.state, makeSink(), port), /outputs\.watchPort.*cannot be used/s);
  });
});
