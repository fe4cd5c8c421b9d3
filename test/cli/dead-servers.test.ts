import assert from "node:assert/strict";
import { createServer, type Server } from "node:http";
import { type AddressInfo, createServer as createTcpServer, type Server as TcpServer } from "node:net";
import { after, before, describe, test } from "node:test";
import { TINY } from "../tokenize/tiny.ts";
import { createFolder, type RunningProcess, runRampart, startRampart } from "./rampart-process.ts";

/** A dead server, a wrong port or a wrong protocol: the command ends at once, and its error is all that it prints. */

let mock: RunningProcess;
let httpPort = "";
let grpcPort = "";
let counting: Server;
let countedPort = 0;
let requestCount = 0;
/** A port that refuses connections. */
let deadPort = 0;

const listen = (server: Server | TcpServer): Promise<number> =>
  new Promise((resolve) => {
    server.listen(0, "127.0.0.1", () => resolve((server.address() as AddressInfo).port));
  });

before(async () => {
  mock = startRampart(["mock", "--http-port", "0", "--grpc-port", "0"]);
  [, httpPort = "", grpcPort = ""] = await mock.waitFor(/listening: http \S+:(\d+), grpc \S+:(\d+), /);
  counting = createServer((_request, response) => {
    requestCount++;
    response.writeHead(404).end();
  });
  countedPort = await listen(counting);
  const other = createServer();
  deadPort = await listen(other);
  await new Promise((resolve) => other.close(resolve));
});
after(async () => {
  counting.close();
  mock.interrupt();
  await mock.result;
});

const PAYLOADS = '{ "data": [{ "payload": [{ "model": "x", "messages": [{ "role": "user", "content": "hi" }] }] }] }';

/** The targets of scenarios, with what is said. */
const CASES: readonly (readonly [name: string, target: () => string, says: RegExp])[] = [
  ["http, dead", () => `http("localhost:${deadPort}")`, /cannot connect to .*refused/],
  [
    "openai, dead",
    () => `openai("localhost:${deadPort}", { model: "x", tokenizer: "none" })`,
    /cannot connect to .*refused/,
  ],
  ["triton, dead", () => `triton("localhost:${deadPort}", { model: "simple" })`, /refused/],
  [
    "http on a gRPC port",
    () => `http("localhost:${grpcPort}")`,
    /speaks gRPC, not HTTP\. Give its HTTP port.* in the target's address\.\n$/,
  ],
  [
    "openai on a gRPC port",
    () => `openai("localhost:${grpcPort}", { model: "x", tokenizer: "none" })`,
    /speaks gRPC, not HTTP\. Give its HTTP port/,
  ],
  [
    "KServe over HTTP on a gRPC port",
    () => `triton("localhost:${grpcPort}", { model: "simple", protocol: "http" })`,
    /speaks gRPC, not HTTP\. .*or use protocol: "grpc"/,
  ],
  [
    "KServe over gRPC on an HTTP port",
    () => `triton("localhost:${httpPort}", { model: "simple", protocol: "grpc" })`,
    /speaks HTTP, not gRPC/,
  ],
  [
    "http, one of two addresses dead",
    () => `http(["localhost:${httpPort}", "localhost:${deadPort}"], { path: "/v2/health/ready" })`,
    /cannot connect to localhost:\d+ \(Connection refused\)\..* 1 of 2 addresses can be reached\.\n$/,
  ],
  [
    "KServe, one of two addresses dead",
    () => `triton(["localhost:${grpcPort}", "localhost:${deadPort}"], { model: "simple", protocol: "grpc" })`,
    /cannot connect to localhost:\d+ \(Connection refused\)/,
  ],
  ["TLS on a plain port", () => `http("https://localhost:${httpPort}")`, /does not speak TLS: write http:\/\//],
  ["a path that is not there", () => `http("localhost:${countedPort}")`, /has no such path: .*404/],
  [
    "openai at another server",
    () => `openai("localhost:${countedPort}", { model: "x", tokenizer: "none" })`,
    /has no such path: .*404/,
  ],
];

describe("exit code 69, and no table", () => {
  for (const [name, target, says] of CASES)
    test(`for ${name}`, async () => {
      const to = target();
      const [kind = ""] = to.split("(", 1);
      const inputs = kind === "openai" ? ', inputs: input.payloads("p.json")' : "";
      const text = `import { defineScenario, hold, input, ${kind} } from "rampart";
void input;
export default defineScenario({ name: "x", target: ${to}, load: hold(4, { for: "10 s" })${inputs} });
`;
      requestCount = 0;
      using folder = createFolder({ "x.ts": text, "p.json": PAYLOADS });
      const { code, out, err } = await runRampart(["x.ts"], { cwd: folder.path });
      assert.equal(code, 69, err);
      assert.equal(out, "");
      assert.match(err, says);
      assert.match(err, /^(?: {2}measuring .*\n)?rampart: [^\n]*\n$/);
      assert.ok(requestCount <= 20, `${requestCount} requests`);
    });

  test("and 64 for a batch that is larger than the model allows, and for shapes of other inputs", async () => {
    const text = `import { defineScenario, hold, triton } from "rampart";
const shapes = { INPUT0: [99], input1: [4] };
const target = triton("localhost:${httpPort}", { model: "simple", batchSize: 99, shapes });
export default defineScenario({ name: "x", target, load: hold(4, { for: "10 s" }) });
`;
    using folder = createFolder({ "x.ts": text });
    const { code, out, err } = await runRampart(["x.ts"], { cwd: folder.path });
    assert.deepEqual([code, out], [64, ""], err);
    for (const says of [
      /target\.batchSize: is above 8, .* model 'simple' .*\(got 99\)\. Lower it to 8\.\n/,
      /target\.shapes\.INPUT0: is fixed to \[16\] by model 'simple' \(got \[99\]\)\. Leave it out\.\n/,
      /target\.shapes\.input1: is no input of model 'simple'\. Did you mean INPUT1\?\n/,
    ])
      assert.match(err, says);
  });

  test("for metrics that are asked for by their address, and not for those of the usual one", async () => {
    const text = (metrics: string): string => `import { defineScenario, hold, triton } from "rampart";
const target = triton("localhost:${httpPort}", { model: "simple" });
export default defineScenario({ name: "x", target, load: hold(1, { requests: 5 }), metrics: ${metrics} });
`;
    const files = { "dead.ts": text(`{ url: "localhost:${deadPort}/metrics" }`), "usual.ts": text("{}") };
    using folder = createFolder({ ...files, "other.ts": text(`{ url: "localhost:${httpPort}/none" }`) });
    const dead = await runRampart(["dead.ts"], { cwd: folder.path });
    assert.deepEqual([dead.code, dead.out], [69, ""], dead.err);
    assert.match(dead.err, /^rampart: no metrics from localhost:\d+\/metrics: Connection refused\. [^\n]*\n$/);
    const other = await runRampart(["other.ts"], { cwd: folder.path });
    assert.deepEqual([other.code, other.out], [69, ""], other.err);
    assert.match(other.err, /no metrics from localhost:\d+\/none: HTTP status 404\./);
    assert.equal((await runRampart(["usual.ts"], { cwd: folder.path })).code, 0);
  });

  test("for one dead address of rampart http", async () => {
    const [live, dead] = [`localhost:${httpPort}`, `localhost:${deadPort}`];
    const args = [live, dead].flatMap((at) => ["--url", `${at}/v2/health/ready`]);
    const found = await runRampart(["http", ...args, "-n", "40"]);
    assert.deepEqual([found.code, found.out], [69, ""], found.err);
    assert.match(found.err, /^rampart: cannot connect to localhost:\d+ \(Connection refused\)/m);
  });

  test("for servers that close each connection, or answer 503 to each request", async () => {
    let asked = 0;
    const closing = createTcpServer((socket) => socket.on("error", () => {}).once("data", () => socket.end()));
    const head = "HTTP/1.1 200 OK\r\nContent-Length: 500\r\n\r\n";
    const cutting = createTcpServer((socket) =>
      socket.on("error", () => {}).once("data", () => socket.end(`${head}cut`)),
    );
    const unavailable = createServer((_request, response) => {
      asked++;
      response.writeHead(503).end();
    });
    try {
      for (const [server, says] of [
        [closing, /closes connections without a complete response: .*before any byte of the response/],
        [cutting, /closes connections without a complete response: .* within the response body \(497 bytes missing\)/],
        [unavailable, /refuses the requests: HTTP status 503\. Is it still starting\?/],
      ] as const) {
        const { code, out, err } = await runRampart([
          "http",
          `localhost:${await listen(server)}`,
          "--for",
          "1s",
          "-c",
          "4",
        ]);
        assert.deepEqual([code, out], [69, ""], err);
        assert.match(err, says);
      }
      assert.ok(asked <= 50, `${asked} requests`);
    } finally {
      closing.close();
      cutting.close();
      unavailable.close();
    }
  });

  test("for a server that accepts connections and does not respond, whatever the stall timeout", async () => {
    const mute = createTcpServer((socket) => socket.on("error", () => {}));
    const text = `import { defineScenario, hold, triton } from "rampart";
const target = triton("localhost:${await listen(mute)}", { model: "simple" });
export default defineScenario({ name: "x", target, load: hold(1), stallTimeout: "10 min" });
`;
    try {
      using folder = createFolder({ "x.ts": text });
      const { code, out, err } = await runRampart(["x.ts"], { cwd: folder.path });
      assert.deepEqual([code, out], [69, ""], err);
      assert.match(err, /^rampart: localhost:\d+ accepts connections[^\n]* within 3 s\. [^\n]*\n$/);
      const url = /localhost:\d+/.exec(err)?.[0] ?? "";
      const slow = await runRampart(["perf_analyzer", "-m", "simple", "-u", url, "--stall-timeout", "6s"]);
      assert.equal(slow.code, 99, slow.err);
      assert.match(slow.err, /^ {2}waiting for localhost:\d+, which has not responded [^\n]*\n[^\n]*did not answer/);
      const profile = ["genai-perf", "profile", "-m", "x", "--tokenizer", TINY, "-u", url, "--request-count", "1"];
      for (const [type, within] of [
        ["kserve", "3 s"],
        ["chat", "4 s"],
      ] as const) {
        const dead = await runRampart([...profile, "--endpoint-type", type, "--stall-timeout", "8s"], {
          cwd: folder.path,
        });
        assert.equal(dead.code, 1, dead.err);
        assert.match(dead.err, new RegExp(`accepts connections[^\\n]* within ${within}\\b`));
        assert.equal(/waiting for localhost:\d+/.test(dead.err), type === "chat", dead.err);
      }
    } finally {
      mute.close();
    }
  });

  test("for rampart http and rampart chat too", async () => {
    for (const command of ["http", "chat"]) {
      const dead = await runRampart([command, `localhost:${deadPort}`]);
      assert.deepEqual([dead.code, dead.out], [69, ""], dead.err);
      assert.match(dead.err, /refused/);
      const other = await runRampart([command, `localhost:${grpcPort}`]);
      assert.deepEqual([other.code, other.out], [69, ""], other.err);
      assert.match(other.err, /speaks gRPC, not HTTP/);
    }
  });
});
