import assert from "node:assert/strict";
import { existsSync, lstatSync, readdirSync, readFileSync } from "node:fs";
import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import { type AddressInfo, createServer as listen } from "node:net";
import { join } from "node:path";
import { after, test } from "node:test";
import { RunError, UserError } from "../../src/plan/problem.ts";
import { loadTokenizer } from "../../src/tokenize/load-tokenizer.ts";
import { makeFolder } from "../make-folder.ts";

/** The download from the hub into its cache, against small servers that answer as the hub does. */

const TINY = join(import.meta.dirname, "fixtures", "tiny");
const COMMIT = "89abcdef0123456789abcdef0123456789abcdef";
const TOKEN = "hf_secret";
const folder = makeFolder();
const servers: Server[] = [];
after(() => {
  for (const server of servers) {
    server.close();
    server.closeAllConnections();
  }
});

type Answer = (request: IncomingMessage, response: ServerResponse) => void;

async function serve(answer: Answer): Promise<string> {
  const server = createServer(answer);
  servers.push(server);
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}

function environment(cache: string, endpoint: string): Record<string, string> {
  return { HF_HUB_CACHE: join(folder, cache), HF_ENDPOINT: endpoint, HF_TOKEN: TOKEN };
}

function filesBelow(path: string): string[] {
  if (!existsSync(path)) return [];
  return readdirSync(path, { withFileTypes: true, recursive: true })
    .filter((entry) => !entry.isDirectory())
    .map((entry) =>
      join(entry.parentPath, entry.name)
        .slice(path.length + 1)
        .replaceAll("\\", "/"),
    )
    .sort();
}

test("a model is fetched once, into the cache's own layout; its token goes to the endpoint only", async () => {
  const asked: string[] = [];
  const storage = await serve(({ url = "", headers }, response) => {
    asked.push(`storage ${url} ${headers.authorization ?? "no token"}`);
    response.end(readFileSync(join(TINY, "tokenizer.json")));
  });
  const endpoint = await serve(({ url = "", headers }, response) => {
    asked.push(`hub ${url} ${headers.authorization ?? "no token"}`);
    response.setHeader("X-Repo-Commit", COMMIT);
    if (url.endsWith("/tokenizer.json")) {
      response.setHeader("X-Linked-Etag", '"feed01"');
      response.setHeader("ETag", '"of-the-redirect"');
      response.writeHead(302, { location: `${storage}/blob?x=1` }).end();
    } else if (url.startsWith("/moved/")) {
      response.setHeader("ETag", 'W/"cafe02"');
      response.end(readFileSync(join(TINY, "tokenizer_config.json")));
    } else {
      response.writeHead(307, { location: `/moved${url}` }).end();
    }
  });
  const env = environment("layout", endpoint);
  const tokenizer = await loadTokenizer("org/model", { env, revision: "refs/pr/7" });
  assert.equal(tokenizer.decode(tokenizer.encode("Hi there")), "Hi there");
  assert.deepEqual(asked, [
    `hub /org/model/resolve/refs%2Fpr%2F7/tokenizer.json Bearer ${TOKEN}`,
    "storage /blob?x=1 no token",
    `hub /org/model/resolve/refs%2Fpr%2F7/tokenizer_config.json Bearer ${TOKEN}`,
    `hub /moved/org/model/resolve/refs%2Fpr%2F7/tokenizer_config.json Bearer ${TOKEN}`,
  ]);
  const model = join(folder, "layout", "models--org--model");
  assert.deepEqual(filesBelow(model), [
    "blobs/cafe02",
    "blobs/feed01",
    "refs/refs/pr/7",
    `snapshots/${COMMIT}/tokenizer.json`,
    `snapshots/${COMMIT}/tokenizer_config.json`,
  ]);
  assert.equal(readFileSync(join(model, "refs/refs/pr/7"), "utf8"), COMMIT);
  assert.ok(lstatSync(join(model, "snapshots", COMMIT, "tokenizer.json")).isSymbolicLink());
  await loadTokenizer("org/model", { env: { ...env, HF_HUB_OFFLINE: "1" }, revision: "refs/pr/7" });
  await loadTokenizer("org/model", { env, revision: COMMIT });
  assert.equal(asked.length, 4, "the cache was not used");
});

test("a model without tokenizer_config.json will do", async () => {
  const endpoint = await serve(({ url = "" }, response) => {
    if (!url.endsWith("/tokenizer.json")) {
      response.writeHead(404).end();
      return;
    }
    response.writeHead(200, { "X-Repo-Commit": COMMIT, ETag: '"a1"' }).end(readFileSync(join(TINY, "tokenizer.json")));
  });
  const tokenizer = await loadTokenizer("single", { env: environment("single", endpoint) });
  assert.ok(tokenizer.count("Hello") > 0);
});

test("concurrent downloads of one model do not interfere", async () => {
  const endpoint = await serve(({ url = "" }, response) => {
    const file = url.split("/").at(-1) as string;
    response.writeHead(200, { "X-Repo-Commit": COMMIT, ETag: `"${file}"` }).end(readFileSync(join(TINY, file)));
  });
  const env = environment("shared", endpoint);
  const tokenizers = await Promise.all(Array.from({ length: 4 }, () => loadTokenizer("org/model", { env })));
  assert.equal(new Set(tokenizers.map((tokenizer) => tokenizer.count("Hello there"))).size, 1);
  assert.equal(filesBelow(join(folder, "shared")).length, 5);
});

const hub = { "X-Repo-Commit": COMMIT, ETag: '"b1"' };
const failures: readonly (readonly [what: string, answer: Answer, kind: string, message: RegExp])[] = [
  ["no such file", (_, response) => response.writeHead(404).end(), "user", /has no tokenizer\.json.*revision main/],
  ["no access", (_, response) => response.writeHead(401).end("no"), "user", /HTTP 401.*HF_TOKEN/],
  ["a gated model", (_, response) => response.writeHead(403).end("no"), "user", /HTTP 403.*HF_TOKEN/],
  ["an error of the server", (_, response) => response.writeHead(503).end(), "refused", /HTTP 503/],
  ["a server that is not a hub", (_, response) => response.end("hello"), "refused", /it is not a hub/],
  [
    "a commit that leads out of the cache",
    (_, response) => response.writeHead(200, { ...hub, "X-Repo-Commit": "../../.." }).end("{}"),
    "refused",
    /it is not a hub/,
  ],
  [
    "a name of content that leads out of the cache",
    (_, response) => response.writeHead(200, { ...hub, ETag: '"../../x"' }).end("{}"),
    "refused",
    /it is not a hub/,
  ],
  [
    "addresses in a circle",
    ({ url }, response) => response.writeHead(302, { location: url as string }).end(),
    "refused",
    /redirects more than 5 times/,
  ],
  [
    "a response that breaks off",
    (_, response) => {
      response.writeHead(200, { ...hub, "Content-Length": "1000" });
      response.write("{", () => response.destroy());
    },
    "output",
    /was not stored/,
  ],
];
for (const [what, answer, kind, message] of failures) {
  test(`${what}: reports it, exposes no secret and leaves no files`, async () => {
    const cache = what.replaceAll(" ", "-");
    const env = environment(cache, await serve(answer));
    const error = await loadTokenizer("org/model", { env }).catch((caught: unknown) => caught);
    assert.ok(
      kind === "user" ? error instanceof UserError : error instanceof RunError && error.code === kind,
      `${error}`,
    );
    assert.match(String(error), message);
    assert.doesNotMatch(JSON.stringify(error) + String(error), new RegExp(TOKEN));
    assert.deepEqual(filesBelow(join(folder, cache)), []);
  });
}

test("an unreachable hub is reported, with the places that were searched", async () => {
  const server = createServer();
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const { port } = server.address() as AddressInfo;
  await new Promise((resolve) => server.close(resolve));
  const env = environment("away", `http://127.0.0.1:${port}`);
  const error = await loadTokenizer("org/model", { env }).catch((caught: unknown) => caught);
  assert.ok(error instanceof RunError && error.code === "unreachable", String(error));
  assert.match(error.message, new RegExp(`org/model.*127\\.0\\.0\\.1:${port}: Connection refused`));
});

// They waited for 30 s.
const SILENT = { timeout: 25_000 };
for (const [name, scheme, message] of [
  ["never connects", "https", /Connection timed out/],
  ["never answers", "http", /No response in time/],
] as const)
  test(`a hub that ${name} is left after a few seconds`, SILENT, async () => {
    const server = listen().listen(0, "127.0.0.1");
    try {
      await new Promise((resolve) => server.once("listening", resolve));
      const env = environment(scheme, `${scheme}://127.0.0.1:${(server.address() as AddressInfo).port}`);
      const error = await loadTokenizer("org/model", { env }).catch((caught: unknown) => caught);
      assert.ok(error instanceof RunError && error.code === "unreachable", String(error));
      assert.match(error.message, message);
    } finally {
      server.close();
    }
  });

test("an endpoint that is not a URL is rejected", async () => {
  const error = await loadTokenizer("org/model", { env: environment("bad", "hub") }).catch((caught: unknown) => caught);
  assert.ok(error instanceof UserError);
  assert.match(error.message, /^HF_ENDPOINT: is not an HTTP URL \(got hub\)/);
});
