import assert from "node:assert/strict";
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { after, before, beforeEach, describe, test } from "node:test";
import { makeFolder } from "../make-folder.ts";
import { type AnsweringServer, startAnsweringServer } from "../servers/answering-server.ts";
import { LIMIT } from "../time-limit.ts";
import { runRampart } from "./command.ts";

/** `--sweep`, beside a server that takes as long as the path of a request says. */

const folder = makeFolder();
let file: string;
let server: AnsweringServer;
const open = new Map<string, { now: number; most: number; all: number }>();
before(async () => {
  server = await startAnsweringServer((response, index) => {
    const path = server.received[index]?.path ?? "";
    const count = open.get(path) ?? { now: 0, most: 0, all: 0 };
    open.set(path, count);
    count.now++;
    count.all++;
    count.most = Math.max(count.most, count.now);
    setTimeout(
      () => {
        count.now--;
        response.statusCode = path === "/bad" ? 500 : 200;
        response.end("ok");
      },
      Number(path.slice(1)) || 0,
    );
  });
  file = join(folder, "swept.ts");
  writeFileSync(
    file,
    `import { defineScenario, errorRate, hold, http, p50, param } from "rampart";
export default defineScenario({
  name: "swept",
  params: { ms: param.text("5"), users: param.integer(1, { min: 1, max: 8 }) },
  target: ({ ms }) => http("${server.url}/" + ms),
  load: ({ users }) => hold(users, { requests: 20 }),
  assert: [p50("latency").below("150 ms"), errorRate().is(0)],
});
`,
  );
});
beforeEach(() => open.clear());
after(() => {
  server.close();
});

interface SweepJson {
  readonly verdict: { readonly name: string; readonly headline: string };
  readonly points: readonly {
    readonly values: Readonly<Record<string, number | string>>;
    readonly report: {
      readonly verdict: { readonly name: string };
      readonly levels: readonly {
        readonly level: number;
        readonly metrics: { readonly latencyUs: { readonly p50: unknown } };
      }[];
    };
  }[];
}

describe("a sweep", () => {
  test("measures all combinations, in one report with the verdict of all", LIMIT, async () => {
    const [json, csv] = [join(folder, "sweep.json"), join(folder, "sweep.csv")];
    const args = ["--sweep", "ms=5,300", "--sweep", "users=1,4", "--json", json, "--csv", csv];
    const { code, stdout, stderr } = await runRampart(["run", file, ...args]);
    assert.equal(code, 65, stdout);
    const sweep = JSON.parse(readFileSync(json, "utf8")) as SweepJson;
    assert.deepEqual(
      sweep.points.map(({ values, report }) => [
        values["ms"],
        values["users"],
        report.levels[0]?.level,
        report.verdict.name,
      ]),
      [
        [5, 1, 1, "passed"],
        [5, 4, 4, "passed"],
        [300, 1, 1, "failed"],
        [300, 4, 4, "failed"],
      ],
    );
    assert.deepEqual([sweep.verdict.name, sweep.verdict.headline], ["failed", "2 of 4 points passed"]);
    assert.deepEqual([open.get("/5")?.all, open.get("/5")?.most, open.get("/300")?.most], [40, 4, 4]);
    assert.match(stderr, /a sweep of 4 points/);
    assert.match(stdout, /^FAILED {2}swept/);
    assert.match(stdout, /^ *ms +users .*p50/m);
    assert.match(stdout, /FAIL +p50 latency < 150 ms +at 2 of 4 points, such as ms 300, users 1/);
    assert.equal(stdout.match(/^ *(?:5|300) +[14] /gm)?.length, 4);
    assert.match(readFileSync(csv, "utf8"), /ms,users,/);
  });

  test("takes options of the command too, and its other reports", LIMIT, async () => {
    const [page, junit, markdown] = ["page.html", "junit.xml", "sweep.md"].map((name) => join(folder, name)) as [
      string,
      string,
      string,
    ];
    const args = ["--sweep", "requests=8,16", "--html", page, "--junit", junit, "--markdown", markdown];
    const { code, stdout } = await runRampart(["run", file, ...args]);
    assert.equal(code, 0, stdout);
    assert.equal(open.get("/5")?.all, 24);
    assert.match(readFileSync(page, "utf8"), /2 of 2 points passed|swept/);
    assert.equal(readFileSync(junit, "utf8").match(/<testsuite /g)?.length, 2);
    assert.match(readFileSync(markdown, "utf8"), /requests/);
  });

  test("of rampart http", LIMIT, async () => {
    const { code, stdout } = await runRampart(["http", `${server.url}/5`, "-n", "6", "--sweep", "users=1,2,3"]);
    assert.equal(code, 0, stdout);
    assert.equal(open.get("/5")?.all, 18);
    assert.match(stdout, /3 points/);
  });

  test("says before it begins how long it takes", LIMIT, async () => {
    const args = ["http", `${server.url}/5`, "--for", "200ms", "--sweep", "users=1,2,3"];
    const { stderr } = await runRampart(args);
    assert.match(stderr, /a sweep of 3 points, expected to take about 1\.2 s/);
    open.clear();
    const { stdout } = await runRampart([...args, "--dry-run"]);
    const { expectedTime, points } = JSON.parse(stdout) as {
      readonly expectedTime: object;
      readonly points: { readonly values: object }[];
    };
    assert.deepEqual(expectedTime, { leastMs: 1200, mostMs: 1200 });
    assert.deepEqual(
      points.map(({ values }) => values),
      [{ users: "1" }, { users: "2" }, { users: "3" }],
    );
    assert.equal(open.size, 0);
  });

  test("refuses what is wrong at any point before it sends anything, all at once", LIMIT, async () => {
    const wrong = ["--sweep", "users=1,99", "--sweep", "ms=1"];
    const value = await runRampart(["run", file, ...wrong]);
    assert.equal(value.code, 64);
    assert.match(value.stderr, /users.*must be/);
    const names = [
      "--sweep",
      "nobody=1",
      "--sweep",
      "users",
      "--sweep",
      "json=a",
      "--sweep",
      "ms=1,1",
      "--records",
      join(folder, "r"),
    ];
    const refused = await runRampart(["run", file, ...names]);
    assert.equal(refused.code, 64);
    for (const part of [
      /--sweep nobody: is neither a parameter nor an option/,
      /--sweep: is not NAME=VALUE,VALUE or NAME=START:END:STEP \(got users\)/,
      /--sweep json: says nothing about what is measured/,
      /--sweep ms: has a value twice/,
      /--records: cannot hold more than one run/,
    ])
      assert.match(refused.stderr, part);
    assert.equal(open.size, 0);
  });

  test("continues after a point that fails", LIMIT, async () => {
    const { code, stdout } = await runRampart(["run", file, "--sweep", "ms=bad,5"]);
    assert.notEqual(code, 0);
    assert.equal(open.get("/5")?.all, 20);
    assert.match(stdout, /1 of 2 points passed/);
  });
});
