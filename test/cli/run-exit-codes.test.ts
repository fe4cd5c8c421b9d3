// Runs on: executable.
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, test } from "node:test";
import { readCsv } from "../report/read-csv.ts";
import { withServer } from "../run/kserve-server.ts";
import { startCountingServer } from "./counting-server.ts";
import { createFolder, inFolder, rampartCommand, runRampart, startProcess, startRampart } from "./rampart-process.ts";
import { runText, scenarioText } from "./scenario-files.ts";

/** The exit codes of `rampart run`, as DESIGN's table has them, and what is printed with each. */

describe("rampart run exits with", () => {
  test("0 when every assertion holds", async () => {
    const { code, out, err } = await runText({
      load: "steps([1, 2], { requests: 20 })",
      assert: '[mean().below("10 s"), throughput().above(0.001), errorRate().is(0)]',
    });
    assert.equal(code, 0, out + err);
    assert.equal(err, "  measuring concurrency 1 …\n  measuring concurrency 2 …\n");
    assert.match(out, /^PASSED {2}a test: .* 40 requests$/m);
    assert.equal(out.match(/^ {2}pass {2}/gm)?.length, 3);
    assert.doesNotMatch(out, /PARTIAL|FAIL/);
  });

  test("0 without assertions, and failed requests are counted", async () => {
    const { code, out } = await runText({ target: "embedded({ errorRate: '50 %' })" });
    assert.equal(code, 0, out);
    assert.match(out, /^MEASURED .*10 requests\n/m);
    assert.match(out, /^ +1 .* 5$/m);
  });

  test("69 when no request succeeds, whatever is asserted", async () => {
    const { code, out, err } = await runText({ target: "embedded({ errorRate: '100 %' })" });
    assert.equal(code, 69, out);
    assert.match(out, /^FAILED .*10 requests\n {2}all 10 requests failed[^\n]*$/m);
    assert.match(out, /^ +1 .*\b0 +10 +0$/m);
    assert.equal(err, "  measuring concurrency 1 …\n");
  });

  test("that no request succeeds is said once with --quiet", async () => {
    using folder = createFolder({ "x.ts": scenarioText({ target: "embedded({ errorRate: '100 %' })" }) });
    const { code, out, err } = await runRampart(["run", "x.ts", "--quiet"], { cwd: folder.path });
    assert.equal(code, 69, err);
    assert.equal(out, "");
    assert.equal((out + err).match(/all 10 requests failed/g)?.length, 1, err);
  });

  test("66 when an assertion is unresolved, 65 when another one fails, and JUnit has an error element", async () => {
    const open = 'p99("latency").below("1 min")';
    await inFolder({ "x.ts": scenarioText({ assert: `[${open}]` }) }, async (cwd) => {
      const { code, out } = await runRampart(["run", "x.ts", "--junit", "j.xml", "--markdown", "m.md"], { cwd });
      assert.equal(code, 66, out);
      assert.match(out, /^ {2}unresolved +.*p99 needs 299 requests, has 10$/m);
      const junit = readFileSync(join(cwd, "j.xml"), "utf8");
      assert.match(junit, /failures="0" errors="1"/);
      assert.match(junit, /<testcase name="p99 latency &lt; 60 s"[^>]*><error message="[^"]*needs 299 requests/);
      assert.match(readFileSync(join(cwd, "m.md"), "utf8"), /^## ⚠️ Unresolved: .*\n\nthe assertion is unresolved/);
    });
    const { code, out } = await runText({ assert: `[${open}, throughput().below(0.001)]` });
    assert.equal(code, 65, out);
  });

  test("the CSV is written when every request failed", async () => {
    using folder = createFolder({ "x.ts": scenarioText({ target: "embedded({ errorRate: '100 %' })" }) });
    const { code } = await runRampart(["run", "x.ts", "--csv", "levels.csv"], { cwd: folder.path });
    assert.equal(code, 69);
    const [row] = readCsv(readFileSync(join(folder.path, "levels.csv"), "utf8"))[0] ?? [];
    const { section, "level (concurrency)": load, "throughput (per s)": throughput } = row ?? {};
    assert.deepEqual([section, load, throughput], ["levels", "1", "0"]);
  });

  test("0 when the server's statistics cannot be read, with one note", async () => {
    await withServer({ failsStatistics: true }, async ({ url, model }) => {
      const target = `triton("${url}", { protocol: "http", model: "${model}" })`;
      const { code, out, err } = await runText({ target, assert: "[errorRate().is(0)]" });
      assert.equal(code, 0, out + err);
      assert.match(out, /^PASSED .* 10 requests$/m);
      assert.equal(`${out}${err}`.match(/the statistics are out of order/g)?.length, 1, out + err);
    });
  });

  test("0 when a level is stable", async () => {
    const { code, out } = await runText({
      load: "hold(1)",
      stability: '{ window: "100 ms", within: "1000000 %", trials: 50 }',
    });
    assert.equal(code, 0, out);
    assert.doesNotMatch(out, /UNSTABLE/);
  });

  test("65 when an assertion fails, with its name", async () => {
    const { code, out } = await runText({
      target: 'embedded({ latency: "3 ms" })',
      assert: "[throughput().above(1e9), errorRate().is(0)]",
    });
    assert.equal(code, 65, out);
    assert.match(out, /^ {2}FAIL +throughput > 1,000,000,000 infer\/s/m);
    assert.match(out, /^ {2}pass +error rate = 0 %/m);
  });

  test("65 when an assertion fails at one level only", async () => {
    const { code, out } = await runText({
      // The second one takes 2 s on any machine, the first one less on all but a stalled one.
      load: "rateSteps([1000000, 1], { requests: 3 })",
      assert: "[throughput().above(3)]",
    });
    assert.equal(code, 65, out);
    assert.match(out, /FAIL .*\s.* at 1 requests\/s/);
  });

  test("65 when requests fail and none may", async () => {
    const { code, out } = await runText({ target: "embedded({ errorRate: '100 %' })", assert: "[errorRate().is(0)]" });
    assert.equal(code, 65, out);
    assert.match(out, /100 %/);
  });

  test("66 when a level does not become stable", async () => {
    const { code, out } = await runText({
      target: 'embedded({ latency: "exponential:3ms" })',
      load: "hold(1)",
      stability: '{ window: "250 ms", within: "0.000001 %", trials: 3 }',
      assert: "[errorRate().is(0)]",
    });
    assert.equal(code, 66, out);
    assert.match(out, /UNSTABLE/);
    assert.match(out, /Not stable: (throughput|latency) moved by /);
  });

  test("69 when nothing listens", async () => {
    const server = await startCountingServer();
    await server.stop();
    const { code, out, err } = await runText({ target: `triton("127.0.0.1:${server.port}", { model: "m" })` });
    assert.equal(code, 69, out + err);
    assert.match(err, new RegExp(`127\\.0\\.0\\.1:${server.port}`));
    assert.equal(out, "");
  });

  test("69 when the target answers no inference any more, after the stall timeout", async () => {
    const { code, out, err } = await runText({
      target: 'embedded({ latency: "10 min" })',
      load: 'hold(1, { for: "10 min" })',
      stallTimeout: '"100 ms"',
    });
    assert.equal(code, 69, out + err);
    assert.match(err, /no byte received for 100 ms/);
    assert.match(out, /^PARTIAL {2}.*\n {2}\S/m);
    assert.match(out, /^ {2}stalled +\d/m);
  });

  test("69 when more requests fail than may", async () => {
    const { code, out, err } = await runText({
      target: "embedded({ errorRate: '100 %' })",
      load: "hold(1, { requests: 1000 })",
      maxErrorRate: '"50 %"',
    });
    assert.equal(code, 69, out + err);
    assert.match(out, /^PARTIAL {2}.*\n {2}\S/m);
  });

  test("130 at Ctrl-C, with a report marked as partial", async () => {
    using folder = createFolder({ "x.ts": scenarioText({ load: 'hold(1, { for: "10 min" })' }) });
    const running = startRampart(["run", "x.ts", "--json", "x.json"], { cwd: folder.path });
    await running.waitFor(/measuring concurrency 1/);
    running.interrupt();
    const { code, out, err } = await running.result;
    assert.equal(code, 130, out + err);
    assert.match(out, /^PARTIAL {2}.*\n {2}\S/m);
    assert.match(err, /interrupted/);
    const report = JSON.parse(readFileSync(join(folder.path, "x.json"), "utf8")) as { isPartial: boolean };
    assert.equal(report.isPartial, true);
  });

  test("130 at SIGTERM, with the same report", async () => {
    using folder = createFolder({ "x.ts": scenarioText({ load: 'hold(1, { for: "10 min" })' }) });
    const running = startRampart(["run", "x.ts"], { cwd: folder.path });
    await running.waitFor(/measuring concurrency 1/);
    running.interrupt("SIGTERM");
    const { code, out, err } = await running.result;
    assert.equal(code, 130, out + err);
    assert.match(out, /^PARTIAL {2}.*\n {2}\S/m);
    assert.match(err, /interrupted by SIGTERM/);
  });

  test("66 when more connections are needed than the process may open files", async () => {
    using folder = createFolder({ "x.ts": scenarioText({ load: 'hold(900, { for: "1 s" })' }) });
    const command = ["sh", "-c", 'ulimit -n 700; exec "$@"', "sh", ...rampartCommand(), "run", "x.ts"];
    const { code, out, err } = await startProcess(command, { cwd: folder.path }).result;
    assert.equal(code, 66, out + err);
    assert.match(err, /the load needs 900 requests in flight, .*: this process may open 700 files\. Raise that limit/);
  });

  test("130 at once at the second Ctrl-C, when requests stay outstanding", async () => {
    const parts = { target: 'embedded({ latency: "10 min" })', load: 'hold(1, { for: "10 min" })' };
    using folder = createFolder({ "x.ts": scenarioText(parts) });
    const running = startRampart(["run", "x.ts"], { cwd: folder.path });
    await running.waitFor(/measuring concurrency 1/);
    running.interrupt();
    await running.waitFor(/waiting for requests in flight/);
    running.interrupt();
    assert.equal((await running.result).code, 130);
  });
});

describe("rampart run exits with 64", () => {
  test("and every mistake of the scenario by its path", async () => {
    const { code, out, err } = await runText({ name: '""', load: 'hold(0, { for: "1 s" })', client: '"fetch"' });
    assert.equal(code, 64);
    assert.equal(out, "");
    assert.match(err, /^rampart: x\.ts:5:3, name: must be a name \(got ""\)/m);
    assert.match(err, /^rampart: x\.ts:7:3, load\.concurrency: must be 1 or more \(got 0\)/m);
    assert.match(err, /^rampart: x\.ts:8:3, client: /m);
    // No option corrects them.
    assert.doesNotMatch(err, /--help/);
  });

  test("and every mistake of the command line", async () => {
    const { code, out, err } = await runText({}, "--jsno", "x", "--client", "fetch", "--dry-run=1", "y.ts", "--csv");
    assert.equal(code, 64);
    assert.equal(out, "");
    for (const path of ["--jsno", "--client", "--dry-run", "y.ts", "--csv"])
      assert.match(err, new RegExp(`^rampart: ${path.replace(".", "\\.")}: `, "m"));
  });

  const wrong: readonly (readonly [string, string[], RegExp])[] = [
    ["without a scenario", ["run"], /SCENARIO: no scenario is given/],
    [
      "for a stall timeout without a unit",
      ["run", "x.ts", "--stall-timeout", "5"],
      /--stall-timeout: is not a duration/,
    ],
    [
      "for an address of the embedded target",
      ["run", "x.ts", "--url", "h:1"],
      /--url: .*embedded\(…\) and has no address/,
    ],
    ["for a client of another protocol", ["run", "x.ts", "--client", "grpc-js"], /--client: grpc-js speaks gRPC/],
    ["for an unknown command", ["rnu", "x.ts"], /there is no command 'rnu'/],
    ["without a command", [], /Usage: rampart COMMAND/],
  ];
  for (const [name, args, text] of wrong) {
    test(name, async () => {
      using folder = createFolder({ "x.ts": scenarioText({}) });
      const { code, out, err } = await runRampart(args, { cwd: folder.path });
      assert.equal(code, 64, out + err);
      assert.equal(out, "");
      assert.match(err, text);
    });
  }
});
