import assert from "node:assert/strict";
import { readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { describe, test } from "node:test";
import type { Plan } from "../../../src/plan/plan.ts";
import { checkPlan } from "../../../src/registry/check-plan.ts";
import { ProfileExport } from "../../../src/report/profile-export.ts";
import type { RunResult } from "../../../src/result/run-result.ts";
import { startPlan } from "../../../src/run/run-plan.ts";
import type { OpenAiTargetPlan } from "../../../src/service/openai/target.ts";
import { makeFolder } from "../../make-folder.ts";
import { makeOpenAiTarget, makePlan } from "../../plan/make-plan.ts";
import { type Answer, endLater, startAnsweringServer } from "../../servers/answering-server.ts";
import { LIMIT } from "../../time-limit.ts";

/** Runs against servers that take payloads: what is sent, what is exported, and how failures are counted. */

const EVENTS = { "Content-Type": "text/event-stream" };

interface Ran {
  readonly result: RunResult;
  /** The exported requests of the only experiment. */
  readonly requests: readonly {
    readonly timestamp: number;
    readonly request_inputs: { readonly payload: string };
    readonly response_timestamps: readonly number[];
    readonly response_outputs: readonly { readonly response: string }[];
  }[];
  readonly about: { readonly service_kind: string; readonly endpoint: string };
  readonly received: readonly { readonly line: string; readonly body: string; readonly authorization: string }[];
}

function targetAt(url: string): OpenAiTargetPlan {
  return makeOpenAiTarget(url, { headers: [["Authorization", "Bearer t"]] });
}

/** Sends two payloads in turn until eight requests are answered. */
async function run(answer: Answer): Promise<Ran> {
  const folder = makeFolder();
  using server = await startAnsweringServer(answer);
  const file = join(folder, "inputs.json");
  const profileExportFile = join(folder, "export.json");
  await writeFile(file, JSON.stringify({ data: [{ payload: [{ n: 1 }] }, { payload: [{ n: 2 }] }] }));
  const plan: Plan = {
    ...makePlan({
      measurement: { mode: { kind: "requests", count: 8 } },
      client: { callMode: "async" },
      outputs: { style: "genai-perf", files: { profileExport: profileExportFile } },
      behaviour: { skipsRunCounters: true },
    }),
    target: targetAt(server.url),
    inputs: { kind: "payloads", file },
  };
  checkPlan(plan);
  const report = new ProfileExport(plan, { out: () => {}, err: () => {} }, profileExportFile);
  const running = startPlan(plan, { openObserver: () => Promise.resolve(report), check: () => Promise.resolve() });
  const result = await running.result;
  report.finish(result);
  const about = JSON.parse(await readFile(profileExportFile, "utf8"));
  const received = server.received.map(({ method, path, headers, text }) => ({
    line: `${method} ${path}`,
    body: text,
    authorization: headers.authorization ?? "",
  }));
  return { result, requests: about.experiments[0].requests, about, received };
}

describe("payloads", () => {
  test("each event is exported with its time, each request with its payload", LIMIT, async () => {
    const { result, requests, about, received } = await run((response) => {
      response.writeHead(200, EVENTS);
      response.write('data: {"n":"a"}\n\n');
      endLater(response, 'data: {"n":"b"}\n\ndata: [DONE]\n\n');
    });
    assert.deepEqual([result.completedCount, result.failedCount], [8, 0]);
    assert.deepEqual([about.service_kind, about.endpoint], ["openai", "v1/chat/completions"]);
    const once = { line: "POST /v1/chat/completions", authorization: "Bearer t" };
    assert.deepEqual(received.slice(0, 2), [
      { ...once, body: '{"n":1}' },
      { ...once, body: '{"n":2}' },
    ]);
    assert.equal(requests.length, 8);
    for (const { request_inputs, response_outputs, response_timestamps, timestamp } of requests) {
      assert.match(request_inputs.payload, /^\{"n":[12]\}$/);
      assert.deepEqual(
        response_outputs.map(({ response }) => response),
        ['data: {"n":"a"}\n\n', 'data: {"n":"b"}\n\n', "data: [DONE]\n\n"],
      );
      const [first = 0, second = 0, third = 0] = response_timestamps;
      // Two events of one read are nanoseconds apart, which a JavaScript number of this size does not hold.
      assert.ok(timestamp < first && first < second && second <= third, `${timestamp} ${response_timestamps}`);
    }
  });

  test("a response in one piece is one response", LIMIT, async () => {
    const { requests } = await run((response) => response.writeHead(200).end('{"choices":[]}'));
    assert.deepEqual(
      requests.map(({ response_outputs }) => response_outputs),
      Array.from({ length: 8 }, () => [{ response: '{"choices":[]}' }]),
    );
  });

  const faults: readonly (readonly [name: string, answer: Answer, message: RegExp])[] = [
    [
      "an error's status",
      (response) => response.writeHead(500).end('{"error":{"message":"boom"}}'),
      /HTTP status 500: boom/,
    ],
    [
      "an error within a stream",
      (response) =>
        response.writeHead(200, EVENTS).end('data: {"n":"a"}\n\ndata: {"error":{"message":"no memory"}}\n\n'),
      /error within its response: no memory/,
    ],
    [
      "a stream that is cut off",
      (response) => {
        response.writeHead(200, EVENTS);
        response.write('data: {"n":"a"}\n\n', () => response.destroy());
      },
      /closed/,
    ],
  ];
  for (const [name, fault, message] of faults) {
    test(`${name} is a failed request with an explanation, and the run continues`, LIMIT, async () => {
      const { result, requests } = await run((response, index) => {
        if (index % 4 === 1) fault(response, index);
        else response.writeHead(200, EVENTS).end('data: {"n":"a"}\n\n');
      });
      assert.equal(result.sentCount, result.completedCount + result.failedCount);
      assert.equal(result.failedCount, 2);
      assert.equal(requests.length, result.completedCount);
      const told = result.failures.map(({ example }) => example).join();
      assert.match(told, message);
    });
  }

  test("payloads and servers that take them belong together", () => {
    const target = targetAt("localhost:1");
    const plan = makePlan();
    assert.throws(() => checkPlan({ ...plan, target }), /inputs\.kind/);
    assert.throws(() => checkPlan({ ...plan, inputs: { kind: "payloads", file: "x" } }), /inputs\.kind/);
    const bad = { ...target, endpoint: "a b", url: "", batchSize: 2 as 1 };
    assert.throws(
      () => checkPlan({ ...plan, target: bad, inputs: { kind: "payloads", file: "x" } }),
      /target\.url.*target\.endpoint.*target\.batchSize/s,
    );
  });
});
