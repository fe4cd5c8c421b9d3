import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { chmod, mkdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { describe, test } from "node:test";
import { REPORT_VERSION } from "../../../src/report/schema/report-schema.ts";
import { LIMIT } from "../../time-limit.ts";
import { createFolder, inFolder, rampartCommand, startProcess } from "../rampart-process.ts";
import { runInFolder } from "../run-in-folder.ts";

/** `rampart compare`: which files are compared, limits, outputs and exit codes. */

/** perf_analyzer's CSV of a level. */
const csv = (throughput: number, p99Us: number, level = 1): string =>
  `Concurrency,Inferences/Second,Client Send,Client Recv,p50 latency,p99 latency\n${level},${throughput},1,1,${p99Us / 2},${p99Us}\n`;

/** What is compared of Rampart's JSON of a run with one level. */
const ownJson = (startedAt: string, metrics: object, version: unknown = REPORT_VERSION): string =>
  JSON.stringify({
    ...{ version, model: { name: "m", version: "" }, plan: {}, notes: [], startedAt, isPartial: false },
    levels: [{ unit: "concurrency", level: 1, metrics }],
  });

/** That of a run without failures, which has intervals within the run. */
const report = (p99Us: number): string => {
  const ends = { low: p99Us * 0.99, high: p99Us * 1.01, effectiveCount: 500, isReliable: true, neededCount: 500 };
  const mean = { low: null, high: null, effectiveCount: 500 };
  const latencyUs = { count: 500, mean: 1, p99: p99Us, confidence95: { mean, p99: ends } };
  return ownJson("2026-01-01T00:00:00.000Z", { latencyUs });
};

const FILES = {
  "b.json": report(10_000),
  "n.json": report(12_000),
  "b1.csv": csv(100, 1000),
  "b2.csv": csv(101, 1010),
  "b3.csv": csv(99, 990),
  "n1.csv": csv(90, 1200),
  "n2.csv": csv(91, 1210),
  "n3.csv": csv(89, 1190),
  "s1.csv": csv(100.5, 1004),
  "s2.csv": csv(100.2, 1001),
  "s3.csv": csv(99.4, 996),
  "t1.csv": csv(91, 1100),
  "t2.csv": csv(92, 1111),
  "t3.csv": csv(90, 1089),
  "w1.csv": csv(100, 1100),
  "w2.csv": csv(105, 1400),
  "w3.csv": csv(95, 800),
  "l1.csv": csv(100, 1000, 2),
  "l2.csv": csv(101, 1010, 2),
  "other.json": '{"a": 1}',
};
const BASE = "b1.csv,b2.csv,b3.csv";
const WORSE = "n1.csv,n2.csv,n3.csv";
const SAME = "s1.csv,s2.csv,s3.csv";
const WIDE = "w1.csv,w2.csv,w3.csv";

const compare = async (...args: string[]): Promise<{ code: number; text: string }> => {
  using folder = createFolder(FILES);
  return await runInFolder(folder.path, ["compare", ...args]);
};

describe("exit codes", () => {
  for (const [name, args, code, pattern] of [
    ["a difference without a limit passes", [BASE, WORSE], 0, /p99 latency .* worse/],
    ["a regression fails", [BASE, WORSE, "--fail-if", "p99 > +5%"], 65, /FAIL {2}p99 > \+5% +\+20\.0 %/],
    [
      "one broken limit of two fails",
      [BASE, WORSE, "--fail-if", "p99 > +90%", "--fail-if", "throughput < -3%"],
      65,
      /pass {2}p99/,
    ],
    [
      "three runs on each side show a latency that is 10 % higher",
      [BASE, "t1.csv,t2.csv,t3.csv", "--fail-if", "p99 > +5%"],
      65,
      /FAIL {2}p99 > \+5% +\+10\.0 %/,
    ],
    [
      "a limit on a change for the better passes a regression, and says so",
      [BASE, WORSE, "--fail-if", "throughput > +5%"],
      0,
      /^rampart: --fail-if 'throughput > \+5%' is broken by a change for the better; a regression is 'throughput < -5%'$/m,
    ],
    [
      "as does one on a latency that falls",
      [BASE, WORSE, "--fail-if", "p99 < -5%"],
      0,
      /for the better; a regression is 'latency\.p99 > \+5%'$/m,
    ],
    ["a limit that is kept passes", [BASE, SAME, "--fail-if", "p99 > +5%"], 0, /pass {2}p99 not > \+5%/],
    [
      "a limit in the interval passes with a warning",
      [BASE, WIDE, "--fail-if", "p99 > +5%"],
      0,
      /unresolved {2}p99 .*\n[\s\S]*with --strict the exit code is 66/,
    ],
    [
      "which is no reason to say so where another limit is broken",
      [BASE, WIDE, "--fail-if", "p99 > +5%", "--fail-if", "throughput > 1"],
      65,
      /^(?![\s\S]*which passes)FAILED [\s\S]*unresolved {2}p99 /,
    ],
    ["without a limit, --strict fails for what is worse", [BASE, WORSE, "--strict"], 65, /^FAILED {2}[\s\S]*3 worse/],
    [
      "and for what cannot be decided",
      [BASE, WIDE, "--strict"],
      66,
      /^UNRESOLVED [\s\S]*runs\s+needed\s+on\s+each\s+side[\s\S]*throughput\s+about\s+\d/,
    ],
    ["and for one run on a side", ["b1.csv", "n1.csv", "--strict"], 66, /^UNRESOLVED /m],
    [
      "and for sides without a common level",
      [BASE, SAME, "l1.csv,l2.csv", "--strict"],
      66,
      /^UNRESOLVED [\s\S]*Only in l1\.csv and 1 more: concurrency 2/m,
    ],
    [
      "which the short help says",
      ["--help"],
      0,
      /^ +--strict +Exit with 66 when undecided, also without --fail-if\.$/m,
    ],
    ["and passes what is the same", [BASE, SAME, "--strict"], 0, /^PASSED /m],
    ["and fails when that is wanted", [BASE, WIDE, "--fail-if", "p99 > +5%", "--strict"], 66, /unresolved {2}p99/],
    [
      "one run on a side cannot pass a limit",
      ["b1.csv", "n1.csv", "--fail-if", "p99 > +5%"],
      66,
      /\+20\.0 % at concurrency 1: one run says nothing[\s\S]* note {2}Give 2 runs(?![\s\S]*one run)/,
    ],
    [
      "one run whose file has intervals can be accepted",
      ["b.json", "n.json", "--fail-if", "p99 > +5%"],
      66,
      /one run says nothing[\s\S]*^rampart: --within-runs compares by the intervals within the runs$/m,
    ],
    ["and is then judged", ["b.json", "n.json", "--fail-if", "p99 > +5%", "--within-runs"], 65, /FAIL {2}p99 > \+5%/],
    [
      "a file without intervals has none within runs",
      ["b1.csv", "n1.csv", "--fail-if", "p99 > +5%", "--within-runs"],
      66,
      /unresolved {2}p99 > \+5%\n.*: a run has no interval for it/,
    ],
    [
      "a broken limit of one candidate fails",
      [BASE, SAME, WORSE, "--fail-if", "p99 > +5%"],
      65,
      /pass {2}s1\.csv and 2 more: p99[\s\S]*FAIL {2}n1\.csv and 2 more: p99/,
    ],
  ] as const)
    test(name, async () => {
      const result = await compare(...args);
      assert.equal(result.code, code, result.text);
      assert.match(result.text, pattern);
    });
});

describe("which files are which side", () => {
  test("all files after --base and --new, up to the next flag", async () => {
    const { code, text } = await compare(
      ..."--base b1.csv b2.csv b3.csv --fail-if".split(" "),
      "p99 > +5%",
      ..."--new n1.csv n2.csv n3.csv -v --new=s1.csv s2.csv s3.csv".split(" "),
    );
    assert.equal(code, 65, text);
    assert.match(
      text,
      /^FAILED {2}n1\.csv and 2 more, s1\.csv and 2 more against b1\.csv and 2 more\s+3 and 3 against 3 runs\n/,
    );
  });

  test("folders", async () => {
    using folder = createFolder({});
    for (const [side, names] of [
      ["old", ["b1.csv", "b2.csv"]],
      ["new", ["n1.csv", "n2.csv"]],
    ] as const) {
      mkdirSync(join(folder.path, side));
      for (const name of names) writeFileSync(join(folder.path, side, name), FILES[name]);
    }
    const { code, text } = await runInFolder(folder.path, ["compare", "old", "new/", "--fail-if", "p99 > +5%"]);
    assert.equal(code, 65, text);
    assert.match(text, /^FAILED {2}new against old +2 against 2 runs\n/);
  });

  test("a file whose name has a comma", async () => {
    using folder = createFolder({ "a,b.csv": FILES["b1.csv"], "c.csv": FILES["n1.csv"] });
    const { code, text } = await runInFolder(folder.path, ["compare", "a,b.csv", "c.csv"]);
    assert.equal(code, 0, text);
    assert.match(text, /against a,b\.csv +1 against 1 run/);
  });
});

describe("outputs", () => {
  test("go to files that have the same verdicts", async () => {
    using folder = createFolder(FILES);
    const outputs = ["--json", "c.json", "--markdown", "c.md", "--html", "c.html"];
    const { code } = await runInFolder(folder.path, ["compare", BASE, WORSE, ...outputs]);
    assert.equal(code, 0);
    const read = (name: string): string => readFileSync(join(folder.path, name), "utf8");
    const { comparisons } = JSON.parse(read("c.json")) as {
      comparisons: { levels: { metrics: { verdict: string }[] }[] }[];
    };
    assert.deepEqual(
      comparisons[0]?.levels[0]?.metrics.map(({ verdict }) => verdict),
      ["worse", "worse", "worse"],
    );
    assert.match(read("c.md"), /^3 worse \(/m);
    assert.match(read("c.html"), /3 worse/);
  });

  test("have JUnit's results that agree with the exit code", async () => {
    for (const [next, strict, code, tag] of [
      [SAME, [], 0, undefined],
      [WORSE, [], 65, "failure"],
      [WIDE, [], 0, undefined],
      [WIDE, ["--strict"], 66, "error"],
    ] as const)
      await inFolder(FILES, async (folder) => {
        const limit = ["--fail-if", "p99 > +5%", ...strict, "--junit", "c.xml"];
        assert.equal((await runInFolder(folder, ["compare", BASE, next, ...limit])).code, code);
        const xml = readFileSync(join(folder, "c.xml"), "utf8");
        assert.deepEqual(
          [...xml.matchAll(/<(failure|error) message/g)].map(([, found]) => found),
          tag === undefined ? [] : [tag],
          xml,
        );
        assert.match(xml, /<testcase name="p99 &gt; \+5%" /);
        assert.match(xml, /<system-out>(PASSED|FAILED|UNRESOLVED) {2}/);
      });
  });

  test("name in JUnit's results the candidate that each table is of, where there are several", async () => {
    using folder = createFolder(FILES);
    const args = ["compare", BASE, SAME, WORSE, "--fail-if", "p99 > +5%", "--junit", "c.xml"];
    assert.equal((await runInFolder(folder.path, args)).code, 65);
    const xml = readFileSync(join(folder.path, "c.xml"), "utf8");
    const names = [SAME, WORSE].map((files) => `${files.split(",")[0]} and 2 more`);
    const printed = /name="runs are compared"[^>]*><system-out>([^<]*)</.exec(xml)?.[1]?.split("&#10;") ?? [];
    assert.deepEqual(
      printed.filter((line) => line.endsWith("(3 runs)")),
      names.map((name) => `${name} (3 runs)`),
      xml,
    );
    for (const name of names) assert.ok(xml.includes(`<testcase name="${name}: p99 &gt; +5%"`), xml);
  });

  test("have an error of JUnit where a strict comparison has nothing to compare", async () => {
    using folder = createFolder(FILES);
    const args = ["compare", BASE, "l1.csv,l2.csv", "--strict", "--junit", "c.xml"];
    assert.equal((await runInFolder(folder.path, args)).code, 66);
    assert.match(readFileSync(join(folder.path, "c.xml"), "utf8"), /<error message="no metric is on both sides"/);
  });

  test("on standard output are alone there", async () => {
    using folder = createFolder(FILES);
    const { startRampart } = await import("../rampart-process.ts");
    const { out, err, code } = await startRampart(["compare", BASE, WORSE, "--markdown", "-"], { cwd: folder.path })
      .result;
    assert.equal(code, 0, err);
    assert.match(out, /^## Measured: n1\.csv and 2 more/);
    assert.match(err, /^MEASURED {2}n1\.csv and 2 more against/);
  });
});

describe("wrong usage is reported before anything is written", () => {
  for (const [name, args, ...patterns] of [
    ["no file", [], /BASE: is missing\. Write rampart compare BASE NEW/],
    ["one file", ["b1.csv"], /NEW: is missing/],
    ["--new without --base", ["--new", "b1.csv"], /--base: needs a file/],
    ["--base without --new", ["--base", "b1.csv"], /--new: needs a file/],
    [
      "a file before --base",
      ["b1.csv", "--base", "b2.csv", "--new", "n1.csv"],
      /b1\.csv: is neither after --base nor after --new/,
    ],
    [
      "files that are missing or no reports, all at once",
      ["nothing.csv", "other.json"],
      /nothing\.csv: cannot be read/,
      /other\.json: .* it has no version, a\./,
    ],
    ["a run given twice", ["b1.csv,b1.csv", "n1.csv"], /b1\.csv: is given twice/],
    [
      "several mistakes at once",
      [BASE, WORSE, "--fail-if", "p98x > +5%", "--precision", "5", "--strct"],
      /there is no metric p98x/,
      /--precision: is not a percentage/,
      /Did you mean --strict\?/,
    ],
    [
      "a metric that the files lack",
      [BASE, WORSE, "--fail-if", "ttft.p99 > +5%"],
      /b1\.csv and 2 more has no p99 time to first token.*It has throughput, latency\.p50, latency\.p99/,
    ],
    ["an output that is read", [BASE, "n1.csv", "--json", "n1.csv"], /--json: is also a file that the run reads/],
    [
      "two outputs on standard output",
      [BASE, WORSE, "--json", "-", "--markdown", "-"],
      /--markdown: is standard output like --json/,
    ],
  ] as const)
    test(name, async () => {
      using folder = createFolder(FILES);
      const { code, text } = await runInFolder(folder.path, ["compare", ...args, "--html", "page.html"]);
      assert.equal(code, 64, text);
      for (const pattern of patterns) assert.match(text, pattern as RegExp);
      assert.ok(!existsSync(join(folder.path, "page.html")));
    });

  test("a copy of a run under another name", async () => {
    using folder = createFolder({ ...FILES, "copy.csv": FILES["b1.csv"] });
    const { code, text } = await runInFolder(folder.path, ["compare", "b1.csv,copy.csv", WORSE]);
    assert.equal(code, 64);
    assert.match(text, /copy\.csv: is the same run as b1\.csv/);
  });
});

describe("files that cannot be compared", () => {
  /** Rampart's JSON of a run in which all requests failed. */
  const failed = (second: number, version?: unknown): string => {
    const metrics = { throughputPerSec: { value: 0 }, errorRateRatio: { value: 1, count: 100, total: 100 } };
    return ownJson(`2026-01-01T00:00:0${second}.000Z`, metrics, version);
  };

  for (const [version, shown] of [
    [9, "9"],
    ["x", '"x"'],
    [null, "null"],
  ] as const)
    test(`a report of version ${shown} is refused by name`, async () => {
      using folder = createFolder({ "a.json": failed(1, version), "b.json": failed(2) });
      const { code, text } = await runInFolder(folder.path, ["compare", "a.json", "b.json"]);
      assert.equal(code, 64, text);
      assert.match(text, new RegExp(`a\\.json: .* version ${shown}, .* version ${REPORT_VERSION}`));
    });

  test("empty names are missing files", async () => {
    const { code, text } = await compare("", "");
    assert.equal(code, 64, text);
    assert.match(text, /BASE: is missing[\s\S]*NEW: is missing/);
    assert.equal((await compare("--base", "b1.csv", "--new", "")).code, 64);
  });

  test("runs without a successful request are different runs, and a copy of one is refused", async () => {
    const files = {
      "a.json": failed(1),
      "b.json": failed(2),
      "c.json": failed(3),
      "d.json": failed(4),
      "e.json": failed(4),
    };
    using folder = createFolder({ ...files });
    const { code, text } = await runInFolder(folder.path, [
      ..."compare a.json,b.json c.json,d.json --fail-if".split(" "),
      "errorRate > 1%",
    ]);
    assert.equal(code, 65, text);
    const copy = await runInFolder(folder.path, ["compare", "a.json,b.json", "d.json,e.json"]);
    assert.equal(copy.code, 64, copy.text);
    assert.match(copy.text, /is the same run as/);
  });
});

test("a limit that is not decided says which percentile decides, or how many runs", async () => {
  const both = (p50: number, p99: number): string =>
    `Concurrency,Inferences/Second,Client Send,Client Recv,p50 latency,p99 latency\n1,100,1,1,${p50},${p99}\n`;
  const files = {
    ...{ "b1.csv": both(1000, 2000), "b2.csv": both(1001, 2200), "b3.csv": both(999, 1800) },
    ...{ "n1.csv": both(1200, 2300), "n2.csv": both(1201, 2500), "n3.csv": both(1199, 2000) },
  };
  using folder = createFolder(files);
  const args = ["compare", BASE, "n1.csv,n2.csv,n3.csv", "--fail-if", "p99 > +5%"];
  const { code, text } = await runInFolder(folder.path, args);
  assert.equal(code, 0, text);
  assert.match(
    text,
    /unresolved {2}p99 > \+5%\s.* at concurrency 1; use\s+p50,\s+or\s+about\s+\d+\s+runs\s+on\s+each\s+side\s+for\s+this\s+limit$/m,
  );
  assert.equal((await runInFolder(folder.path, [...args, "--strict"])).code, 66);
});

/** A folder that may not be read is named, also below the given one. */

/** Root may read everything unless it gives these rights away. */
const WITHOUT_RIGHTS = ["setpriv", "--bounding-set", "-dac_override,-dac_read_search", "--"];
const isRoot = process.getuid?.() === 0;
const [program = "", ...flags] = WITHOUT_RIGHTS;
const isBound = process.platform !== "win32" && (!isRoot || spawnSync(program, [...flags, "true"]).status === 0);
const BOUND = { ...LIMIT, skip: isBound ? false : "needs setpriv, or another user than root" };

const CSV = "Concurrency,Inferences/Second,Client Send,Client Recv,p50 latency,p99 latency\n1,100,1,1,500,1000\n";

test("a folder that may not be read is named, also below the given one", BOUND, async () => {
  using folder = createFolder({ "new.csv": CSV });
  const closed = join(folder.path, "runs", "closed");
  await mkdir(closed, { recursive: true });
  await writeFile(join(closed, "base.csv"), CSV);
  await chmod(closed, 0o000);
  try {
    for (const base of ["runs", join("runs", "closed")]) {
      const command = [...(isRoot ? WITHOUT_RIGHTS : []), ...rampartCommand(), "compare", base, "new.csv"];
      const { code, out, err } = await startProcess(command, { cwd: folder.path }).result;
      assert.equal(code, 64, out + err);
      assert.match(err, /^rampart: (?:\S*\/)?runs\/closed: cannot be read: /m);
      assert.doesNotMatch(out + err, /internal error/i);
    }
  } finally {
    await chmod(closed, 0o700);
  }
});
