// Runs on: deno, node, executable.
import assert from "node:assert/strict";
import { test } from "node:test";
import { type KserveOptions, KserveServer, takeMs } from "../../run/kserve-server.ts";
import { ensureOpenMpi } from "../../servers/open-mpi.ts";
import { LIMIT } from "../../time-limit.ts";
import { rampartCommand, startProcess } from "../rampart-process.ts";
import { QUICK_WINDOWS, runCommand } from "./run-command.ts";

/** Processes that measure together, under Open MPI's own mpirun. Its name says which flags. */

const DEAD_URL = "127.0.0.1:1";
const mpirun = ensureOpenMpi();

interface Job {
  readonly code: number | null;
  /** By rank: what it printed, and where. */
  readonly out: readonly string[];
  readonly err: readonly string[];
}

/** Runs a job with a rank for each list of arguments. */
async function runJob(...ranks: readonly (readonly string[])[]): Promise<Job> {
  const one = ["-n", "1", ...rampartCommand(), "perf_analyzer", "-m", "simple"];
  const words = ranks.flatMap((args, rank) => [...(rank === 0 ? [] : [":"]), ...one, ...args]);
  const { code, out, err } = await startProcess([...mpirun, ...words]).result;
  const linesOf = (text: string, rank: number, stream: string): string => {
    const tag = `[1,${rank}]<${stream}>:`;
    const lines = text.split("\n").filter((line) => line.startsWith(tag));
    return lines.map((line) => `${line.slice(tag.length)}\n`).join("");
  };
  return {
    code,
    out: ranks.map((_, rank) => linesOf(out, rank, "stdout")),
    err: ranks.map((_, rank) => linesOf(err, rank, "stderr")),
  };
}

async function withServers(
  options: readonly [KserveOptions, KserveOptions],
  use: (first: KserveServer, second: KserveServer) => Promise<void>,
): Promise<void> {
  await using first = await new KserveServer(options[0]).start();
  await using second = await new KserveServer(options[1]).start();
  return await use(first, second);
}

function countPasses(text: string | undefined): number {
  return text?.match(/^ {2}Pass \[/gm)?.length ?? 0;
}

test("--enable-mpi: the ranks begin a level together and measure it until all are stable", LIMIT, async () => {
  let heldUntilMs = 0;
  // The second server keeps its rank waiting: at first with its model, then with every response for eight windows.
  const holds: KserveOptions = {
    metadataDelayMs: 1000,
    onInfer: ({ arrivedMs }) => {
      if (heldUntilMs === 0) heldUntilMs = arrivedMs + 1000;
      return takeMs(Math.max(2, heldUntilMs - performance.now()));
    },
  };
  await withServers([{ onInfer: () => takeMs(2) }, holds], async (first, second) => {
    const args = [...QUICK_WINDOWS, "-p", "100", "-r", "60", "-v", "--enable-mpi"];
    const { code, out, err } = await runJob([...args, "-u", first.url], [...args, "-u", second.url]);
    assert.equal(code, 0, `${out.join("\n")}\n${err.join("\n")}`);
    const askedMs = second.requests.find(({ path }) => path === "/v2/models/simple")?.arrivedMs ?? Number.NaN;
    const beganMs = first.infers[0]?.arrivedMs ?? Number.NaN;
    assert.ok(beganMs - askedMs >= 990, `the first rank began ${beganMs - askedMs} ms after the second asked`);
    assert.match(out[1] ?? "", /Pass \[1\] cb::Error: No valid requests recorded/);
    assert.equal(countPasses(out[0]), countPasses(out[1]));
    assert.ok(countPasses(out[0]) > 3, `the first rank alone is stable after three windows: ${countPasses(out[0])}`);
    for (const text of out) {
      assert.match(text, /^All models on all MPI ranks are stable$/m);
      assert.match(text, /^Concurrency: 1, throughput: /m);
    }
  });
});

test("--enable-mpi: ranks with windows of different lengths go through the levels together", LIMIT, async () => {
  await withServers([{ onInfer: () => takeMs(2) }, { onInfer: () => takeMs(2) }], async (first, second) => {
    // The windows of the second rank are longer.
    const args = [...QUICK_WINDOWS, "--concurrency-range", "1:3", "--enable-mpi"];
    const { code, out } = await runJob([...args, "-u", first.url], [...args, "-p", "200", "-u", second.url]);
    assert.equal(code, 0);
    for (const level of [1, 2, 3])
      for (const text of out) assert.match(text, new RegExp(`^Concurrency: ${level}, `, "m"));
    // Three windows of 240 ms, which the other rank waits for.
    for (const level of [1, 2]) {
      // The ranks begin a level together, but a busy machine may delay the first request of one of them.
      const beganMs = Math.min(firstAt(first, level) ?? Number.NaN, firstAt(second, level) ?? Number.NaN);
      const waitedMs = (firstAt(first, level + 1) ?? Number.NaN) - beganMs;
      assert.ok(waitedMs >= 700, `level ${level} ended after ${waitedMs} ms`);
    }
  });
});

/** When a server first had a request over so many connections. */
function firstAt(server: KserveServer, connections: number): number | undefined {
  const ports = new Set<number>();
  return server.infers.find(({ port }) => ports.add(port).size === connections)?.arrivedMs;
}

test("--enable-mpi: a failed rank is not waited for, and the others report that it is missing", LIMIT, async () => {
  await using server = await new KserveServer({}).start();
  const args = [...QUICK_WINDOWS, "--enable-mpi"];
  const { code, out, err } = await runJob([...args, "-u", server.url], [...args, "-u", DEAD_URL]);
  assert.equal(code, 99);
  assert.match(out[0] ?? "", /^Concurrency: 1, throughput: /m);
  assert.match(err[0] ?? "", /^rampart: rank 1 ended early: /m);
  assert.match(err[1] ?? "", /^error: failed to get model metadata: /);
});

test("--enable-mpi: a rank that fails under load is not waited for either", LIMIT, async () => {
  const failing: KserveOptions = { onInfer: ({ index }) => (index < 20 ? takeMs(2) : "out of order") };
  await withServers([{ onInfer: () => takeMs(2) }, failing], async (first, second) => {
    // However slow the machine is, the rank fails before it has its windows.
    const windows = ["--measurement-mode", "count_windows", "--measurement-request-count", "30"];
    const args = [...windows, "-s", "1000000", "-v", "--enable-mpi"];
    const { code, out, err } = await runJob([...args, "-u", first.url], [...args, "-u", second.url]);
    assert.equal(code, 99);
    assert.match(out[0] ?? "", /^Concurrency: 1, throughput: /m);
    assert.match(err[0] ?? "", /^rampart: rank 1 ended early/);
    assert.match(err[1] ?? "", /Thread \[0\] had error: .*out of order/);
  });
});

test("--enable-mpi: a job of one rank, and a count of requests", LIMIT, async () => {
  await withServers([{}, {}], async (first, second) => {
    const alone = await runJob([...QUICK_WINDOWS, "--enable-mpi", "-u", first.url]);
    // A busy machine may add notes on the client and the load.
    const errors = alone.err.map((text) => text.replaceAll(/^rampart: (?:the client |load: |throughput × ).*\n/gm, ""));
    assert.deepEqual([alone.code, errors], [0, [""]]);
    const args = ["--request-count", "20", "--warmup-request-count", "5", "--enable-mpi"];
    first.infers.length = 0;
    const { code, out } = await runJob([...args, "-u", first.url], [...args, "-u", second.url]);
    assert.equal(code, 0);
    for (const text of out) assert.match(text, /Request count: 20$/m);
    assert.deepEqual([first.infers.length, second.infers.length], [25, 25]);
  });
});

test("--enable-mpi without mpirun reports that it has no effect, and measures", LIMIT, async () => {
  await using server = await new KserveServer({}).start();
  const { code, err, out } = await runCommand(["-m", "simple", "-u", server.url, ...QUICK_WINDOWS, "--enable-mpi"]);
  assert.equal(code, 0);
  // A short run on a busy machine may say more of itself.
  assert.match(err, /^rampart: --enable-mpi has no effect: /);
  assert.match(out, /^Concurrency: 1, throughput: /m);
  assert.doesNotMatch(out, /MPI/);
});
