// npm run bench:allocations
//
// What Rampart's code allocates for a request in the steady state: on Node, whose engine says which function allocated. A number that is not a
// small integer is an object of 16 bytes there, and a view of each read another; Bun, and so the executable, has neither. Writes its table into
// README.md here. Exits with 1 when a goal is missed. Needs Go.
import { spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { describeMachine } from "../../../src/runtime/machine.ts";
import { makeFolder } from "../../make-folder.ts";
import { startLlmStub } from "../../servers/llm-stub.ts";
import { startStub } from "../../servers/stub.ts";
import { root } from "../clients.ts";
import { type Goal, judgeGoal } from "../goals.ts";
import { writeFigures } from "../write-figures.ts";
import { type Allocated, readAllocated } from "./read-profile.ts";

/** Requests before the first one that counts: engines compile what runs often. */
const WARM_UP_REQUESTS = 150_000;
const SAMPLED_MS = 5000;
const LIMIT_MS = 90_000;
const CONCURRENCY = "16";
const MOST_PLACES = 3;
/** This file makes a plain view of the Buffer that Node's sockets give for each read. */
const NODE_ADAPTER = /^runtime\/sockets-node\.ts/;
/** Of our own code, without that adapter: three numbers that are no small integers, and the share of what is done per window. */
const MOST_BYTES = 64;
/** With the text of an id, and its place in the map that finds the request of a response. */
const MOST_BYTES_WITH_ID = 320;

interface Load {
  readonly name: string;
  readonly flags: readonly string[];
  /** Default: {@link MOST_BYTES}. */
  readonly mostBytes?: number;
  /** Requests, or chunks of streams, that the server has seen. */
  readonly count: () => Promise<number>;
}

process.exitCode = await main();

async function main(): Promise<number> {
  const stub = await startStub();
  const llm = await startLlmStub({ tokens: 100 });
  const folder = makeFolder();
  const simple = ["-m", "simple", "-b", "8", "-u"];
  const [http, grpc] = [`127.0.0.1:${stub.httpPort}`, `127.0.0.1:${stub.grpcPort}`];
  const inputs = join(folder, "inputs.json");
  const messages = [{ role: "user", content: "the quick brown fox" }];
  writeFileSync(inputs, JSON.stringify({ data: [{ payload: [{ model: "tiny", messages, stream: true }] }] }));
  const openai = ["--service-kind", "openai", "--endpoint", "v1/chat/completions", "--streaming", "--async"];
  const chat = ["-m", "tiny", ...openai, "--input-data", inputs];
  const loads: Load[] = [
    { name: "HTTP, a request", flags: [...simple, http], count: async () => (await stub.counter()).http },
    { name: "gRPC, a request", flags: [...simple, grpc, "-i", "grpc"], count: async () => (await stub.counter()).grpc },
    {
      name: "gRPC streams, a request",
      flags: [...simple, grpc, "-i", "grpc", "--streaming"],
      mostBytes: MOST_BYTES_WITH_ID,
      count: async () => (await stub.counter()).stream,
    },
    {
      name: "tokens, a chunk",
      flags: [...chat, "-u", `127.0.0.1:${llm.port}`, "-i", "http"],
      count: async () => (await llm.counter()).chunks,
    },
  ];
  const rows: string[] = [];
  const goals: Goal[] = [];
  try {
    for (const load of loads) {
      const { allocated, count } = await sample(load, join(folder, "profile.json"));
      const per = (bytes: number): number => bytes / count;
      const ours = [...allocated.own].filter(([place]) => !NODE_ADAPTER.test(place)).sort(([, a], [, b]) => b - a);
      const ownBytes = per(ours.reduce((sum, [, bytes]) => sum + bytes, 0));
      const adapterBytes = per([...allocated.own].reduce((sum, [, bytes]) => sum + bytes, 0)) - ownBytes;
      const { mostBytes = MOST_BYTES } = load;
      goals.push(judgeGoal(`${load.name}: bytes that our code allocates`, ownBytes, mostBytes));
      const places = ours.slice(0, MOST_PLACES).map(([place, bytes]) => `\`${place}\` ${per(bytes).toFixed(1)}`);
      rows.push(
        `| ${load.name} | ${ownBytes.toFixed(1)} | ${mostBytes} | ${adapterBytes.toFixed(1)} | ${per(allocated.runtimeBytes).toFixed(1)} | ${places.join(", ")} |`,
      );
      console.log(rows.at(-1));
    }
  } finally {
    await Promise.all([stub.stop(), llm.stop()]);
  }
  const { cpu, cores, os } = describeMachine();
  const head = `Measured ${new Date().toISOString().slice(0, 10)} on ${cpu}, ${cores} cores, ${os}, Node; ${CONCURRENCY} concurrent.`;
  const columns =
    "| bytes for | our code | at most | views of Node's reads | Node | most of our own |\n| --- | ---: | ---: | ---: | ---: | --- |";
  writeFigures("bench:allocations", { report: `${head}\n\n${columns}\n${rows.join("\n")}\n`, goals });
  return goals.every(({ passed }) => passed) ? 0 : 1;
}

async function sample({ flags, count }: Load, profile: string): Promise<{ allocated: Allocated; count: number }> {
  rmSync(profile, { force: true });
  const sampler = join(root, "test", "bench", "allocations", "sample.mjs");
  const program = ["--import", sampler, join(root, "src", "main.ts"), "perf_analyzer"];
  const load = ["--concurrency-range", CONCURRENCY, "--request-count", "100000000"];
  const child = spawn(join(root, "node_modules", ".bin", "node"), [...program, ...flags, ...load], {
    env: { ...process.env, HEAP_PROFILE: profile },
    stdio: ["ignore", "ignore", "inherit"],
    timeout: LIMIT_MS,
    killSignal: "SIGKILL",
  });
  const ended = once(child, "exit");
  const start = await count();
  for (let waitedMs = 0; waitedMs < LIMIT_MS && (await count()) - start < WARM_UP_REQUESTS; waitedMs += 200)
    await sleep(200);
  child.kill("SIGUSR2");
  const before = await count();
  await sleep(SAMPLED_MS);
  child.kill("SIGUSR2");
  const counted = (await count()) - before;
  for (let waitedMs = 0; !existsSync(profile) && waitedMs < LIMIT_MS && child.exitCode === null; waitedMs += 50)
    await sleep(50);
  await sleep(200);
  child.kill("SIGKILL");
  await ended;
  if (counted < 1000) throw new Error(`only ${counted} requests or chunks while allocations were sampled`);
  return { allocated: readAllocated(JSON.parse(readFileSync(profile, "utf8")).head), count: counted };
}
