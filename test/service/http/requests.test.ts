import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { after, before, describe, test } from "node:test";
import { promisify } from "node:util";
import type { RequestBody } from "../../../src/inputs/request-bodies.ts";
import { fileBody, type HttpOptions, multipart } from "../../../src/scenario/targets/http.ts";
import { HTTP_METHODS } from "../../../src/transport/request.ts";
import { makeFolder } from "../../make-folder.ts";
import { type AnsweringServer, type ReceivedRequest, startAnsweringServer } from "../../servers/answering-server.ts";
import { runHttp } from "./run-http.ts";

/** What http(…) sends, against Node's own server, beside undici and curl. */

const BYTES = Uint8Array.from({ length: 1000 }, (_, index) => (index * 7) % 256);
let server: AnsweringServer;
const folder = makeFolder();

before(async () => {
  server = await startAnsweringServer((response) => response.end("ok"));
  await writeFile(join(folder, "image.png"), BYTES);
  await writeFile(join(folder, "body.json"), '{ "a": 1.0 }\n');
});

after(() => server.close());

/** Sends four requests and returns what the server got. */
async function sent(options: HttpOptions, client: "own" | "undici" = "own"): Promise<readonly ReceivedRequest[]> {
  const from = server.received.length;
  const { result, text } = await runHttp(`${server.url}/p?q=1`, { options, client, folder });
  assert.deepEqual([result.completedCount, result.failedCount], [4, 0], text);
  const received = server.received.slice(from);
  assert.equal(received.length, 4);
  return received;
}

const FORM_HEAD = "------------------------0000000000000001";
const forms: readonly (readonly [name: string, body: RequestBody, type: string, bytes: Uint8Array | string])[] = [
  ["text", "grüße", "text/plain; charset=utf-8", "grüße"],
  ["an empty text", "", "text/plain; charset=utf-8", ""],
  ["an object", { b: [1, null], a: "x" }, "application/json", '{"b":[1,null],"a":"x"}'],
  ["a list", [1, { c: true }], "application/json", '[1,{"c":true}]'],
  ["bytes", BYTES, "application/octet-stream", BYTES],
  ["a file, as it is", fileBody("body.json"), "application/json", '{ "a": 1.0 }\n'],
  ["a file with a type of its own", fileBody("image.png", { type: "image/x" }), "image/x", BYTES],
  [
    "a form",
    multipart({ model: "m", n: 2, image: fileBody("image.png", { name: "cat.png" }) }),
    `multipart/form-data; boundary=${FORM_HEAD}`,
    Buffer.concat([
      Buffer.from(
        `--${FORM_HEAD}\r\nContent-Disposition: form-data; name="model"\r\n\r\nm\r\n` +
          `--${FORM_HEAD}\r\nContent-Disposition: form-data; name="n"\r\n\r\n2\r\n` +
          `--${FORM_HEAD}\r\nContent-Disposition: form-data; name="image"; filename="cat.png"\r\nContent-Type: image/png\r\n\r\n`,
      ),
      BYTES,
      Buffer.from(`\r\n--${FORM_HEAD}--\r\n`),
    ]),
  ],
];

describe("a body arrives byte by byte, with its type, from both clients", () => {
  for (const [name, body, type, bytes] of forms)
    test(name, async () => {
      for (const client of ["own", "undici"] as const)
        for (const request of await sent({ body }, client)) {
          assert.deepEqual([request.method, request.path], ["POST", "/p?q=1"]);
          assert.equal(request.headers["content-type"], type);
          assert.equal(request.headers["content-length"], String(Buffer.from(bytes).length));
          assert.deepEqual(Buffer.from(request.bytes), Buffer.from(bytes), client);
        }
    });
});

test("curl sends the same bytes of a file and the same fields of a form", async () => {
  const from = server.received.length;
  const curl = (...args: string[]) => promisify(execFile)("curl", ["-sS", ...args, server.url], { cwd: folder });
  await curl("--data-binary", "@image.png");
  await curl("-F", "model=m", "-F", "image=@image.png;type=image/png");
  const [curlFile, curlForm] = server.received.slice(from) as [ReceivedRequest, ReceivedRequest];
  const [ownFile] = await sent({ body: fileBody("image.png") });
  const [ownForm] = await sent({ body: multipart({ model: "m", image: fileBody("image.png") }) });
  assert.deepEqual(ownFile?.bytes, curlFile.bytes);
  const withoutBoundary = ({ bytes, headers }: ReceivedRequest): string => {
    const boundary = /boundary=(.*)$/.exec(headers["content-type"] ?? "")?.[1] ?? "";
    return Buffer.from(bytes).toString("latin1").replaceAll(boundary, "BOUNDARY");
  };
  assert.equal(withoutBoundary(ownForm as ReceivedRequest), withoutBoundary(curlForm));
});

describe("a function of the request's number makes", () => {
  test("each body in order, the same in every run, whatever the concurrency", async () => {
    for (const client of ["own", "undici"] as const) {
      const received = await sent({ body: (n) => ({ n }) }, client);
      assert.deepEqual(
        received.map(({ text }) => text),
        ['{"n":0}', '{"n":1}', '{"n":2}', '{"n":3}'],
      );
    }
    const from = server.received.length;
    await runHttp(server.url, { options: { body: (n) => `${n}` }, requests: 40, concurrency: 8 });
    const numbers = server.received.slice(from).map(({ text }) => Number(text));
    assert.deepEqual(
      numbers.sort((a, b) => a - b),
      Array.from({ length: 40 }, (_, n) => n),
    );
  });

  test("the requests again after the distinct ones", async () => {
    const received = await sent({ body: (n) => `${n}`, distinct: 3 });
    assert.deepEqual(
      received.map(({ text }) => text),
      ["0", "1", "2", "0"],
    );
  });

  test("method, path, headers and body, where each may be left out", async () => {
    const received = await sent({
      headers: { "X-All": "a", "X-Own": "target" },
      request: (n) => (n % 2 === 0 ? { path: `/items/${n}`, method: "GET" } : { headers: { "x-own": "o" }, body: "b" }),
    });
    assert.deepEqual(
      received.map(({ method, path, text, headers }) => [method, path, text, headers["x-all"], headers["x-own"]]),
      [
        ["GET", "/items/0", "", "a", "target"],
        ["POST", "/p?q=1", "b", "a", "o"],
        ["GET", "/items/2", "", "a", "target"],
        ["POST", "/p?q=1", "b", "a", "o"],
      ],
    );
  });
});

test("each method reaches the server, with and without a body", async () => {
  for (const method of HTTP_METHODS)
    for (const client of ["own", "undici"] as const) {
      for (const request of await sent({ method }, client))
        assert.deepEqual([request.method, request.text], [method, ""]);
      if (method === "HEAD") continue;
      for (const request of await sent({ method, body: "x" }, client))
        assert.deepEqual([request.method, request.text], [method, "x"], client);
    }
});

test("without a body the method is GET, and headers replace those of the client", async () => {
  for (const client of ["own", "undici"] as const) {
    const headers = { Host: "model.example", "User-Agent": "me", accept: "text/x", "content-type": "a/b" };
    const [request] = await sent({ headers }, client);
    assert.equal(request?.method, "GET");
    const { host, "user-agent": agent, accept, "content-type": type } = request?.headers ?? {};
    assert.deepEqual([host, agent, accept, type], ["model.example", "me", "text/x", "a/b"], client);
    const [typed] = await sent({ headers: { "Content-Type": "a/b" }, body: {} }, client);
    assert.equal(typed?.headers["content-type"], "a/b");
  }
});

test("several servers share the requests, and a path in the options follows the address", async () => {
  using other = await startAnsweringServer((response) => response.end());
  const from = server.received.length;
  await runHttp([`${server.url}/api/`, `${other.url}/api`], { options: { path: "/v1/x" }, requests: 10 });
  const paths = [...server.received.slice(from), ...other.received].map(({ path }) => path);
  assert.deepEqual([...new Set(paths)], ["/api/v1/x"]);
  assert.deepEqual([server.received.length - from, other.received.length], [5, 5]);
});
