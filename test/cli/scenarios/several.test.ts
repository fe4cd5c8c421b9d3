import assert from "node:assert/strict";
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, test } from "node:test";
import { findScenarios } from "../../../src/cli/scenarios/several.ts";
import type { Problem } from "../../../src/plan/problem.ts";
import { createFolder, runRampart } from "../rampart-process.ts";

/** Several scenarios in one run, and options that replace a scenario's load. */

const scenario = (name: string, limit: string): string => `
import { defineScenario, embedded, hold, max } from "rampart";
export default defineScenario({
  name: "${name}", target: embedded(), load: hold(1, { requests: 20 }), assert: [max("latency").below("${limit}")],
});
`;
const YAML = "name: c\ntarget: embedded\nload: { hold: { concurrency: 1, requests: 10 } }\n";
const AB = `
import { ab, defineScenario, embedded, hold, percentile } from "rampart";
export default defineScenario({
  name: "ab", target: ab(embedded(), embedded(), { pairs: 2 }), load: hold(1, { requests: 20 }),
  assert: [percentile(0.99, "latency").below("1 min")],
});
`;
const PER = `
import { defineScenario, embedded, hold, mix, percentile, perTarget } from "rampart";
export default defineScenario({
  name: "per", target: mix([{ name: "a", target: embedded() }, { name: "b", target: embedded() }]),
  load: perTarget({ a: hold(1, { requests: 20 }), b: hold(2, { requests: 20 }) }),
  assert: [percentile(0.99, "latency").below("1 min")],
});
`;
const FILES = {
  "a.ts": scenario("a", "1 min"),
  "b.ts": scenario("b", "1 us"),
  "c.yaml": YAML,
  "lib.ts": "export const x = 1;\n",
  "inputs.json": '{ "data": [] }\n',
  "compose.yaml": "services: {}\n",
  "rampart.d.ts": "export default 1;\n",
};

/** Returns the number of points of a report of several runs. */
function jsonPointsOf(cwd: string, name: string): number {
  return (JSON.parse(readFileSync(join(cwd, name), "utf8")) as { readonly points: readonly object[] }).points.length;
}

describe("rampart run with several scenarios", () => {
  test("takes those of a folder, and leaves its other files alone", async () => {
    using folder = createFolder(FILES);
    const problems: Problem[] = [];
    assert.deepEqual(findScenarios([folder.path, join(folder.path, "a.ts")], problems), [
      join(folder.path, "a.ts"),
      join(folder.path, "b.ts"),
      join(folder.path, "c.yaml"),
    ]);
    assert.deepEqual(problems, []);
  });

  test("is rampart FOLDER too, without a slash", async () => {
    using folder = createFolder({ "many/c.yaml": YAML });
    const { code, out, err } = await runRampart(["many", "--dry-run"], { cwd: folder.path });
    assert.equal(code, 0, err);
    assert.equal((JSON.parse(out) as { readonly name: string }).name, "c");
  });

  test("runs all of them, with the gravest verdict and a report of each", async () => {
    using folder = createFolder(FILES);
    const { code, out, err } = await runRampart(["run", ".", "--json", "{name}.out.json"], { cwd: folder.path });
    assert.equal(code, 65, err);
    assert.match(
      out,
      /\nFAILED {2}2 of 3 scenarios passed\n {2}PASSED +a\.ts\n {2}FAILED +b\.ts\n {2}PASSED +c\.yaml\n$/,
    );
    for (const name of ["a", "b", "c"]) assert.ok(existsSync(join(folder.path, `${name}.out.json`)), name);
    // The reports are no scenarios.
    assert.equal(findScenarios([folder.path], []).length, 3);
  });

  test("runs none of them when one has a mistake", async () => {
    using folder = createFolder({ ...FILES, "d.ts": "export default { name: 'd' };\n" });
    const { code, out, err } = await runRampart(["run", "a.ts", "d.ts", "--records", "x.jsonl"], { cwd: folder.path });
    assert.equal(code, 64);
    assert.equal(out, "");
    assert.match(err, /--records: .* Write \{name\} in it/);
    assert.match(err, /^rampart: \S*d\.ts: /m);
    const none = await runRampart(["run", "a.ts", "nowhere.ts"], { cwd: folder.path });
    assert.deepEqual([none.code, none.out], [64, ""]);
  });

  test("runs none of them when the plan of one is wrong, also of one side and of one target of its own", async () => {
    const wrong = {
      "w.ts": scenario("w", "1 min").replace("max(", "percentile(0.99, ").replace("max }", "percentile }"),
    };
    using folder = createFolder({ ...FILES, ...wrong, "ab.ts": AB, "per.ts": PER });
    const broken = ["w.ts", "ab.ts", "per.ts"];
    const { code, out, err } = await runRampart(["run", "a.ts", ...broken], { cwd: folder.path });
    assert.deepEqual([code, out], [64, ""], err);
    for (const file of broken) assert.match(err, new RegExp(`^rampart: ${file}:.* percentile of 1 or more`, "m"));
  });

  test("writes the report of a comparison, and of targets with loads of their own, under the scenario's name", async () => {
    const files = { "one.ts": AB.replace("0.99", "99"), "two.ts": PER.replace("0.99", "99") };
    using folder = createFolder(files);
    const { code, err } = await runRampart(["run", ".", "--json", "out-{name}.json"], { cwd: folder.path });
    assert.ok(code === 0 || code === 66, err);
    assert.deepEqual(
      readdirSync(folder.path)
        .filter((name) => name.startsWith("out"))
        .toSorted(),
      ["out-one.json", "out-two.json"],
    );
    assert.equal(jsonPointsOf(folder.path, "out-two.json"), 2);
  });

  test("says before how long all take, also where nothing is run", async () => {
    const files = {
      "ab.ts": AB.replace("0.99", "99").replace("requests: 20", 'for: "2 min"'),
      "per.ts": PER.replace("0.99", "99").replaceAll("requests: 20", 'for: "3 min"'),
    };
    using folder = createFolder(files);
    const { code, out, err } = await runRampart(["run", ".", "--dry-run"], { cwd: folder.path });
    assert.equal(code, 0, err);
    assert.match(err, /2 scenarios, expected to take 11 min .*at most/);
    assert.match(err, /4 blocks: a b b a, expected to take 8 min .*at most/);
    assert.match(err, /at the same time: a, b, expected to take 3 min .*at most/);
    const { expectedTime } = JSON.parse(out) as { readonly expectedTime: { readonly mostMs: number } };
    assert.equal(expectedTime.mostMs, (8 + 3) * 60_000);
    const swept = await runRampart(["run", "per.ts", "--sweep", "users=1,2", "--for", "3min", "--dry-run"], {
      cwd: folder.path,
    });
    assert.equal(swept.code, 0, swept.err);
    assert.match(swept.err, /a sweep of 2 points, expected to take about 6 min/);
  });

  test("a sweep may be a range, as a curve of users is", async () => {
    using folder = createFolder(FILES);
    for (const [sweep, values] of [
      ["users=1:3", ["1", "2", "3"]],
      ["users=1,4:9:2", ["1", "4", "6", "8"]],
      ["rate=0.1:0.3:0.1", ["0.1", "0.2", "0.3"]],
    ] as const) {
      const { code, out, err } = await runRampart(["run", "a.ts", "--sweep", sweep, "--dry-run"], { cwd: folder.path });
      assert.equal(code, 0, err);
      const { points } = JSON.parse(out) as { readonly points: readonly { readonly values: object }[] };
      assert.deepEqual(
        points.flatMap((point) => Object.values(point.values)),
        values,
      );
    }
  });

  test("sweeps each of them", async () => {
    using folder = createFolder({ ...FILES, "ab.ts": AB.replace("0.99", "99") });
    const files = ["a.ts", "c.yaml"];
    const swept = await runRampart(["run", ...files, "--sweep", "users=1,2", "--json", "{name}.out.json"], {
      cwd: folder.path,
    });
    assert.equal(swept.code, 0, swept.err);
    for (const name of ["a", "c"]) assert.equal(jsonPointsOf(folder.path, `${name}.out.json`), 2);
    const wrong = await runRampart(["run", ...files, "--sweep", "nothing=1,2"], { cwd: folder.path });
    assert.deepEqual([wrong.code, wrong.out], [64, ""]);
    for (const file of files) assert.match(wrong.err, new RegExp(`${file}: --sweep nothing: is neither`));
    const own = await runRampart(["run", "a.ts", "ab.ts", "--sweep", "users=1,2"], { cwd: folder.path });
    assert.deepEqual([own.code, own.out], [64, ""]);
    assert.match(own.err, /ab\.ts:\d.*, target: ab.* already runs .* several times\. Leave out --sweep/);
  });
});

describe("options that replace a scenario's load", () => {
  const planOf = async (cwd: string, ...args: string[]) => {
    const { code, out, err } = await runRampart(["c.yaml", "--dry-run", ...args], { cwd });
    assert.equal(code, 0, err);
    return JSON.parse(out) as {
      readonly load: { readonly kind: string; readonly levels: object };
      readonly measurement: { readonly mode: object };
      readonly assertions: readonly object[];
    };
  };

  test("are those of rampart http", async () => {
    using folder = createFolder(FILES);
    const users = await planOf(folder.path, "-c", "7", "-z", "3s");
    assert.equal(users.load.kind, "concurrency");
    assert.deepEqual(users.load.levels, { kind: "list", values: [7] });
    assert.deepEqual(users.measurement.mode, { kind: "duration", durationMs: 3000 });
    assert.equal((await planOf(folder.path, "--rate", "50")).load.kind, "request-rate");
    const shorter = await planOf(folder.path, "--for", "2s", "--fail-if", "p99 > 25ms");
    assert.deepEqual(shorter.load.levels, { kind: "list", values: [1] });
    assert.deepEqual(shorter.measurement.mode, { kind: "duration", durationMs: 2000 });
    assert.deepEqual(shorter.assertions, [
      { metric: { key: "latency", statistic: 99 }, comparison: "at-most", limit: 25e6 },
    ]);
  });

  test("are measured as long as the scenario's own load, where nothing else is given", async () => {
    const load = "load: { hold: { concurrency: 1, requests: 30 } }";
    using folder = createFolder({ "c.yaml": `name: c\ntarget: embedded\n${load}\n` });
    assert.deepEqual((await planOf(folder.path, "--users", "4")).measurement.mode, { kind: "requests", count: 30 });
    const timed = await planOf(folder.path, "--rate", "4", "--for", "2s");
    assert.deepEqual(timed.measurement.mode, { kind: "duration", durationMs: 2000 });
  });

  test("are refused where the load says itself how long it lasts", async () => {
    const load = "load: { periodic: { from: 1, to: 2 } }";
    using folder = createFolder({ "s.yaml": `name: s\ntarget: embedded\n${load}\n` });
    const { code, err } = await runRampart(["s.yaml", "--dry-run", "--for", "1s"], { cwd: folder.path });
    assert.equal(code, 64);
    assert.match(err, /--for: the scenario's load says itself how long it lasts\. Give --users or --rate too/);
  });
});
