import assert from "node:assert/strict";
import { type ChildProcess, spawn } from "node:child_process";
import { readdirSync, readFileSync } from "node:fs";
import { createServer, type Server } from "node:http";
import { join } from "node:path";
import { after, before, describe, test } from "node:test";
import { drawPicture, PICTURE } from "../../compile/docs/picture.ts";
import { listSamples, runSample } from "../../compile/docs/samples.ts";
import { DEFAULT_MOCK } from "../../src/plan/mock.ts";
import { ROOT } from "../cli/rampart-process.ts";
import { GUIDES } from "../guides/blocks.ts";
import { startGuideServer } from "../guides/guide-folder.ts";
import { assertIsSampleOf } from "../guides/sample-heads.ts";
import { makeFolder, writeIn } from "../make-folder.ts";
import { listen } from "../servers/listen.ts";
import { commandUnderTest, runWithReport } from "./command.ts";
import { openTriton, type TritonAddresses } from "./servers.ts";

/** Every file of `scenarios/` runs, in a short form, and prints what guides show of it. A new one needs an entry here. */

const FOLDER = join(ROOT, "scenarios");
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
  "find-max.ts": { says: /concurrency/ },
  "knee.ts": { args: () => set("time=300ms"), says: /^ +16 /m },
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
  "soak.ts": { args: () => set("time=1s", "maxDrift=10000%", "limit=1min"), says: /soak/ },
  "spike.ts": { args: () => set("base=2", "peak=8"), says: /recover/ },
  "trace-replay.ts": { args: () => set("speed=2"), says: / 8 requests$/m },
  "triton-ramp.ts": {
    args: ({ mock }) => set(`url=${mock.grpc}`, "time=1s", "limit=2s"),
    says: /p99 latency < 2 s/,
  },
};

/** Assertions on how fast something was. */
const OF_TIME = /latency|time to|throughput|tokens\/s|goodput|drift|recover/i;
/** Scenarios at the same time: most of them wait. */
const AT_A_TIME = 3;

const SAMPLES = GUIDES.flatMap(listSamples);

/** Returns the samples of what a scenario prints. */
function samplesOf(name: string): typeof SAMPLES {
  return SAMPLES.filter(({ command, isLive }) => !isLive && `${command} `.startsWith(`rampart run scenarios/${name} `));
}

test("each scenario has an entry here, and each entry a scenario", () => {
  const files = readdirSync(FOLDER).filter((name) => /\.(ts|yaml|json)$/.test(name));
  assert.deepEqual(Object.keys(RUNS).sort(), files.sort());
  assert.ok(files.length >= 14);
});

describe("scenarios/", { concurrency: AT_A_TIME }, () => {
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
    const port = await listen(rpc);
    servers = { triton: await opening, mock: addresses, rpc: `127.0.0.1:${port}` };
  });
  after(async () => {
    mock?.kill();
    rpc?.close();
    await servers?.triton.stop();
  });

  for (const [name, { args = () => [], says }] of Object.entries(RUNS))
    test(`${name} runs`, async () => {
      const samples = samplesOf(name);
      // It prints what it prints without it, and more.
      const flags = samples.some(({ command }) => command.endsWith(" -v")) ? ["-v"] : [];
      const line = ["run", join(FOLDER, name), ...flags, ...args(servers)];
      const outcome = await runWithReport(line);
      const { code, stdout, stderr, report } = outcome;
      // Whether limits of time are kept says something of this machine, and nothing of the scenario.
      assert.ok([0, 65, 66].includes(code ?? -1), `exit code ${code}\n${stdout}\n${stderr}`);
      const broken = stdout.split("\n").filter((line) => /^ {2}FAIL /.test(line) && !OF_TIME.test(line));
      assert.deepEqual(broken, [], stdout);
      if (code === 66) assert.match(stdout, /unresolved/i);
      assert.ok(report.requests.completed > 0, stdout);
      assert.equal(report.requests.failed, 0, stdout);
      if (says !== undefined) assert.match(stdout, says);
      // A client that waited for a core may leave open what its sample decides.
      const waited = code === 66 && report.notes.some((note) => note.code === "client-late");
      for (const sample of samples) if (!waited) assertIsSampleOf(stdout, sample);
      if (name === "knee.ts") await comparePicture(report);
    });

  for (const sample of SAMPLES.filter(({ isLive }) => isLive))
    test(`${sample.command} draws on a terminal what its guide shows`, async () => {
      const server = await startGuideServer(DEFAULT_MOCK);
      try {
        assertIsSampleOf(await runSample(sample, server), sample);
      } finally {
        await server.stop();
      }
    });
});

/** The picture in the first guide has the titles, axes and series of one that is drawn of a report. */
async function comparePicture(report: object): Promise<void> {
  const folder = makeFolder();
  const file = writeIn(folder, "report.json", JSON.stringify(report));
  const wordsOf = (svg: string): string[] => [...svg.matchAll(/>([^<>\d]+)<\/text>/g)].map(([, word = ""]) => word);
  const words = wordsOf(await drawPicture(file));
  assert.ok(words.includes("Throughput over load") && words.includes("Requests in flight"), words.join());
  assert.deepEqual(wordsOf(readFileSync(join(ROOT, PICTURE), "utf8")), words);
}

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
