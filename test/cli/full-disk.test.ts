import assert from "node:assert/strict";
import { readdir, readFile, stat } from "node:fs/promises";
import { join } from "node:path";
import { describe, test } from "node:test";
import { sum } from "../../src/plan/units.ts";
import { openProfileExport } from "../../src/report/read/profile-export.ts";
import { KserveServer } from "../run/kserve-server.ts";
import { LIMIT } from "../time-limit.ts";
import { createFolder, type ProcessResult, rampartCommand, startProcess } from "./rampart-process.ts";
import { REPORT_FLAGS } from "./report-flags.ts";
import { scenarioText } from "./scenario-files.ts";

/**
 * What a full disk costs: only what does not fit, with one error that names the file. The system's limit on the length of files stands for the
 * disk: writing beyond it fails after a part of the bytes, and needs no rights.
 */

const isSupported = process.platform === "linux";
/** As `ulimit -f` counts. */
const BLOCK_BYTES = 512;

/** Runs Rampart where no file can be longer than a number of bytes. */
function runLimited(mostBytes: number, args: readonly string[], cwd: string): Promise<ProcessResult> {
  const line = `trap '' XFSZ; ulimit -f ${mostBytes / BLOCK_BYTES}; exec "$@"`;
  return startProcess(["sh", "-c", line, "sh", ...rampartCommand(), ...args], { cwd }).result;
}

/** Returns how many requests a file has according to the error. */
function cutCount(err: string, name: string): number {
  const text = new RegExp(`${name} is cut off after ([\\d,]+) requests, and the later ones are lost: `).exec(err)?.[1];
  assert.ok(text !== undefined, err);
  return Number(text.replaceAll(",", ""));
}

describe("a disk that is full while a run lasts", { skip: !isSupported }, () => {
  const MOST_BYTES = 256 * 1024;

  test("cuts files of single requests after the last one that fits, and the report is complete", LIMIT, async () => {
    const load = "hold(4, { requests: 4000 })";
    using folder = createFolder({ "x.ts": scenarioText({ load }) });
    const files = ["--records", "r.jsonl", "--profile-export-file", "p.json", "--json", "x.json"];
    const { code, out, err } = await runLimited(MOST_BYTES, ["run", "x.ts", ...files], folder.path);
    assert.equal(code, 74, out + err);
    assert.match(out, / 4,000 requests$/m);
    assert.match(err, /the file is too long for the system; the run continues without it$/m);
    assert.match(err, /Free space there, or give another path with --records\./);

    const lines = (await readFile(join(folder.path, "r.jsonl"), "utf8")).split("\n");
    assert.equal(lines.pop(), "");
    assert.equal(lines.length, cutCount(err, "r.jsonl"));
    const longest = Math.max(...lines.map((line) => JSON.stringify(JSON.parse(line)).length + 1));
    const { size } = await stat(join(folder.path, "r.jsonl"));
    assert.ok(MOST_BYTES - size <= 2 * longest, `${size} bytes of ${MOST_BYTES}, lines of up to ${longest}`);

    const requests = [...openProfileExport(join(folder.path, "p.json")).requests()];
    assert.equal(requests.length, cutCount(err, "p.json"));
    assert.ok(requests.length > 100 && requests.length < 4000);
    const exported = JSON.parse(await readFile(join(folder.path, "p.json"), "utf8"));
    assert.deepEqual(Object.keys(exported), ["experiments", "version", "service_kind", "endpoint"]);

    JSON.parse(await readFile(join(folder.path, "x.json"), "utf8"));
    assert.deepEqual(
      (await readdir(folder.path)).filter((name) => name.endsWith(".part")),
      [],
    );
  });

  test("cuts an export between two levels where it is full", LIMIT, async () => {
    const load = "steps([1, 2, 3, 4, 5, 6, 7, 8], { requests: 100 })";
    using folder = createFolder({ "x.ts": scenarioText({ load }) });
    const { code, err } = await runLimited(MOST_BYTES, ["run", "x.ts", "--profile-export-file", "p.json"], folder.path);
    assert.equal(code, 74, err);
    const { experiments } = openProfileExport(join(folder.path, "p.json"));
    const counts = experiments.map(({ requestCount }) => requestCount);
    assert.equal(sum(counts), cutCount(err, "p.json"));
    assert.deepEqual(
      experiments.map(({ value }) => value),
      [1, 2, 3, 4, 5, 6, 7, 8].slice(0, experiments.length),
    );
    assert.deepEqual(counts.slice(0, -1), new Array(experiments.length - 1).fill(100));
    assert.ok(experiments.length > 1, `${counts}`);
    assert.equal(experiments[0]?.windowBoundariesNs.length, 2);
  });

  test("ends perf_analyzer with 99 after its table, and its export has what fits", LIMIT, async () => {
    using folder = createFolder({});
    await using server = await new KserveServer({}).start();
    const args = ["perf_analyzer", "-m", "simple", "-u", server.url, "--request-count", "3000"];
    const { code, out, err } = await runLimited(MOST_BYTES, [...args, "--profile-export-file", "p.json"], folder.path);
    assert.equal(code, 99, out + err);
    assert.match(out, /^ {4}Request count: 3000$/m);
    assert.equal([...openProfileExport(join(folder.path, "p.json")).requests()].length, cutCount(err, "p.json"));
  });
});

test("files that are written at the end are named in one error, and none is left in part", {
  ...LIMIT,
  skip: !isSupported,
}, async () => {
  using folder = createFolder({ "x.ts": scenarioText({ load: "hold(1, { requests: 50 })" }) });
  const names = REPORT_FLAGS.map((flag) => `x.${flag.slice(2)}`);
  const args = REPORT_FLAGS.flatMap((flag, at) => [flag, names[at] as string]);
  const { code, out, err } = await runLimited(BLOCK_BYTES, ["run", "x.ts", ...args], folder.path);
  assert.equal(code, 74, out + err);
  assert.match(out, / 50 requests$/m);
  const errors = err.split("\n").filter((line) => line.includes("cannot be written"));
  assert.equal(errors.length, 1, err);
  const left = (await readdir(folder.path)).filter((name) => name !== "x.ts");
  for (const name of names.filter((one) => !left.includes(one)))
    assert.match(errors[0] as string, new RegExp(`\\b${name} cannot be written: the file is too long for the system`));
  assert.ok(!left.includes("x.json") && !left.includes("x.html"), `${left}`);
  for (const name of left) assert.ok(names.includes(name), name);
});

test("a file of a stored report that does not fit costs only itself", { ...LIMIT, skip: !isSupported }, async () => {
  const files = { "x.ts": scenarioText({ load: "hold(1, { requests: 50 })" }) };
  using folder = createFolder(files);
  const run = await runLimited(64 * 1024 * 1024, ["run", "x.ts", "--json", "x.json"], folder.path);
  assert.equal(run.code, 0, run.err);
  const args = REPORT_FLAGS.filter((flag) => flag !== "--json").flatMap((flag) => [flag, `y.${flag.slice(2)}`]);
  const { code, err } = await runLimited(32 * 1024, ["report", "x.json", ...args], folder.path);
  assert.equal(code, 74, err);
  assert.match(err, /y\.html cannot be written: the file is too long for the system/);
  const left = (await readdir(folder.path)).filter((name) => name.startsWith("y.")).toSorted();
  assert.deepEqual(left, args.filter((arg) => arg.startsWith("y.") && arg !== "y.html").toSorted());
});
