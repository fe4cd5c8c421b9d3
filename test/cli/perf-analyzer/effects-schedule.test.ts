import assert from "node:assert/strict";
import { join } from "node:path";
import { test } from "node:test";
import { parseOptions } from "../../../src/cli/perf-analyzer/options/table.ts";
import { readSettings } from "../../../src/cli/perf-analyzer/settings.ts";
import { toPlan } from "../../../src/cli/perf-analyzer/to-plan.ts";
import { constantArrivals, poissonArrivals } from "../../../src/load/arrivals.ts";
import { prepareLoad } from "../../../src/registry/load-modes.ts";
import { makeFolder, writeIn } from "../../make-folder.ts";
import { KserveServer, takeMs, withServer } from "../../run/kserve-server.ts";
import { LIMIT } from "../../time-limit.ts";
import { QUICK_WINDOWS, readProfile, runCommand, startCommand } from "./run-command.ts";

/** What flags do to when and how many requests are sent. Their names say which flags. */

/** The due times of the first requests, in nanoseconds, as the flags' load mode decides them. */
function dueTimesNs(flags: readonly string[], count: number): number[] {
  const { settings, problems } = readSettings(parseOptions(["-m", "simple", ...flags]));
  assert.deepEqual(problems, []);
  const load = prepareLoad(toPlan(settings).plan.load);
  const { levels } = load.search;
  const drive = load.drive(levels.kind === "list" ? (levels.values[0] as number) : levels.start, []);
  assert.equal(drive.kind, "scheduled");
  const { arrivals } = drive as Extract<typeof drive, { kind: "scheduled" }>;
  return Array.from({ length: count }, arrivals);
}

/** The levels a run printed, in order. */
function levelsOf(out: string): number[] {
  const lines = out.matchAll(/^Request (?:concurrency: ([\d.]+)|Rate: ([\d.]+) inference requests per second)$/gm);
  return [...lines].map((match) => Number(match[1] ?? match[2]));
}

test("--concurrency-range keeps each level's number of requests outstanding", LIMIT, async () => {
  await withServer({}, async (server) => {
    server.hold();
    const running = startCommand(["-m", "simple", "-u", server.url, "--concurrency-range", "3", ...QUICK_WINDOWS]);
    await server.until(() => server.outstanding === 3);
    server.release();
    const { code, out } = await running.result;
    assert.equal(code, 0);
    assert.equal(server.maxOutstanding, 3);
    assert.deepEqual(levelsOf(out), [3]);
  });
  await using server = await new KserveServer({ onInfer: () => takeMs(5) }).start();
  const args = ["-m", "simple", "-u", server.url, "--concurrency-range", "1:5:2", ...QUICK_WINDOWS];
  const { code, out } = await runCommand(args);
  assert.equal(code, 0);
  assert.deepEqual(levelsOf(out), [1, 3, 5]);
  assert.equal(server.maxOutstanding, 5);
});

test(
  "--binary-search without a range measures a concurrency of 1 as both ends, as the original does",
  LIMIT,
  async () => {
    await using server = await new KserveServer({ onInfer: () => takeMs(2) }).start();
    const args = ["-m", "simple", "-u", server.url, "--binary-search", "-l", "1000", ...QUICK_WINDOWS, "-p", "500"];
    const { code, out, err } = await runCommand(args);
    assert.equal(code, 0, err);
    assert.deepEqual(levelsOf(out), [1, 1]);
  },
);

test("-t and -c are the ends of the range of concurrencies, -d changes nothing", LIMIT, async () => {
  await using server = await new KserveServer({ onInfer: () => takeMs(2) }).start();
  const measured = async (...flags: string[]): Promise<[levels: number[], err: string]> => {
    const { code, out, err } = await runCommand(["-m", "simple", "-u", server.url, ...flags, ...QUICK_WINDOWS]);
    assert.equal(code, 0, err);
    // A busy machine may add a note on the client.
    const warnings = err.replaceAll(/^rampart: .*\n/gm, "");
    return [levelsOf(out), warnings.replaceAll(/(?<=^Warning: \S+) .*(--\S+) .*/gm, ": $1")];
  };
  const warning = (flag: string): string => `Warning: ${flag}: --concurrency-range\n`;
  assert.deepEqual(await measured("-t", "3"), [[3], warning("-t")]);
  assert.equal(server.maxOutstanding, 3);
  assert.deepEqual(await measured("-d", "-c", "3", "-t", "2"), [[2, 3], warning("-d") + warning("-c") + warning("-t")]);
  // What the newer flag says counts, and it may leave the end to -c.
  assert.deepEqual((await measured("-t", "4", "-c", "2", "--concurrency-range", "1"))[0], [1, 2]);
});

test("--request-rate-range spaces requests evenly and never sends early", LIMIT, async () => {
  assert.deepEqual(dueTimesNs(["--request-rate-range", "100"], 3), [10e6, 20e6, 30e6]);
  assert.deepEqual(dueTimesNs(["--request-rate-range", "0.5"], 2), [2e9, 4e9]);
  await using server = await new KserveServer({}).start();
  const startMs = performance.now();
  const args = ["-m", "simple", "-u", server.url, "--request-rate-range", "200", "--request-count", "200"];
  const { code, out } = await runCommand(args);
  assert.equal(code, 0);
  assert.deepEqual(levelsOf(out), [200]);
  assert.equal(server.infers.length, 200);
  for (const [index, infer] of server.infers.entries()) {
    const dueMs = (index + 1) * 5;
    assert.ok(infer.arrivedMs - startMs >= dueMs, `request ${index} came before it was due`);
  }
});

test("--request-distribution poisson draws the gaps, constant does not", LIMIT, async () => {
  const flags = ["--request-rate-range", "50"];
  const poisson = dueTimesNs([...flags, "--request-distribution", "poisson"], 50);
  assert.deepEqual(poisson, Array.from({ length: 50 }, poissonArrivals(50, 5489)));
  assert.equal(new Set(poisson.map((due, index) => due - (poisson[index - 1] ?? 0))).size, 50);
  const constant = dueTimesNs([...flags, "--request-distribution", "constant"], 50);
  assert.deepEqual(constant, Array.from({ length: 50 }, constantArrivals(50)));
  await using server = await new KserveServer({}).start();
  const args = ["-m", "simple", "-u", server.url, "--request-rate-range", "60", "--request-count", "60"];
  const { out } = await runCommand([...args, "--request-distribution", "poisson"]);
  assert.match(out, /^ {2}Using poisson distribution on request generation$/m);
  const { out: evenly } = await runCommand(args);
  assert.match(evenly, /^ {2}Using uniform distribution on request generation$/m);
  assert.equal(server.infers.length, 120);
});

test("--request-intervals sends at the file's gaps, over and over", LIMIT, async () => {
  const folder = makeFolder();
  const file = writeIn(folder, "gaps.txt", "10000\n20000\n50000\n");
  assert.deepEqual(dueTimesNs(["--request-intervals", file], 5), [10e6, 30e6, 80e6, 90e6, 110e6]);
  await using server = await new KserveServer({}).start();
  const startMs = performance.now();
  const profile = join(folder, "profile.json");
  const args = ["-m", "simple", "-u", server.url, "--request-intervals", file, "--request-count", "5"];
  const { code, out } = await runCommand([...args, "--profile-export-file", profile]);
  assert.equal(code, 0);
  // perf_analyzer knows whole requests per second: three in 80 ms are 37.5.
  assert.match(out, /^Request Rate: 37, throughput/m);
  assert.equal(readProfile(profile).experiments[0]?.experiment.value, 37);
  const dueMs = [10, 30, 80, 90, 110];
  assert.equal(server.infers.length, 5);
  for (const [index, infer] of server.infers.entries())
    assert.ok(infer.arrivedMs - startMs >= (dueMs[index] as number), `request ${index} came before it was due`);
});

test("-p sets the length of windows, which last 1.2 times as long", LIMIT, async () => {
  await using server = await new KserveServer({}).start();
  const folder = makeFolder();
  const file = join(folder, "profile.json");
  const flags = ["-p", "100", "-s", "1000000", "--profile-export-file", file];
  const { code, out } = await runCommand(["-m", "simple", "-u", server.url, ...flags]);
  assert.equal(code, 0);
  assert.match(out, /^ {2}Measurement window: 100 msec$/m);
  const bounds = readProfile(file).experiments[0]?.window_boundaries ?? [];
  assert.equal(bounds.length, 4);
  const lengthsMs = bounds.slice(1).map((bound, index) => (bound - (bounds[index] as number)) / 1e6);
  for (const lengthMs of lengthsMs) assert.ok(lengthMs > 119, `a window lasted ${lengthMs} ms`);
});

test(
  "--measurement-mode count_windows and --measurement-request-count make windows end by requests",
  LIMIT,
  async () => {
    await using server = await new KserveServer({ onInfer: () => takeMs(20) }).start();
    // Fewer than 60 responses in a second, so a window must last into the next second. One window is too few to be stable.
    const flags = ["--measurement-mode", "count_windows", "--measurement-request-count", "60", "-r", "1"];
    const { code, out } = await runCommand(["-m", "simple", "-u", server.url, ...flags]);
    assert.equal(code, 2, out);
    assert.match(out, /"count_windows"/);
    assert.match(out, / samples .*: 60$/m);
    assert.ok(server.infers.length >= 60, `${server.infers.length} requests`);
    const lastedMs = (server.infers.at(-1)?.arrivedMs ?? 0) - (server.infers[0]?.arrivedMs ?? 0);
    assert.ok(lastedMs > 1900, `the window lasted ${lastedMs} ms instead of two whole seconds`);
  },
);

test("--request-count sends exactly this number of requests and measures all of them", LIMIT, async () => {
  for (const flags of [[], ["--concurrency-range", "4"], ["--concurrency-range", "4", "--async"]]) {
    await using server = await new KserveServer({}).start();
    const { code, out } = await runCommand(["-m", "simple", "-u", server.url, "--request-count", "37", ...flags]);
    assert.equal(code, 0);
    assert.equal(server.infers.length, 37, flags.join(" "));
    assert.match(out, /^ {4}Request count: 37$/m);
    assert.match(out, /^ {2}Sending 37 benchmark requests$/m);
  }
});

test("--warmup-request-count sends requests first that are not measured", LIMIT, async () => {
  await using server = await new KserveServer({}).start();
  const flags = ["--warmup-request-count", "5", "--request-count", "20"];
  const { code, out } = await runCommand(["-m", "simple", "-u", server.url, ...flags]);
  assert.equal(code, 0);
  assert.equal(server.infers.length, 25);
  assert.match(out, /^ {2}Sending 5 warmup requests$/m);
  assert.match(out, /^ {4}Request count: 20$/m);
  assert.match(out, /^ {4}Successful request count: 20$/m);
});

test("a warm-up at a rate has the rate of the measurement, and no line of its own", LIMIT, async () => {
  await using server = await new KserveServer({}).start();
  const flags = ["--request-rate-range", "20", "--request-count", "20", "--warmup-request-count", "4"];
  const { code, out } = await runCommand(["-m", "simple", "-u", server.url, ...flags]);
  assert.equal(code, 0);
  assert.equal(server.infers.length, 24);
  assert.deepEqual(out.match(/^Request Rate: .*second$/gm), ["Request Rate: 20 inference requests per second"]);
});

test("-s decides whether windows agree", LIMIT, async () => {
  let delayMs = 1;
  // Every response takes longer than the one before, so latency never agrees exactly.
  const onInfer = (): Promise<undefined> => {
    delayMs += 0.5;
    return takeMs(delayMs);
  };
  await using server = await new KserveServer({ onInfer }).start();
  const args = ["-m", "simple", "-u", server.url, "-p", "150", "-r", "4"];
  const strict = await runCommand([...args, "-s", "0"]);
  assert.equal(strict.code, 2);
  assert.match(strict.err, / within 4 .* for concurrency 1\./);
  delayMs = 1;
  assert.equal((await runCommand([...args, "-s", "1000000"])).code, 0);
});

test("-r is the most windows of a level", LIMIT, async () => {
  let delayMs = 1;
  const onInfer = (): Promise<undefined> => {
    delayMs += 0.5;
    return takeMs(delayMs);
  };
  await using server = await new KserveServer({ onInfer }).start();
  const { code, out } = await runCommand(["-m", "simple", "-u", server.url, "-p", "100", "-s", "0", "-r", "5", "-v"]);
  assert.equal(code, 2);
  const passes = [...out.matchAll(/^ {2}Pass \[(\d+)\]/gm)].map((match) => Number(match[1]));
  assert.deepEqual(passes, [1, 2, 3, 4, 5]);
});

test("-l ends the search at the level whose latency reaches it", LIMIT, async () => {
  await using server = await new KserveServer({ onInfer: () => takeMs(25) }).start();
  const args = ["-m", "simple", "-u", server.url, "--concurrency-range", "1:4", "-p", "500", "-s", "1000000"];
  const stopped = await runCommand([...args, "-l", "10"]);
  assert.match(stopped.err, /^Measured latency .* limit of 10 msec\. $/m);
  assert.deepEqual(levelsOf(stopped.out), [1]);
  assert.equal(server.maxOutstanding, 1);
  assert.doesNotMatch(stopped.out, /^Concurrency: /m);
  const free = await runCommand([
    ...args.slice(0, 4),
    "--concurrency-range",
    "1:2",
    ...QUICK_WINDOWS,
    "-p",
    "500",
    "-l",
    "5000",
  ]);
  assert.deepEqual(levelsOf(free.out), [1, 2]);
});

test("--binary-search looks for the highest level under -l by halving", LIMIT, async () => {
  let outstandingNow = (): number => 0;
  await using server = await new KserveServer({ onInfer: () => takeMs(outstandingNow() <= 3 ? 20 : 300) }).start();
  outstandingNow = () => server.outstanding;
  // A window without a response counts as over the limit, so windows wait for responses.
  const windows = ["--measurement-mode", "count_windows", "--measurement-request-count", "10", "-s", "1000000"];
  const flags = ["--concurrency-range", "1:8:1", "--binary-search", "-l", "200", ...windows];
  // A median does not move when the machine stops a few requests.
  const { code, out, err } = await runCommand(["-m", "simple", "-u", server.url, ...flags, "--percentile", "50"]);
  assert.equal(code, 0, `${out}${err}`);
  assert.deepEqual(levelsOf(out), [1, 8, 4, 2, 3]);
  assert.match(out, /^ {2}Using Binary Search algorithm$/m);
  const summary = [...out.matchAll(/^Concurrency: (\d+), throughput/gm)].map((match) => Number(match[1]));
  assert.deepEqual(summary, [1, 2, 3]);
});

test(
  "--max-threads bounds the lanes of --async and the requests outstanding of a synchronous rate",
  LIMIT,
  async () => {
    await withServer({}, async (server) => {
      const flags = ["--async", "--concurrency-range", "6", "--max-threads", "2", "--request-count", "40"];
      assert.equal((await runCommand(["-m", "simple", "-u", server.url, ...flags])).code, 0);
      assert.deepEqual(new Set(server.infers.map(({ json }) => BigInt(json.id ?? "") >> 48n)), new Set([0n, 1n]));
    });
    await using server = await new KserveServer({}).start();
    server.hold();
    const flags = ["--request-rate-range", "250", "--max-threads", "3", "--request-count", "250"];
    const running = startCommand(["-m", "simple", "-u", server.url, ...flags]);
    await server.until(() => server.outstanding === 3);
    await takeMs(30); // many more are due by now
    server.release();
    assert.equal((await running.result).code, 0);
    assert.equal(server.maxOutstanding, 3);
    assert.equal(server.infers.length, 250);
  },
);

test("--stall-timeout ends a run whose server answers nothing", LIMIT, async () => {
  await using server = await new KserveServer({}).start();
  server.hold();
  const { code, err } = await runCommand([
    "-m",
    "simple",
    "-u",
    server.url,
    "--stall-timeout",
    "200ms",
    "--request-count",
    "1",
  ]);
  assert.equal(code, 99);
  assert.match(err, /Thread \[0\] had error: no byte received for 200 ms/);
});

test("--timeout fails a request that takes too long", LIMIT, async () => {
  const never = new Promise<undefined>(() => {});
  const onInfer = ({ index }: { index: number }): Promise<undefined> | undefined => (index === 4 ? never : undefined);
  const args = ["-m", "simple", "--request-count", "10", "--timeout", "3s"];
  await withServer({ onInfer }, async (server) => {
    const strict = await runCommand([...args, "-u", server.url]);
    assert.equal(strict.code, 99);
    assert.match(strict.err, /Thread \[0\] had error: no complete response within 3 s/);
  });
  await using server = await new KserveServer({ onInfer }).start();
  const lax = await runCommand([...args, "-u", server.url, "--request-count", "30", "--max-error-rate", "50%"]);
  assert.equal(lax.code, 0, lax.err);
  assert.match(lax.out, /^ {4}Request count: 29$/m);
});

test("--max-error-rate lets a run continue despite failed requests", LIMIT, async () => {
  const onInfer = ({ index }: { index: number }): string | undefined => (index % 10 === 9 ? "no luck" : undefined);
  await using server = await new KserveServer({ onInfer }).start();
  const args = ["-m", "simple", "-u", server.url, "--request-count", "50"];
  const strict = await runCommand(args);
  assert.equal(strict.code, 99);
  assert.match(strict.err, /Thread \[0\] had error: no luck/);
  const lax = await runCommand([...args, "--max-error-rate", "20%"]);
  assert.equal(lax.code, 0);
  assert.match(lax.out, /^ {4}Request count: 45$/m);
  assert.match(lax.err, /5 requests failed/);
  const tooFew = await runCommand([...args, "--max-error-rate", "5%"]);
  assert.equal(tooFew.code, 99);
  assert.match(tooFew.err, /3 of \d+ requests failed, more than the 5 % allowed; for example: no luck/);
});

test("--workers divides the load among threads, if it can be divided", LIMIT, async () => {
  await using server = await new KserveServer({}).start();
  const args = [
    "-m",
    "simple",
    "-u",
    server.url,
    "--request-count",
    "40",
    "--concurrency-range",
    "6",
    "--workers",
    "3",
  ];
  const { code, out, err } = await runCommand(args);
  assert.equal(code, 0, err);
  assert.match(out, /^ {4}Request count: 40$/m);
  assert.equal(server.successCount, 40);
  const undivided = await runCommand([...args, "--shared-memory", "system"]);
  assert.equal(undivided.code, 99);
  assert.match(undivided.err, /several workers cannot .*\(got 3\)/);
  assert.equal(server.successCount, 40);
  const traced = await runCommand([...args, "-v", "-v"]);
  assert.equal(traced.code, 0, traced.err);
  assert.equal(traced.out.match(/^inference request: /gm)?.length, 40);
});
