import assert from "node:assert/strict";
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { describe, test } from "node:test";
import { KserveServer } from "../run/kserve-server.ts";
import { LIMIT } from "../time-limit.ts";
import { createFolder, runRampart, startRampart } from "./rampart-process.ts";
import { runText, scenarioText } from "./scenario-files.ts";

/** `rampart run` of a scenario that repeats its run. */

describe("a repeated run", LIMIT, () => {
  test("is measured and warmed up each time, and reported with all runs", async () => {
    const parts = {
      load: "steps([1, 2], { requests: 20 })",
      warmupRequests: "3",
      repeat: "3",
      assert: '[mean().below("10 s"), errorRate().is(0)]',
    };
    using folder = createFolder({ "x.ts": scenarioText(parts) });
    const { code, out, err } = await runRampart(["run", "x.ts", "-v", "--json", "r.json"], { cwd: folder.path });
    assert.equal(code, 0, out + err);
    assert.equal(err.match(/warming up at/g)?.length, 6);
    const sums = [...out.matchAll(/^ {2}run \d: sent (\d+) requests .* (\d+) completed, 0 failed/gm)];
    assert.equal(sums.length, 3);
    for (const [, sent, completed] of sums) assert.deepEqual([sent, Number(sent) >= 46], [completed, true]);
    // 60 requests or a few more without a failure show no more than that.
    assert.equal(out.match(/^ +[12] .* 0 % +3\n.* 0 to (6\.0|5\.)\d* %$/gm)?.length, 2, out);
    assert.match(
      out.replaceAll(/\s+/g, " "),
      /pass error rate = 0 % mean 0 % \(0 to (6\.0|5\.)\d* %\).*, kept in 3 of 3 runs/,
    );
    const json = JSON.parse(await readFile(join(folder.path, "r.json"), "utf8"));
    assert.deepEqual(
      json.runs.map((run: { warmup: { sent: number; failed: number }; levels: object[] }) => [
        run.warmup.sent >= 3,
        run.warmup.failed,
        run.levels.length,
      ]),
      new Array(3).fill([true, 0, 2]),
    );
    assert.deepEqual([json.repeat, json.combination.runs], [{ atLeast: 3, atMost: 3 }, 3]);
    const starts = json.runs.map((run: { startedAt: string }) => run.startedAt);
    assert.deepEqual([starts.toSorted(), starts[0]], [starts, json.startedAt]);
  });

  test("draws arrivals of its own in each run, and one seed draws them all again", async () => {
    const text = `import { appendFileSync } from "node:fs";\n${scenarioText({
      load: 'rate(500, { distribution: "poisson", requests: 30 })',
      repeat: "3",
      onRecord: `({ index, sentAtMs, latencyMs, scheduledLatencyMs }) =>
        appendFileSync("due.txt", \`\${index} \${sentAtMs + latencyMs - scheduledLatencyMs}\\n\`)`,
    })}`;
    const gapsOf = async (...flags: string[]): Promise<{ out: string; seeds: number[]; gaps: number[][] }> => {
      using folder = createFolder({ "x.ts": text });
      const { code, out } = await runRampart(["run", "x.ts", "-v", "--json", "r.json", ...flags], { cwd: folder.path });
      assert.equal(code, 0, out);
      const { runs } = JSON.parse(await readFile(join(folder.path, "r.json"), "utf8")) as { runs: { seed: number }[] };
      const rows = (await readFile(join(folder.path, "due.txt"), "utf8")).trim().split("\n");
      const due = rows.map((row) => Number(row.split(" ")[1]));
      const gaps = runs.map((_, run) => {
        const ofRun = due.slice(30 * run, 30 * (run + 1)).toSorted((a, b) => a - b);
        return ofRun.slice(1).map((at, index) => Math.round((at - (ofRun[index] ?? 0)) * 100));
      });
      return { out, seeds: runs.map(({ seed }) => seed), gaps };
    };
    const isSame = (a: readonly number[] = [], b: readonly number[] = []): boolean =>
      a.length === b.length && a.every((gap, index) => Math.abs(gap - (b[index] ?? 0)) <= 1);
    const first = await gapsOf();
    const [one, two, three] = first.gaps;
    assert.deepEqual([isSame(one, two), isSame(two, three), isSame(one, three)], [false, false, false]);
    assert.equal(first.out.match(/^ {2}seeds of the runs: 0, \d+, \d+; seed 0 draws all of them again$/gm)?.length, 1);
    const again = await gapsOf("--seed", "0");
    assert.deepEqual(again.seeds, first.seeds);
    for (const [run, gaps] of again.gaps.entries()) assert.ok(isSame(gaps, first.gaps[run]), `run ${run + 1}`);
    // The seed of a run draws it alone.
    const second = await gapsOf("--seed", String(first.seeds[1]));
    assert.ok(isSame(second.gaps[0], two));
    assert.ok(!isSame(second.gaps[1], three));
  });

  test("that is not precise after the most runs exits with 66", async () => {
    const { code, out } = await runText({
      repeat: '{ atLeast: 2, atMost: 3, until: mean().within("0.000001 %") }',
    });
    assert.equal(code, 66, out);
    assert.match(out, /^UNRESOLVED {2}.*\n.*\n {2}the runs together /m);
    assert.match(out, /^mean latency is within .* of its mean after 3 runs; 0\.000001 % was asked/m);
  });

  test("ends when it is precise", async () => {
    const { code, out, err } = await runText({
      repeat: '{ atLeast: 2, atMost: 9, until: mean().within("1000000 %") }',
    });
    assert.equal(code, 0, out);
    assert.match(err, /^run 1 of at most 9$/m);
    assert.match(out, /^mean latency is within .* after 2 runs; 1[\d,]* % was asked/m);
  });

  test("fails by the mean of its runs", async () => {
    const { code, out } = await runText({
      target: 'embedded({ latency: "3 ms" })',
      repeat: "2",
      assert: "[throughput().above(1e9)]",
    });
    assert.equal(code, 65, out);
    assert.match(out, /^ {2}FAIL +throughput > 1,000,000,000 infer\/s\s.*, kept in 0 of 2 runs$/m);
  });

  test("of several phases is judged by each phase, and each run by the checks of its load", async () => {
    const load =
      '[api.warmup({ requests: 5 }, hold(2)), api.phase("a", hold(2, { requests: 20 })), api.soak(2, { for: "100 ms" })]';
    const { code, out } = await runText({ load, repeat: "2", assert: "[errorRate().is(0)]" });
    // A soak test that is too short to compare its thirds is unresolved.
    assert.equal(code, 66, out);
    for (const phase of ["a", "soak"]) assert.match(out, new RegExp(`^${phase}: concurrency 2 +\\S`, "m"));
    assert.match(out, /^ {2}pass +error rate = 0 %/m);
    assert.equal(out.match(/^ {2}unresolved +run \d: drift of latency and throughput/gm)?.length, 2);
    const good = await runText({
      load: "[hold(2, { requests: 20 }), hold(2, { requests: 30 })]",
      repeat: "2",
      assert: "[errorRate().is(0)]",
    });
    assert.equal(good.code, 0, good.out);
  });

  const searchText = (where: string, atMost: string): Readonly<Record<string, string>> => ({
    load: `api.findMax({ range: api.ramp(1, 4), where: [${where}], window: "100 ms", settle: "20 ms", forAtMost: "${atMost}" })`,
    repeat: "2",
    assert: "[errorRate().is(0)]",
  });

  test("of a search has the mean of the loads that its runs found", async () => {
    const { code, out } = await runText(searchText('errorRate().below("20 %")', "10 s"));
    assert.equal(code, 0, out);
    assert.equal(out.match(/^run \d: .*: at least concurrency 4$/gm)?.length, 2);
    assert.match(out, /^(?!run).*: at least concurrency 4, the same in 2 runs$/m);
    assert.match(out, /^ {2}pass +error rate = 0 % +mean 0 % .*kept in 2 of 2 runs$/m);
  });

  test("of a search fails where no load keeps the limits, and is not stable without a certain result", async () => {
    const none = await runText(searchText('mean().below("1 us")', "10 s"));
    assert.equal(none.code, 65, none.out);
    assert.match(none.out, /^FAILED .*\n(?: +.*\n)? {2}no load keeps the limit in runs 1 and 2$/m);
    // No percentile of so few requests has an upper bound.
    const slow = { target: 'embedded({ latency: "20 ms" })' };
    const open = await runText({ ...slow, ...searchText('p99("latency").below("10 min")', "200 ms") });
    assert.equal(open.code, 66, open.out);
    assert.match(open.out, /^ {2}not certain in runs 1 and 2$/m);
  });

  test("is ended by an assertion with abortAfter", async () => {
    const parts = {
      target: 'embedded({ latency: "20 ms" })',
      load: '[hold(2, { for: "200 ms" }), hold(2, { for: "30 s" })]',
      repeat: "3",
      assert: '[mean().below("1 ms").abortAfter("300 ms")]',
    };
    const { code, out, err } = await runText(parts);
    assert.equal(code, 65, out);
    assert.match(out, /^concurrency 2 .* PARTIAL$/m);
    assert.doesNotMatch(err, /^run 2 of 3/m);
  });

  test("refuses a file that holds a single run, before the first request", async () => {
    const { code, out, err } = await runText({ repeat: "2" }, "--profile-export-file", "p.json");
    assert.deepEqual([code, out], [64, ""]);
    assert.match(
      err,
      /--profile-export-file: holds a single run, and this one is repeated\. Leave it out and read the runs in --json/,
    );
  });

  test("keeps the runs before the one in which it was interrupted", async () => {
    const never = new Promise<undefined>(() => {});
    await using server = await new KserveServer({ onInfer: ({ index }) => (index < 15 ? undefined : never) }).start();
    const target = `triton("${server.url}", { model: "simple" })`;
    using folder = createFolder({ "x.ts": scenarioText({ target, repeat: "4" }) });
    const running = startRampart(["run", "x.ts"], { cwd: folder.path });
    await server.until(() => server.infers.length === 16);
    running.interrupt("SIGINT");
    const { code, out, err } = await running.result;
    assert.equal(code, 130, out + err);
    assert.match(out, /^PARTIAL .* 2 runs /m);
    assert.match(out, /^ {2}run 2 +unfinished +1 /m);
  });

  test("ends with the run whose server is gone, and keeps those before", async () => {
    await using server = await new KserveServer({}).start();
    const target = `triton("${server.url}", { model: "simple" })`;
    using folder = createFolder({
      "x.ts": scenarioText({ target, repeat: "10000", load: "hold(1, { requests: 4 })" }),
    });
    const running = startRampart(["run", "x.ts"], { cwd: folder.path });
    await server.until(() => server.infers.length >= 9);
    await server.stop();
    const { code, out, err } = await running.result;
    assert.equal(code, 69, out + err);
    assert.match(out, /^PARTIAL /m);
    assert.match(out, /^ {10}1 +\S.*\n/m);
  });
});
