import assert from "node:assert/strict";
import { type ChildProcess, spawn } from "node:child_process";
import { readdirSync } from "node:fs";
import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { after, before, describe, test } from "node:test";
import { commandUnderTest, runWithReport } from "./command.ts";
import { openTriton, type TritonAddresses } from "./servers.ts";

/** Every file of `scenarios/` runs, in a short form. A new one needs an entry here. */

const FOLDER = join(import.meta.dirname, "..", "..", "scenarios");
const TOKENIZER = "tokenizer=../test/tokenize/fixtures/tiny";

/** The servers that scenarios with an address use. */
interface Servers {
  readonly triton: TritonAddresses;
  readonly mock: { readonly http: string; readonly grpc: string };
  readonly rpc: string;
}

interface Run {
  /** Arguments that make it short, and the address of a server. */
  readonly args?: (servers: Servers) => readonly string[];
  /** Exit codes that are fine on a busy machine. Default: 0. */
  readonly codes?: readonly number[];
  /** What the report says. */
  readonly says?: RegExp;
}

const set = (...values: readonly string[]): string[] => values.flatMap((value) => ["--set", value]);

const RUNS: Readonly<Record<string, Run>> = {
  "ab-two-models.ts": { says: /candidate/ },
  "chat-goodput.ts": {
    args: ({ mock }) => set(`url=${mock.http}`, TOKENIZER, "requests=40"),
    says: /goodput/,
  },
  "chat.json": { says: /goodput/ },
  "embeddings-batches.ts": { args: ({ mock }) => set(`url=${mock.http}`, "requests=200"), says: /batch 32/ },
  "ensemble.ts": { args: ({ triton }) => set(`url=${triton.http}`, "requests=400"), says: /ensemble_two/ },
  // What a search finds depends on the machine: unresolved is a response too.
  "find-max.ts": { codes: [0, 65, 66], says: /concurrency/ },
  "knee.ts": { args: () => set("time=300ms"), codes: [0, 65, 66], says: /^ +16 /m },
  "llm.ts": { says: /time to first token/ },
  "own-protocol.ts": { args: ({ rpc }) => ["--url", rpc], says: /label +good 200, bad 100/ },
  "own-server.ts": { args: () => set("users=2"), says: / 500 requests$/m },
  "quickstart.ts": { says: /error rate = 0 %/ },
  "ramp.yaml": {},
  "rate-sweep.ts": { args: () => set("time=1s", "slo=2s"), says: /scheduled/ },
  "rest.ts": {
    args: ({ mock }) => set(`url=${mock.http}/v1/completions`, "requests=100"),
    says: /length/,
  },
  "sequences.ts": { args: ({ triton }) => set(`url=${triton.grpc}`, "requests=400"), says: /sequences\/s/ },
  "sessions.ts": { says: /12 conversations/ },
  // A second is short for a p99 and a drift on a busy machine.
  "soak.ts": { args: () => set("time=1s", "maxDrift=10000%", "limit=1min"), codes: [0, 66], says: /soak/ },
  // Whether the latency is back in time depends on the machine.
  "spike.ts": { args: () => set("base=2", "peak=8"), codes: [0, 65], says: /recover/ },
  "trace-replay.ts": { args: () => set("speed=2"), says: / 8 requests$/m },
  "triton-ramp.ts": {
    args: ({ mock }) => set(`url=${mock.grpc}`, "time=1s", "limit=2s"),
    // On a busy machine one user sends too few requests for a p99 in a second.
    codes: [0, 66],
    says: /p99 latency < 2 s/,
  },
};

const LONGEST_MS = 180_000;

test("each scenario has an entry here, and each entry a scenario", () => {
  const files = readdirSync(FOLDER).filter((name) => /\.(ts|yaml|json)$/.test(name));
  assert.deepEqual(Object.keys(RUNS).sort(), files.sort());
  assert.ok(files.length >= 14);
});

describe("scenarios/", () => {
  let servers: Servers;
  let mock: ChildProcess;
  let rpc: Server;
  before(async () => {
    const opening = openTriton();
    opening.catch(() => {});
    const [program, ...first] = commandUnderTest as [string, ...string[]];
    mock = spawn(program, [...first, "mock", "--http-port", "0", "--grpc-port", "0"], {
      stdio: ["ignore", "pipe", "inherit"],
    });
    const addresses = await readAddresses(mock);
    rpc = createServer(answerCall);
    await new Promise<void>((resolve) => rpc.listen(0, "127.0.0.1", resolve));
    const { port } = rpc.address() as AddressInfo;
    servers = { triton: await opening, mock: addresses, rpc: `127.0.0.1:${port}` };
  });
  after(async () => {
    mock?.kill();
    rpc?.close();
    await servers?.triton.stop();
  });

  for (const [name, { args = () => [], codes = [0], says }] of Object.entries(RUNS))
    test(`${name} runs`, async () => {
      const outcome = await runWithReport(["run", join(FOLDER, name), ...args(servers)], { timeoutMs: LONGEST_MS });
      const { code, stdout, stderr, report } = outcome;
      assert.ok(codes.includes(code ?? -1), `exit code ${code}\n${stdout}\n${stderr}`);
      if (code === 66) assert.match(stdout, /unresolved/i);
      assert.ok(report.requests.completed > 0, stdout);
      assert.equal(report.requests.failed, 0, stdout);
      if (says !== undefined) assert.match(stdout, says);
    });
});

/** Reads the ports that `rampart mock` prints. */
function readAddresses(child: ChildProcess): Promise<Servers["mock"]> {
  return new Promise((resolve, reject) => {
    let text = "";
    child.stdout?.setEncoding("utf8").on("data", (piece: string) => {
      text += piece;
      const [, http] = /http ([\d.:]+)/.exec(text) ?? [];
      const [, grpc] = /grpc ([\d.:]+)/.exec(text) ?? [];
      if (http !== undefined && grpc !== undefined) resolve({ http, grpc });
    });
    child.on("exit", (code) => reject(new Error(`the mock ended with ${code}: ${text}`)));
  });
}

/** The service of `own-protocol.ts`: finds whether a text is good. */
const answerCall: Parameters<typeof createServer>[1] = (request, response) => {
  let body = "";
  request.setEncoding("utf8").on("data", (piece: string) => {
    body += piece;
  });
  request.on("end", () => {
    const { id, params } = JSON.parse(body) as { id: number; params: { text: string } };
    const label = params.text.includes("broke") ? "bad" : "good";
    response.setHeader("Content-Type", "application/json");
    response.end(JSON.stringify({ jsonrpc: "2.0", id, result: { label, score: 0.9 } }));
  });
};
