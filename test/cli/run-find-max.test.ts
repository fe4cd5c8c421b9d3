import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { createServer, type Server } from "node:http";
import { join } from "node:path";
import { after, before, describe, test } from "node:test";
import { listen } from "../servers/listen.ts";
import { createFolder, runRampart } from "./rampart-process.ts";
import { scenarioText } from "./scenario-files.ts";

/** The search for the highest load, on a server that rejects what is above its capacity, so that the response is certain. */

const CAPACITY = 6;

interface Report {
  readonly findMax: { readonly highest: number | null; readonly next: number | null; readonly isResolved: boolean };
  readonly levels: readonly {
    readonly level: number;
    readonly limits: {
      readonly state: string;
      readonly verdicts: readonly {
        readonly measured: { readonly value: number; readonly low: number | null; readonly high: number | null };
      }[];
    };
  }[];
}

describe("findMax", () => {
  let server: Server;
  let url: string;

  before(async () => {
    let inFlight = 0;
    server = createServer((request, response) => {
      request.resume();
      inFlight++;
      const isTooMany = inFlight > CAPACITY;
      setTimeout(() => {
        inFlight--;
        response.statusCode = isTooMany ? 503 : 200;
        response.end("x");
      }, 10);
    });
    url = `127.0.0.1:${await listen(server)}`;
  });

  after(() => server.close());

  async function search(
    over: string,
    where: string,
    more = "",
    atMost = "60 s",
  ): Promise<{ code: number | null; out: string; report: Report; markdown: string }> {
    const load = `api.findMax({ range: ${over}, where: ${where}, window: "250 ms", settle: "100 ms", forAtMost: "${atMost}" })`;
    const text = scenarioText({ target: `api.http("${url}")`, load, ...(more === "" ? {} : { assert: more }) });
    using folder = createFolder({ "x.ts": text });
    const { code, out, err } = await runRampart(["run", "x.ts", "--json", "r.json", "--markdown", "r.md"], {
      cwd: folder.path,
    });
    assert.doesNotMatch(err, /Error/);
    const read = (name: string): string => readFileSync(join(folder.path, name), "utf8");
    return { code, out, report: JSON.parse(read("r.json")) as Report, markdown: read("r.md") };
  }

  test("finds the highest concurrency whose requests succeed", async () => {
    const { code, out, report } = await search("api.ramp(1, 64)", '[errorRate().below("5 %")]', "[errorRate().is(0)]");
    assert.equal(code, 0, out);
    assert.deepEqual(report.findMax, {
      unit: "concurrency",
      limits: ["error rate < 5 %"],
      highest: CAPACITY,
      next: CAPACITY + 1,
      isResolved: true,
    } as object);
    assert.deepEqual(
      report.levels.map(({ level }) => level),
      report.levels.map(({ level }) => level).toSorted((a, b) => a - b),
      "the curve is in order",
    );
    for (const { level, limits } of report.levels)
      assert.equal(limits.state === "kept", level <= CAPACITY, String(level));
    for (const { limits } of report.levels)
      for (const {
        measured: { value, low, high },
      } of limits.verdicts)
        assert.ok((low ?? value) <= value && value <= (high ?? value), `${low} ${value} ${high}`);
    assert.match(out, /^highest .*: concurrency 6$/m);
    assert.match(out, /concurrency 7 breaks the limit: error rate /);
  });

  test("ends with 65 when the lowest load breaks a limit", async () => {
    const { code, out, report } = await search("api.ramp(2, 8)", '[mean().below("1 us")]', "[errorRate().is(0)]");
    assert.equal(code, 65, out);
    assert.deepEqual([report.findMax.highest, report.findMax.next], [null, 2]);
    assert.match(out, /no load keeps the limit\n\nconcurrency 2 breaks the limit: mean latency /);
    assert.match(out, /^ {2}unresolved +error rate = 0 % +no load keeps the limits$/m);
  });

  test("ends with 66 when no load can be decided", async () => {
    // No percentile of so few requests has an upper bound.
    const { code, out, report, markdown } = await search(
      "api.ramp(1, 8)",
      '[p99("latency").below("10 min")]',
      "[errorRate().is(0)]",
      "500 ms",
    );
    assert.equal(code, 66, out);
    assert.deepEqual([report.findMax.highest, report.findMax.next, report.findMax.isResolved], [null, null, false]);
    assert.match(out, /it is not known whether any load keeps the limit\n/);
    assert.match(markdown, /^## ⚠️ Unresolved: .*\n\nit is not known whether any load keeps the limit ·/);
    assert.match(out, /^unresolved: measure each point longer than 500 ms$/m);
    const skipped = /no load is known to keep the limits/;
    for (const text of [out, markdown]) assert.match(text, skipped);
    assert.match(out, /^ {2}unresolved +error rate = 0 %/m);
    assert.match(markdown, /⚠️ unresolved/);
  });

  test("says that the highest load of the range keeps the limits", async () => {
    const { code, out, report } = await search("api.ramp(1, 4)", '[mean().below("10 min"), errorRate().below("50 %")]');
    assert.equal(code, 0, out);
    assert.deepEqual([report.findMax.highest, report.findMax.next], [4, null]);
    assert.match(out, /^.*: at least concurrency 4$/m);
    assert.match(out, /it is the upper end of the search/);
  });
});

describe("findMax refuses", () => {
  const cases: readonly (readonly [name: string, load: string, problem: RegExp])[] = [
    ["a range without loads", "api.findMax({ range: api.ramp(8, 4), where: [errorRate().is(0)] })", /load\.range/],
    ["no limits", "api.findMax({ range: api.ramp(1, 8), where: [] })", /load\.where.*must have a limit/],
    [
      "scheduled latency without a schedule",
      'api.findMax({ range: api.ramp(1, 8), where: [errorRate().is(0), p99("scheduledLatency").below("1 s")] })',
      /load\.where\[1\].*needs a load with a schedule/,
    ],
    [
      "tokens of tensors",
      'api.findMax({ range: api.ramp(1, 8), where: [p99("timeToFirstToken").below("1 s")] })',
      /load\.where\[0\]/,
    ],
    [
      "a time below two windows",
      'api.findMax({ range: api.rateRamp(1, 8), where: [errorRate().is(0)], forAtMost: "1 s", window: "1 s" })',
      /load\.forAtMost.*shorter than two windows/,
    ],
  ];
  for (const [name, load, problem] of cases)
    test(name, async () => {
      using folder = createFolder({ "x.ts": scenarioText({ load }) });
      const { code, err } = await runRampart(["run", "x.ts"], { cwd: folder.path });
      assert.equal(code, 64, err);
      assert.match(err, problem);
    });
});
