import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { word } from "../../../src/plan/messages.ts";
import { RunError } from "../../../src/plan/problem.ts";
import { DEFAULT_TLS } from "../../../src/plan/tls.ts";
import { PAGE_FOUND } from "../../../src/service/response-faults.ts";
import type { Ask, Query } from "../../../src/service/service.ts";
import { createTorchServeChecks, createTorchServeCodec } from "../../../src/service/torchserve/codec.ts";
import { createTorchServeFront } from "../../../src/service/torchserve/front.ts";
import { managementUrlsOf } from "../../../src/service/torchserve/list-models.ts";
import type { TorchServeTargetPlan } from "../../../src/service/torchserve/target.ts";

const bytes = (text: string): Uint8Array => new TextEncoder().encode(text);
const text = (encoded: Uint8Array): string => new TextDecoder().decode(encoded);

function target(change: Partial<TorchServeTargetPlan> = {}): TorchServeTargetPlan {
  return {
    kind: "torchserve",
    url: "host:8080",
    protocol: "http",
    model: "cats",
    modelVersion: "",
    body: { kind: "multipart", part: "data" },
    batchSize: 1,
    isStreaming: false,
    headers: [],
    tls: DEFAULT_TLS,
    ...change,
  };
}

describe("a request", () => {
  test("is a form with the input as its only part", () => {
    const { path, method, headers, payload } = createTorchServeCodec(target()).encode({ bytes: bytes("meow") }, 0);
    assert.deepEqual([path, method], ["/predictions/cats", "POST"]);
    assert.match(headers[0]?.[1] ?? "", /^multipart\/form-data; boundary=-{24}[0-9a-f]{16}$/);
    assert.match(text(payload), /^--\S+\r\nContent-Disposition: form-data; name="data"\r\n\r\nmeow\r\n--\S+--\r\n$/);
  });

  test("is the input itself where the body is raw", () => {
    const body = { kind: "raw", contentType: "image/png" } as const;
    const codec = createTorchServeCodec(target({ body, model: "a b/c", modelVersion: "1.0" }));
    const request = codec.encode({ bytes: bytes("meow") }, 0);
    assert.deepEqual(request.path, "/predictions/a%20b%2Fc/1.0");
    assert.deepEqual(request.headers, [["Content-Type", "image/png"]]);
    assert.equal(text(request.payload), "meow");
  });

  test("that failed has the server's explanation", () => {
    const { explain } = createTorchServeCodec(target());
    const failure = { kind: "http", status: 503, message: "HTTP status 503" } as const;
    const messageOf = (body: string): string => explain(failure, bytes(body)).message;
    const error = '{"code": 503, "type": "InternalServerException", "message": "Prediction failed"}';
    assert.equal(messageOf(error), "HTTP status 503: Prediction failed (InternalServerException)");
    assert.equal(messageOf("upstream is gone"), "HTTP status 503: upstream is gone");
    assert.match(messageOf("<html><title>Bad gateway</title></html>"), new RegExp(`${PAGE_FOUND}: Bad gateway`));
    assert.equal(messageOf(""), "HTTP status 503");
  });
});

describe("a response with status 200", () => {
  const CASES: readonly (readonly [name: string, body: string, reason: RegExp | undefined])[] = [
    ["of JSON", '{"tabby": 0.9}', undefined],
    ["of text", "short", undefined],
    ["without bytes", "", undefined],
    ["of the word code", '{"code": 3, "name": "three"}', undefined],
    ["of another code", '{"code": 503, "message": 3}', undefined],
    ["that is a page", "\n <!doctype html><title>Sign in</title>", /HTML page/],
    [
      "that is TorchServe's error",
      '{\n  "code": 507,\n  "type": "X",\n  "message": "out of memory"\n}',
      /reports an error/,
    ],
  ];
  for (const [name, body, reason] of CASES)
    test(`${name} ${reason === undefined ? "is good" : "is a failure"}, whole and in pieces`, () => {
      const check = createTorchServeChecks()();
      const head = { jsonBytes: 0, isJson: false };
      const encoded = bytes(`x${body}`);
      check.begin(head);
      for (let i = 1; i < encoded.length; i++) check.piece(encoded, i, i + 1);
      for (const fault of [check.whole(encoded, 1, encoded.length, head), check.end()])
        if (reason === undefined) assert.equal(fault, undefined);
        else assert.match(fault?.reason ?? "", reason);
    });
});

/** Answers queries by their method, path and address; what is missing fails with status 404. */
function asker(responses: Readonly<Record<string, string | number>>, asked: string[] = []): Ask {
  return async ({ request, url = "", read }: Query) => {
    const key = `${url}${url === "" ? "" : " "}${request.method} ${request.path}`;
    asked.push(key);
    const answer = responses[key] ?? 404;
    if (typeof answer === "string" && !answer.startsWith("!")) return read(bytes(answer));
    const [status, message] = typeof answer === "number" ? [answer, `HTTP status ${answer}`] : [404, answer.slice(1)];
    throw new RunError("refused", message, "", { failure: { kind: "http", status, message } });
  };
}

const MODELS = '{"models": [{"modelName": "dogs"}, {"modelName": "birds"}]}';
const HEALTHY = { "GET /ping": '{"status": "Healthy"}', "OPTIONS /predictions/cats": "{}" };

describe("before the first request", () => {
  test("the server is asked for its health and for the model", async () => {
    const asked: string[] = [];
    const { warnings, model } = await createTorchServeFront(target(), 8080).setUp(asker(HEALTHY, asked));
    assert.deepEqual(asked, ["GET /ping", "OPTIONS /predictions/cats"]);
    assert.deepEqual([warnings, model.name, model.version], [[], "cats", ""]);
  });

  test("a model that is not there is refused with the names of the others", async () => {
    const missing = { ...HEALTHY, "OPTIONS /predictions/cats": "!Model not found: cats" };
    const refusal = async (responses: Readonly<Record<string, string | number>>): Promise<unknown> =>
      createTorchServeFront(target(), 8080)
        .setUp(asker(responses))
        .catch((error: RunError) => [error.message, error.hint]);
    const page = "host:8081 GET /models?limit=100";
    assert.deepEqual(await refusal({ ...missing, [page]: MODELS }), [
      "Model not found: cats",
      "The server has birds, dogs.",
    ]);
    assert.deepEqual(await refusal({ ...missing, [page]: '{"models": []}' }), [
      "Model not found: cats",
      "The server has no model. Register one with its management API.",
    ]);
    assert.deepEqual(await refusal(missing), [
      "Model not found: cats",
      "Check the model's name and version, and that the server has loaded it.",
    ]);
  });

  test("a gateway that knows neither query is measured all the same", async () => {
    const { warnings } = await createTorchServeFront(target(), 8080).setUp(asker({ "OPTIONS /predictions/cats": 405 }));
    assert.deepEqual(warnings, []);
  });

  test("a server that is not healthy is measured with a warning", async () => {
    const warningsOf = async (ping: string | number): Promise<readonly string[]> =>
      (await createTorchServeFront(target(), 8080).setUp(asker({ ...HEALTHY, "GET /ping": ping }))).warnings.map(
        (text) => word(text),
      );
    assert.match((await warningsOf('{"status": "Partial Healthy"}')).join(), /reports that it is Partial Healthy/);
    assert.match((await warningsOf(500)).join(), /health check has HTTP status 500/);
  });

  test("a server that cannot be reached is an error", async () => {
    const away: Ask = () => Promise.reject(new RunError("unreachable", "connection refused", ""));
    await assert.rejects(createTorchServeFront(target(), 8080).setUp(away), /connection refused/);
  });
});

test("models are listed page by page", async () => {
  const ask = asker({
    "host:8081 GET /models?limit=100": '{"models": [{"modelName": "z"}], "nextPageToken": "1"}',
    "host:8081 GET /models?limit=100&next_page_token=1": '{"models": [{"modelName": "a"}]}',
  });
  const models = await createTorchServeFront(target(), 8080).listModels(ask);
  assert.deepEqual(
    models.map(({ name }) => name),
    ["a", "z"],
  );
});

test("the management API is at the next port or the server's own, or where the target says", () => {
  const CASES: readonly (readonly [url: string, expected: readonly (string | undefined)[]])[] = [
    ["host", ["host:8081", undefined]],
    ["host:9000", ["host:9001", undefined]],
    ["[::1]:9000", ["[::1]:9001", undefined]],
    ["http://host:9000/prefix", ["http://host:9001", undefined]],
    ["https://host", [undefined]],
  ];
  for (const [url, expected] of CASES) assert.deepEqual(managementUrlsOf({ url }, 8080), expected, url);
  assert.deepEqual(managementUrlsOf({ url: "a:1", managementUrl: "b:2" }, 8080), ["b:2"]);
});

test("models are listed by the server's own address when nothing lists them at the next port", async () => {
  const front = createTorchServeFront(target(), 8080);
  const models = await front.listModels(asker({ "GET /models?limit=100": MODELS }));
  assert.deepEqual(
    models.map(({ name }) => name),
    ["birds", "dogs"],
  );
  const asked: string[] = [];
  const nowhere: Ask = ({ url = "own" }) => {
    asked.push(url);
    return Promise.reject(new RunError("unreachable", `refused by ${url}`, ""));
  };
  await assert.rejects(front.listModels(nowhere), /refused by host:8081/);
  assert.deepEqual(asked, ["host:8081", "own"]);
});
