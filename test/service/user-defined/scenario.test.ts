import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, test } from "node:test";
import { findExtracted } from "../../../src/measure/extracted-tally.ts";
import { withoutCalls } from "../../../src/plan/functions.ts";
import { UserError } from "../../../src/plan/problem.ts";
import type { FailedRequest } from "../../../src/result/request-record.ts";
import type { RunResult } from "../../../src/result/run-result.ts";
import { startPlan } from "../../../src/run/run-plan.ts";
import { extracted } from "../../../src/scenario/assertions.ts";
import { defineScenario, type Scenario } from "../../../src/scenario/define.ts";
import { hold } from "../../../src/scenario/loads/concurrency.ts";
import { sessions } from "../../../src/scenario/loads/sessions.ts";
import { defineTarget } from "../../../src/scenario/targets/custom.ts";
import { toPlan } from "../../../src/scenario/to-plan.ts";
import { HTTP_METHODS, type HttpMethod } from "../../../src/transport/request.ts";
import { createFolder, ROOT, runRampart } from "../../cli/rampart-process.ts";
import { type AnsweringServer, startAnsweringServer } from "../../servers/answering-server.ts";
import { startGrpcAnsweringServer } from "../../servers/grpc-answering-server.ts";
import { LIMIT } from "../../time-limit.ts";

/** Targets that a scenario defines itself: what is sent, what its functions get, and how their errors count. */

interface Ran {
  readonly result: RunResult;
  readonly failures: readonly FailedRequest["failure"][];
}

/** Runs a scenario in this process. */
async function run(scenario: Scenario): Promise<Ran> {
  const plan = toPlan(scenario, process.cwd());
  assert.deepEqual(JSON.parse(JSON.stringify(plan)), withoutCalls(plan), "a plan is printable");
  const failures: FailedRequest["failure"][] = [];
  const observer = { onFailed: ({ failure }: FailedRequest) => void failures.push(failure) };
  const running = startPlan(plan, { openObserver: () => Promise.resolve(observer), check: () => Promise.resolve() });
  return { result: await running.result, failures };
}

interface Call {
  readonly id: number;
  readonly params: { readonly text: string };
}

/** A server of JSON-RPC that classifies reviews. `fail` is an error with the status 200, `crash` one of HTTP. */
async function withRpc(use: (server: AnsweringServer) => Promise<void>): Promise<void> {
  using server = await startAnsweringServer((response, index) => {
    const { id, params } = JSON.parse(server.received[index]?.text ?? "{}") as Call;
    if (params.text === "crash") response.writeHead(500).end("the model crashed");
    else if (params.text === "fail") response.end(JSON.stringify({ id, error: { message: "no such model" } }));
    else {
      const label = /broke/.test(params.text) ? "bad" : "good";
      response.end(JSON.stringify({ id, result: { label, score: label === "good" ? 0.9 : 0.6 } }));
    }
  });
  await use(server);
}

interface Result {
  readonly label: string;
  readonly score: number;
}

let encodedCount = 0;
const rpc = defineTarget({
  name: "rpc",
  encode: (text: string, index) => {
    encodedCount++;
    return { path: "/rpc?v=1", headers: { "X-Index": String(index) }, body: { id: index, params: { text } } };
  },
  decode: (answer) => {
    const { result, error } = answer.json() as { result?: Result; error?: { message: string } };
    if (result === undefined) throw new Error(error?.message);
    return result;
  },
  check: ({ label }, text) => label === "good" || `${label}: ${text}`,
  extract: { score: ({ score }) => score, label: ({ label }) => label },
});

describe("a target of the scenario's own", () => {
  test("encodes each input once, sends its bytes in turn, and has statistics of what it extracts", LIMIT, () =>
    withRpc(async (server) => {
      encodedCount = 0;
      const { result } = await run(
        defineScenario({
          name: "x",
          target: rpc(server.url, { inputs: ["a", "b"], headers: { "X-All": "1" } }),
          load: hold(2, { requests: 20 }),
          assert: [extracted("score").min().atLeast(0.5)],
        }),
      );
      assert.equal(encodedCount, 2);
      assert.deepEqual([result.completedCount, result.failedCount, server.received.length], [20, 0, 20]);
      const texts = new Map<string, number>();
      for (const { method, path, headers, text } of server.received) {
        assert.deepEqual(
          [method, path, headers["content-type"], headers["x-all"]],
          ["POST", "/rpc?v=1", "application/json", "1"],
        );
        assert.equal(
          text,
          JSON.stringify({ id: Number(headers["x-index"]), params: { text: "ab"[Number(headers["x-index"])] } }),
        );
        texts.set(text, (texts.get(text) ?? 0) + 1);
      }
      assert.deepEqual([...texts.values()], [10, 10]);
      const window = result.levels[0]?.window;
      const score = findExtracted(window?.extracted, "score")?.numbers;
      assert.deepEqual([score?.count, score?.mean], [20, 0.9]);
      assert.deepEqual(findExtracted(window?.extracted, "label")?.texts, [["good", 20]]);
      assert.match(result.prepared.warnings.join(), /own code \(decode, check, extract\) reads every response/);
    }),
  );

  for (const [text, kind, message] of [
    ["fail", "unreadable", /^decode of rpc throws: no such model \(scenario\.test\.ts:\d+\)$/],
    ["it broke", "validation", /^bad: it broke$/],
    ["crash", "http", /^HTTP status 500: the model crashed$/],
  ] as const)
    test(`counts a response to ‘${text}’ as failed, with its reason`, LIMIT, () =>
      withRpc(async (server) => {
        const target = rpc(server.url, { inputs: ["a", text] });
        const { result, failures } = await run(
          defineScenario({ name: "x", target, load: hold(1, { requests: 6 }), maxErrorRate: "100 %" }),
        );
        assert.deepEqual([result.completedCount, result.failedCount], [3, 3]);
        assert.equal(failures.length, 3);
        for (const failure of failures) {
          assert.equal(failure.kind, kind);
          assert.match(failure.message, message);
        }
      }),
    );

  test("does not call decode when nothing asks for the content", LIMIT, () =>
    withRpc(async (server) => {
      let count = 0;
      const blind = defineTarget({
        name: "blind",
        encode: (text: string) => ({ path: "/", body: JSON.stringify({ params: { text } }) }),
        decode: () => count++,
      });
      const target = blind(server.url, { inputs: ["a"] });
      const { result } = await run(defineScenario({ name: "x", target, load: hold(1, { requests: 4 }) }));
      assert.deepEqual([result.completedCount, result.failedCount, count], [4, 0, 0]);
      assert.deepEqual(result.prepared.warnings, []);
    }),
  );

  test("takes inputs from an endless generator, as many as count", LIMIT, () =>
    withRpc(async (server) => {
      const inputs = async function* () {
        for (let number = 0; ; number++) yield `text ${number}`;
      };
      const target = rpc(server.url, { inputs, count: 3 });
      await run(defineScenario({ name: "x", target, load: hold(1, { requests: 7 }) }));
      const texts = server.received.map(({ text }) => (JSON.parse(text) as Call).params.text);
      assert.deepEqual(texts, ["text 0", "text 1", "text 2", "text 0", "text 1", "text 2", "text 0"]);
    }),
  );

  test("sends unary gRPC calls with messages that it encodes itself", LIMIT, async () => {
    const called: string[] = [];
    using server = await startGrpcAnsweringServer({
      Double: ([tag, value = 0]) => {
        called.push(`${tag}:${value}`);
        return value === 9 ? 3 : [Uint8Array.of(8, value * 2)];
      },
    });
    const double = defineTarget({
      name: "double",
      protocol: "grpc",
      encode: (value: number) => ({
        method: "math.Math/Double",
        message: Uint8Array.of(8, value),
        metadata: { "X-Model": "m" },
      }),
      decode: ({ bytes }) => bytes[1] ?? 0,
      check: (output, input) => output === input * 2,
      extract: { output: (output) => output },
    });
    const target = double(server.url, { inputs: [3, 4, 9] });
    const { result, failures } = await run(
      defineScenario({ name: "x", target, load: hold(2, { requests: 12 }), maxErrorRate: "100 %" }),
    );
    assert.deepEqual([result.completedCount, result.failedCount, called.length], [8, 4, 12]);
    assert.deepEqual(new Set(failures.map(({ kind, status }) => `${kind} ${status}`)), new Set(["grpc 3"]));
    assert.equal(findExtracted(result.levels[0]?.window.extracted, "output")?.numbers.mean, 7);
  });

  test("sends calls with several messages each way, and gets every message", LIMIT, async () => {
    using server = await startGrpcAnsweringServer({ Echo: (message) => [message, message] });
    const echo = defineTarget({
      name: "echo",
      protocol: "grpc",
      streaming: true,
      encode: (values: readonly number[]) => ({
        method: "a.B/Echo",
        messages: values.map((value) => Uint8Array.of(8, value)),
      }),
      decode: ({ parts }) => parts.map((part) => part[1]),
      check: (output, input) => output.join() === input.flatMap((value) => [value, value]).join(),
      extract: { messages: (output) => output.length },
    });
    const target = echo(server.url, { inputs: [[1, 2, 3], [4]] });
    const { result, failures } = await run(defineScenario({ name: "x", target, load: hold(2, { requests: 8 }) }));
    assert.deepEqual(failures, []);
    assert.deepEqual([result.completedCount, server.called.length], [8, 8]);
    assert.equal(findExtracted(result.levels[0]?.window.extracted, "messages")?.numbers.mean, 4);
  });

  test("sends every method that http(…) sends, by default POST with a body and GET without", LIMIT, async () => {
    using server = await startAnsweringServer((response) => response.end());
    const methods = defineTarget({
      name: "methods",
      encode: (method: HttpMethod | "") => ({ path: "/", ...(method === "" ? { body: "b" } : { method }) }),
    });
    const target = methods(server.url, { inputs: [...HTTP_METHODS, ""] });
    const count = HTTP_METHODS.length + 1;
    const { result } = await run(defineScenario({ name: "x", target, load: hold(1, { requests: count }) }));
    assert.deepEqual([result.completedCount, result.failedCount], [count, 0]);
    assert.deepEqual(
      server.received.map(({ method }) => method),
      [...HTTP_METHODS, "POST"],
    );
  });

  test("explains an error status by the response: its text on one line, or its length in bytes", LIMIT, async () => {
    const responses: Readonly<Record<string, string | Uint8Array>> = {
      "/text": "no such\n  model",
      "/bytes": Uint8Array.of(0xff, 0xfe),
      "/nothing": "",
    };
    using server = await startAnsweringServer((response, index) => {
      response.writeHead(404).end(responses[server.received[index]?.path ?? ""]);
    });
    const paths = defineTarget({ name: "paths", encode: (path: string) => ({ path }) });
    const target = paths(server.url, { inputs: Object.keys(responses) });
    const { failures } = await run(defineScenario({ name: "x", target, load: hold(1, { requests: 3 }) }));
    assert.deepEqual(
      failures.map(({ message }) => message),
      ["HTTP status 404: no such model", "HTTP status 404: 2 bytes", "HTTP status 404"],
    );
  });

  test("gets every event of a stream", LIMIT, async () => {
    using server = await startAnsweringServer((response) => {
      response.writeHead(200, { "Content-Type": "text/event-stream" }).end("data: 1\n\ndata: 2\n\n");
    });
    const stream = defineTarget({
      name: "stream",
      encode: (path: string) => ({ path }),
      extract: { events: ({ parts }) => parts.length, bytes: (answer) => answer.text().length },
    });
    const target = stream(server.url, { inputs: ["/a"] });
    const { result } = await run(defineScenario({ name: "x", target, load: hold(1, { requests: 2 }) }));
    const { extracted: values } = result.levels[0]?.window ?? {};
    assert.deepEqual(
      [findExtracted(values, "events")?.numbers.mean, findExtracted(values, "bytes")?.numbers.mean],
      [2, 18],
    );
    assert.equal(server.received[0]?.method, "GET");
  });
});

describe("mistakes in the functions end the run before the first request", () => {
  const cases: readonly (readonly [
    name: string,
    encode: (input: string) => unknown,
    inputs: unknown,
    message: RegExp,
  ])[] = [
    [
      "encode throws",
      (input) => {
        throw new Error(`cannot encode ${input}`);
      },
      ["a"],
      /target\.encode, input 0: throws: cannot encode a \(scenario\.test\.ts:\d+\)/,
    ],
    ["encode returns nothing", () => undefined, ["a"], /target\.encode, input 0: returns no request/],
    ["the path is not one", () => ({ path: "rpc" }), ["a"], /returns a path that is wrong: it must begin with a slash/],
    ["the method is none", () => ({ path: "/", method: "SEND" }), ["a"], /method that is none of GET, .* \(got SEND\)/],
    ["the path has a letter beyond ASCII", () => ({ path: "/é" }), ["a"], /encode them with % \(got \/é\)/],
    ["a header has a line break", () => ({ path: "/", headers: { A: "b\nc" } }), ["a"], /header that is not valid/],
    ["the body is a number", () => ({ path: "/", body: 1 }), ["a"], /neither bytes, text nor an object/],
    ["the generator has nothing", () => ({ path: "/" }), () => [], /target\.inputs: has no input/],
    [
      "the generator throws",
      () => ({ path: "/" }),
      function* () {
        yield "a";
        throw new Error("no more");
      },
      /target\.inputs: throws: no more/,
    ],
  ];
  for (const [name, encode, inputs, message] of cases)
    test(name, LIMIT, () =>
      withRpc(async (server) => {
        const target = defineTarget({ name: "x", encode: encode as () => { path: string } })(server.url, {
          inputs: inputs as string[],
        });
        await assert.rejects(run(defineScenario({ name: "x", target, load: hold(1, { requests: 2 }) })), (error) => {
          assert.ok(error instanceof UserError);
          assert.match(error.message, message);
          return true;
        });
        assert.equal(server.received.length, 0);
      }),
    );

  for (const method of ["C", "a.B", "a..B/C", "/a.B/C/D", ".B/C", "a.B/1"])
    test(`no gRPC method: ${method}`, async () => {
      const target = defineTarget({
        name: "x",
        protocol: "grpc",
        encode: () => ({ method, message: new Uint8Array(0) }),
      })("127.0.0.1:1", { inputs: ["a"] });
      await assert.rejects(
        run(defineScenario({ name: "x", target, load: hold(1, { requests: 1 }) })),
        /returns no method such as package\.Service\/Method/,
      );
    });

  test("sessions are refused with the reason", () => {
    const target = defineTarget({ name: "x", encode: () => ({ path: "/" }) })("h:1", { inputs: ["a"] });
    assert.throws(
      () => toPlan(defineScenario({ name: "x", target, load: sessions(2) }), "/"),
      /the requests of defineTarget\(…\) are all encoded before the first one is sent.*openai\(…\)/,
    );
  });

  test("wrong options are refused all at once", () => {
    const bad = { name: "", encode: 1, check: "x", inputs: [], extract: { a: 2 } } as unknown as {
      encode: () => never;
    };
    const target = defineTarget(bad as never)("h:1", {} as never);
    assert.throws(
      () => toPlan(defineScenario({ name: "x", target, load: hold(1, { requests: 1 }) }), "/"),
      (error) => {
        assert.ok(error instanceof UserError);
        assert.deepEqual(error.problems.map(({ path }) => path).sort(), [
          "target.check",
          "target.encode",
          "target.extract.a",
          "target.inputs",
          "target.name",
        ]);
        return true;
      },
    );
  });
});

test("the example of the guide measures a JSON-RPC server", LIMIT, () =>
  withRpc(async (server) => {
    using folder = createFolder({});
    const file = join(ROOT, "scenarios/own-protocol.ts");
    const { code, out, err } = await runRampart(["run", file, "--url", server.url, "--json", "r.json"], {
      cwd: folder.path,
    });
    // Whether the limit of latency is kept depends on the machine.
    assert.ok([0, 65, 66].includes(code ?? -1), out + err);
    assert.match(out, /^[A-Z]+ {2}reviews: sentiment by JSON-RPC on http:\/\/127\.0\.0\.1:\d+ over http$/m);
    assert.match(out, /^concurrency +req\/s /m);
    assert.match(out, /^ +4 +label +good 200, bad 100$/m);
    assert.doesNotMatch(out, /prompts|prefix cache/);
    assert.equal(out.match(/^ {2}(pass|FAIL|unresolved) .*latency|^ {2}pass /gm)?.length, 3);
    assert.equal(server.received.length, 300);
    assert.match(readFileSync(join(folder.path, "r.json"), "utf8"), /"score"/);
  }),
);
