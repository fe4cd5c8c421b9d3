import assert from "node:assert/strict";
import { after, describe, test } from "node:test";
import { LOOPBACK, startMock } from "../../../src/mock/server.ts";
import { DEFAULT_MOCK } from "../../../src/plan/mock.ts";
import { USER_AGENT } from "../../../src/transport/user-agent.ts";
import { runRampart } from "../../cli/rampart-process.ts";
import { LIMIT } from "../../time-limit.ts";
import { toText } from "../bytes.ts";
import { framesIn, TYPE } from "../http2/write-frames.ts";
import { RecordingProxy, type SeenRequest, seenOverHttp1, seenOverHttp2 } from "./recording-proxy.ts";

/** The same load through our own client and the general one, as the server sees it; and which of them is the default. */

const mock = await startMock(DEFAULT_MOCK, LOOPBACK);
after(() => mock.stop());

const COUNT = 30;

interface Recorded {
  readonly inferences: SeenRequest[];
  readonly others: SeenRequest[];
  readonly output: string;
  readonly connections: Uint8Array[];
}

const recorded = new Map<string, Promise<Recorded>>();

/** Runs the load, once for the same flags, and returns what the server got. */
function record(protocol: "http" | "grpc", flags: readonly string[]): Promise<Recorded> {
  const key = [protocol, ...flags].join(" ");
  const made = recorded.get(key) ?? run(protocol, flags);
  recorded.set(key, made);
  return made;
}

async function run(protocol: "http" | "grpc", flags: readonly string[]): Promise<Recorded> {
  const proxy = new RecordingProxy(protocol === "http" ? mock.httpPort : mock.grpcPort);
  await proxy.start();
  try {
    const { code, out, err } = await runRampart([
      ...["perf_analyzer", "-m", "simple", "-i", protocol, "-u", `127.0.0.1:${proxy.port}`],
      // Requests on a stream are numbered by lane, and which of several lanes sends more is chance.
      ...["--concurrency-range", flags.includes("--streaming") ? "1" : "2"],
      ...["--request-count", String(COUNT), ...flags],
    ]);
    assert.equal(code, 0, out + err);
    const { connections } = proxy;
    const seen = (protocol === "http" ? seenOverHttp1 : seenOverHttp2)(connections);
    const isInference = ({ line }: SeenRequest): boolean => /\/infer |Infer$/.test(line);
    // The proxy's port differs from run to run.
    const unported = seen.map((request) => ({
      ...request,
      headers: request.headers.map((header) => header.replace(`:${proxy.port}`, ":PORT")),
    }));
    return {
      inferences: unported.filter(isInference),
      others: unported.filter((request) => !isInference(request)),
      output: out + err,
      connections,
    };
  } finally {
    proxy.stop();
  }
}

/** Requests in an order of their own: which of two lanes is first is chance. */
function inOrder(requests: readonly SeenRequest[]): SeenRequest[] {
  return [...requests].sort((a, b) => (a.body < b.body ? -1 : a.body > b.body ? 1 : 0));
}

function countsIn(output: string): string[] {
  return output
    .split("\n")
    .filter((line) => /Request count|Successful|Failed/i.test(line))
    .map((line) => line.trim());
}

for (const { protocol, general, flags } of [
  { protocol: "http", general: "undici", flags: [] },
  { protocol: "http", general: "undici", flags: ["--input-tensor-format", "json", "-b", "2"] },
  { protocol: "grpc", general: "grpc-js", flags: [] },
  { protocol: "grpc", general: "grpc-js", flags: ["--streaming"] },
] as const) {
  describe(`own client and ${general}, ${protocol} ${flags.join(" ")}`, () => {
    test("the server gets the same requests, as often, and both report the same counts", LIMIT, async () => {
      const own = await record(protocol, [...flags, "--client", "own"]);
      const other = await record(protocol, [...flags, "--client", general]);
      assert.deepEqual(inOrder(own.inferences), inOrder(other.inferences));
      assert.ok(own.inferences.length > 0);
      if (flags[0] !== "--streaming") assert.equal(own.inferences.length, COUNT);
      else assert.equal(own.inferences[0]?.body.split("triton_enable_empty_final_response").length, COUNT + 1);
      assert.deepEqual(
        [...new Set(own.others.map(({ line }) => line))].sort(),
        [...new Set(other.others.map(({ line }) => line))].sort(),
      );
      assert.deepEqual(countsIn(own.output), countsIn(other.output));
      assert.match(own.output, new RegExp(`Request count: ${COUNT}`));
    });
  });
}

describe("Rampart's own client is the default", () => {
  for (const protocol of ["http", "grpc"] as const) {
    test(`the plan has the client: ${protocol}`, async () => {
      const { code, out, err } = await runRampart(["perf_analyzer", "-m", "simple", "-i", protocol, "--dry-run"]);
      assert.equal(code, 0, err);
      assert.equal((JSON.parse(out) as { client: { kind: string } }).client.kind, "own");
    });
  }

  test("the bytes say so: heads of the own HTTP client come with our own spelling and order", LIMIT, async () => {
    const heads = async (flags: readonly string[]): Promise<string> => {
      const { connections } = await record("http", flags);
      const all = connections.map(toText).join("");
      return all.slice(all.indexOf("POST "), all.indexOf("\r\n\r\n", all.indexOf("POST ")));
    };
    const named = (head: string): string =>
      head.replace(/\r\n.*/s, (rest) => rest.replace(/:\d{4,5}\r\n/, ":PORT\r\n"));
    const [given, own, undici] = [
      await heads([]),
      await heads(["--client", "own"]),
      await heads(["--client", "undici"]),
    ];
    assert.equal(named(given), named(own));
    assert.notEqual(named(given), named(undici));
    assert.match(given, new RegExp(`^POST \\S+ HTTP/1\\.1\r\nHost: \\S+\r\nUser-Agent: ${USER_AGENT}\r\nAccept: `));
  });

  test("the bytes say so: the own gRPC client's SETTINGS are not grpc-js's", LIMIT, async () => {
    const greeting = async (flags: readonly string[]): Promise<string> => {
      const { connections } = await record("grpc", flags);
      const [first] = framesIn(new Uint8Array(connections.at(-1) as Uint8Array));
      assert.equal(first?.type, TYPE.settings);
      return Buffer.from(first?.payload ?? []).toString("hex");
    };
    const [given, own, js] = [
      await greeting([]),
      await greeting(["--client", "own"]),
      await greeting(["--client", "grpc-js"]),
    ];
    assert.equal(given, own);
    assert.notEqual(given, js);
  });
});
