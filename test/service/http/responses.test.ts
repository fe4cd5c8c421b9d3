import assert from "node:assert/strict";
import { readFile } from "node:fs/promises";
import type { ServerResponse } from "node:http";
import { join } from "node:path";
import { after, before, describe, test } from "node:test";
import { gzipSync } from "node:zlib";
import { REPORTED_PERCENTILES } from "../../../src/measure/intervals/percentile-interval.ts";
import { withoutCalls } from "../../../src/plan/functions.ts";
import { errorRate, extracted, throughput } from "../../../src/scenario/assertions.ts";
import type { HttpOptions } from "../../../src/scenario/targets/http.ts";
import { makeFolder } from "../../make-folder.ts";
import { assertRefused } from "../../plan/refused.ts";
import { type AnsweringServer, startAnsweringServer } from "../../servers/answering-server.ts";
import { type Nginx, startNginx } from "../../servers/nginx.ts";
import { planOf, type RanHttp, runHttp } from "./run-http.ts";

/** What http(…) makes of responses: those of Node's server, and of nginx, which nobody here wrote. */

const CLIENTS = ["own", "undici"] as const;
let server: AnsweringServer;
let nginx: Nginx;
let answer: (response: ServerResponse, index: number) => void;

before(async () => {
  server = await startAnsweringServer((response, index) => answer(response, index));
  nginx = await startNginx({ httpUpstream: server.url.slice("http://".length), grpcUpstream: "127.0.0.1:9" });
});

after(async () => {
  server.close();
  await nginx.stop();
});

function json(response: ServerResponse, value: unknown, status = 200): void {
  response.writeHead(status, { "Content-Type": "application/json" }).end(JSON.stringify(value));
}

async function outcomes(run: RanHttp): Promise<readonly [completed: number, failed: number, example: string]> {
  const { completedCount, failedCount, failures } = run.result;
  return [completedCount, failedCount, failures[0]?.example ?? ""];
}

describe("nginx responses", () => {
  for (const [path, method, completed, example] of [
    ["/length", "GET", 6, /^$/],
    ["/length", "HEAD", 6, /^$/],
    ["/chunked", "GET", 6, /^$/],
    ["/chunked", "HEAD", 6, /^$/],
    ["/empty", "GET", 6, /^$/],
    ["/close", "GET", 6, /^$/],
    ["/moved", "GET", 0, /^unexpected HTTP status 301, redirected to .*\/length/],
    ["/missing", "GET", 0, /^HTTP status 404: .*404 Not Found/],
    ["/missing", "HEAD", 0, /^HTTP status 404$/],
  ] as const)
    test(`${method} ${path}: ${completed === 0 ? "a failure that says why" : "a success"}`, async () => {
      for (const client of CLIENTS) {
        const run = await runHttp(`127.0.0.1:${nginx.httpPort}${path}`, {
          options: { method },
          requests: 6,
          concurrency: 2,
          client,
        });
        const [done, failed, found] = await outcomes(run);
        assert.deepEqual([done, failed], [completed, 6 - completed], `${client}: ${run.text}`);
        assert.match(found, example, client);
        // undici closes the connection after each HEAD.
        if (path === "/length" && (method === "GET" || client === "own"))
          assert.equal(run.result.connectionCount, 2, `${client} keeps connections`);
      }
    });
});

test("a server that is overloaded says when to try again", async () => {
  answer = (response) => response.writeHead(429, { "Retry-After": "7" }).end("slow down");
  for (const client of CLIENTS) {
    const run = await runHttp(server.url, { requests: 6, concurrency: 2, client });
    assert.deepEqual(await outcomes(run), [0, 6, "HTTP status 429, Retry-After 7: slow down"]);
  }
});

test("through nginx, too, the counts are those of the server", async () => {
  answer = (response, index) => (index % 5 === 0 ? json(response, { error: "busy" }, 503) : json(response, {}));
  const from = server.received.length;
  const { result } = await runHttp(`127.0.0.1:${nginx.httpPort}/behind/x`, {
    options: { body: "text" },
    requests: 50,
    concurrency: 4,
  });
  const count = server.received.length - from;
  const busy = Array.from({ length: count }, (_, index) => index + from).filter((index) => index % 5 === 0).length;
  assert.deepEqual([result.sentCount, result.completedCount, result.failedCount], [count, count - busy, busy]);
  assert.match(result.failures[0]?.example ?? "", /^HTTP status 503: \{"error":"busy"\}$/);
});

describe("a success is", () => {
  const responses: readonly (readonly [status: number, value: unknown])[] = [
    [200, { ok: true }],
    [201, { ok: true }],
    [404, { ok: true }],
    [200, { ok: false }],
  ];
  const cases: readonly (readonly [name: string, success: HttpOptions["success"], completed: number, why: RegExp])[] = [
    ["any status from 200 to 299 without a rule", {}, 3, /^HTTP status 404/],
    ["only the given statuses", { status: [200, 404] }, 3, /^unexpected HTTP status 201: \{"ok":true\}$/],
    ["one given status", { status: 404 }, 1, /^unexpected HTTP status 200: /],
    ["a response for which the expression is true", { where: "ok" }, 2, /ok is not true$/],
    ["both", { status: [200, 404], where: "ok" }, 2, /status 201|is not true/],
  ];
  for (const [name, success, completed, why] of cases)
    test(name, async () => {
      answer = (response, index) => {
        const [status, value] = responses[index % 4] as (typeof responses)[number];
        json(response, value, status);
      };
      for (const client of CLIENTS) {
        // Four in a row have one of each response.
        const run = await runHttp(server.url, {
          options: { success: success ?? {} },
          requests: 4,
          client,
        });
        assert.deepEqual([run.result.completedCount, run.result.failedCount], [completed, 4 - completed], client);
        assert.ok(
          run.result.failures.some(({ example }) => why.test(example)),
          `${client}: ${JSON.stringify(run.result.failures)}`,
        );
      }
    });
});

test("a response that is not JSON is a failure only where something reads it", async () => {
  answer = (response) => response.end("plain text");
  assert.equal((await runHttp(server.url)).result.completedCount, 4);
  const { result } = await runHttp(server.url, { options: { extract: { a: "a" } } });
  assert.deepEqual([result.failedCount, result.failures[0]?.kind], [4, "unreadable"]);
  assert.match(result.failures[0]?.example ?? "", / JSON, .* begins with "plain text"/);
});

test("a response that the request wants compressed is a success, unless something reads it", async () => {
  answer = (response) => response.writeHead(200, { "Content-Encoding": "gzip" }).end(gzipSync('{"a":1}'));
  const headers = { "Accept-Encoding": "gzip" };
  for (const client of CLIENTS) {
    assert.equal((await runHttp(server.url, { options: { headers }, client })).result.completedCount, 4);
    const { result } = await runHttp(server.url, {
      options: { headers, extract: { a: "a" } },
      client,
    });
    assert.match(result.failures[0]?.example ?? "", /Content-Encoding: gzip/);
  }
});

test("extracted values are in the report, in the records, and in assertions", async () => {
  answer = (response, index) => json(response, { usage: { total: index + 1 }, label: index % 4 === 0 ? "cat" : "dog" });
  using other = await startAnsweringServer((response, index) => answer(response, index));
  const folder = makeFolder();
  const [records, report] = [join(folder, "records.json"), join(folder, "report.json")];
  const run = await runHttp(other.url, {
    options: { extract: { tokens: "usage.total", label: "label", none: "nothing" } },
    requests: 20,
    assert: [
      extracted("tokens").mean().is(10.5),
      extracted("tokens").percentile(50).atMost(11),
      extracted("tokens").max().below(20),
      extracted("none").min().above(0),
      errorRate().is(0),
      throughput().above(0.001),
    ],
    files: { profileExport: records, json: report },
  });
  // A star marks percentiles of too few samples.
  assert.match(run.text, /tokens +10\.5\*? +11\*? +18\* +20\* +20\n/);
  assert.match(run.text, /label +dog 15, cat 5\n/);
  assert.match(run.text, /none +20\n/);
  assert.match(run.text, /^FAILED {2}a test: GET 127\.0\.0\.1:\d+\/ .* 20 requests$/m);
  assert.doesNotMatch(run.text, /infer|model|server avg|prompt/);
  const exported = JSON.parse(await readFile(records, "utf8")) as {
    service_kind: string;
    experiments: { requests: { extracted: unknown }[] }[];
  };
  assert.equal(exported.service_kind, "http");
  assert.deepEqual(exported.experiments[0]?.requests[3]?.extracted, { tokens: 4, label: "dog", none: null });
  const { levels, assertions } = JSON.parse(await readFile(report, "utf8")) as {
    levels: { extracted: Record<string, { numbers?: { confidence95?: Record<string, { low: number | null }> } }> }[];
    assertions: { text: string; isMet: boolean; measured?: { value: number }; reason?: string }[];
  };
  assert.deepEqual(
    assertions
      .slice(0, 4)
      .map(({ text, isMet, measured, reason }) => [text, isMet, measured?.value ?? (reason && "no value")]),
    [
      ["mean tokens = 10.5", true, 10.5],
      ["p50 tokens ≤ 11", true, 11],
      ["max tokens < 20", false, 20],
      ["min none > 0", false, "no value"],
    ],
  );
  assert.match(assertions.at(-1)?.text ?? "", /^throughput > 0\.001 req\/s$/);
  const { confidence95, ...numbers } = levels[0]?.extracted["tokens"]?.numbers ?? {};
  assert.deepEqual(Object.keys(confidence95 ?? {}), ["mean", ...REPORTED_PERCENTILES.map((of) => `p${of}`)]);
  assert.deepEqual(
    { ...levels[0]?.extracted, tokens: { numbers, missing: 0 } },
    {
      tokens: {
        numbers: {
          ...{ count: 20, mean: 10.5, deviation: Math.sqrt(35), min: 1, max: 20 },
          ...{ p1: 1, p5: 2, p10: 3, p25: 6, p50: 11, p75: 15, p90: 18, p95: 19, p99: 20, "p99.9": 20, "p99.99": 20 },
        },
        missing: 0,
      },
      label: { texts: { dog: 15, cat: 5 }, missing: 0 },
      none: { missing: 20 },
    },
  );
});

describe("a mistake is refused before the run, by its setting", () => {
  const cases: readonly (readonly [name: string, url: string, options: object, path: string, message: RegExp])[] = [
    [
      "a wrong expression",
      "h",
      { success: { where: "a ==" } },
      "target.success.where",
      /not a JMESPath .*, at its end/,
    ],
    ["a wrong expression inside", "h", { extract: { x: "a.b c" } }, "target.extract.x", /at character 5$/],
    ["an unknown function", "h", { extract: { x: "lenght(a)" } }, "target.extract.x", /Unknown function: lenght/],
    ["a status", "h", { success: { status: [99] } }, "target.success.status.0", /200/],
    ["a method", "h", { method: "FETCH" }, "target.method", /must be one of GET, HEAD/],
    ["a path without a slash", "h", { path: "x" }, "target.path", /must begin with a slash/],
    ["a path with a space", "h/a b", {}, "target.url", /encode them/],
    ["a fragment", "h/a#b", {}, "target.url", /no #/],
    ["a query and a path", "h/a?b=1", { path: "/c" }, "target.path", /already has a query/],
    ["two bodies", "h", { body: "a", request: () => ({}) }, "target.request", /body is given too/],
    ["a body that is none", "h", { body: 7 }, "target.body", /must be text, bytes/],
    ["distinct without a function", "h", { distinct: 7 }, "target.distinct", /needs a function/],
    ["a header that frames", "h", { headers: { "content-length": "1" } }, "target.headers", /sets content-length/],
    ["an unknown option", "h", { bodi: "x" }, "target.bodi", /not an option/],
    ["HEAD with something to read", "h", { method: "HEAD", extract: { a: "a" } }, "target.method", /no body/],
  ];
  for (const [name, url, options, path, message] of cases)
    test(name, () => {
      assertRefused(() => planOf(url, { options: options as HttpOptions }), path, message);
    });

  test("an assertion on a name that is not extracted, with those that are", () => {
    const run = { options: { extract: { a: "a", b: "b" } }, assert: [extracted("c").mean().above(1)] };
    assert.throws(() => planOf("h", run), /assert\.0: .*\(got c\)\. Use a or b\./);
  });

  for (const [name, make, message] of [
    ["throws", () => JSON.parse("{"), /target\.body.* request 0: throws: /],
    ["returns a promise", () => Promise.resolve("x"), /returns a promise/],
    ["returns a number", () => 7, /returns no body \(got 7\)/],
  ] as const)
    test(`a function that ${name}, before the first request`, async () => {
      const from = server.received.length;
      await assert.rejects(runHttp(server.url, { options: { body: make as () => string } }), message);
      assert.equal(server.received.length, from);
    });

  test("a function that returns a wrong request", async () => {
    for (const [request, message] of [
      [{ bdy: 1 }, /returns an unknown field \(got "?bdy"?\)/],
      [{ path: "x" }, /path that is wrong/],
      [{ method: "FETCH" }, /unknown method/],
      [{ headers: { a: "b\r\nc" } }, /header that cannot be sent/],
      ["x", /returns no request/],
    ] as const)
      await assert.rejects(runHttp(server.url, { options: { request: () => request as object } }), message);
  });
});

test("the plan is printable and names the function", () => {
  function makeBody(n: number): string {
    return `${n}`;
  }
  const plan = planOf("h:1/x", { options: { body: makeBody } });
  assert.deepEqual(JSON.parse(JSON.stringify(plan)), withoutCalls(plan));
  assert.match(JSON.stringify(plan.inputs), /"by":\{"function":"target\.body \(makeBody\) #\d+"\},"returns":"body"/);
  assert.match(JSON.stringify(plan.inputs), /"count":4/, "as many as the load has requests");
});
