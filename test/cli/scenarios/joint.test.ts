import assert from "node:assert/strict";
import { existsSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { after, before, beforeEach, describe, test } from "node:test";
import type * as v from "valibot";
import { comparisonSchema } from "../../../src/report/schema/comparison.ts";
import { scenariosSchema } from "../../../src/report/schema/scenarios.ts";
import { sweepSchema } from "../../../src/report/schema/sweep.ts";
import { checkFields } from "../../report/check-schema.ts";
import { readXml } from "../../report/read-xml.ts";
import { type AnsweringServer, startAnsweringServer } from "../../servers/answering-server.ts";
import { LIMIT } from "../../time-limit.ts";
import { createFolder } from "../rampart-process.ts";
import { runInFolder } from "../run-in-folder.ts";

/** The reports on several scenarios together, beside a server that counts the requests of each. */

let server: AnsweringServer;
before(async () => {
  server = await startAnsweringServer((response, index) => {
    const ms = Number(/\d+/.exec(server.received[index]?.path ?? "")?.[0]);
    setTimeout(() => response.end("ok"), ms);
  });
});
beforeEach(() => {
  (server.received as unknown[]).length = 0;
});
after(() => server.close());

const countOf = (path: string): number => server.received.filter((one) => one.path === path).length;

/** Returns a scenario whose target is a path of the server, or another expression. */
function scenario(name: string, path: string, limit: string, load = "hold(2, { requests: 20 })"): string {
  const target = path.startsWith("/") ? `http("${server.url}${path}")` : path;
  return `import { ab, defineScenario, hold, http, max, mix, perTarget, steps } from "rampart";
export default defineScenario({
  name: "${name}", target: ${target}, load: ${load}, assert: [max("latency").below("${limit}")],
});
`;
}

const files = (): Record<string, string> => ({
  "all/a.ts": scenario("quick", "/1", "1 min"),
  "all/b.ts": scenario("slow", "/40", "20 ms", "steps([1, 2], { requests: 8 })"),
  "all/c.ts": scenario("gone", 'http("http://127.0.0.1:1/")', "1 min"),
});

interface Joint {
  readonly verdict: { readonly name: string; readonly exitCode: number; readonly reasons: readonly { text: string }[] };
  readonly scenarios: readonly {
    readonly name: string;
    readonly exitCode: number;
    readonly reason?: string;
    readonly report?: {
      readonly levels: readonly { readonly completed: number }[];
      readonly points?: readonly object[];
    };
  }[];
}

/** Asserts that a file has exactly the fields of its published schema. */
function readStrictly<T>(path: string, schema: v.GenericSchema): T {
  return checkFields(schema, JSON.parse(readFileSync(path, "utf8"))) as T;
}

const OUTPUTS = ["json", "junit", "html", "markdown", "csv"];
const outputs = (name: string): string[] => OUTPUTS.flatMap((one) => [`--${one}`, `${name}.${one}`]);

/** Asserts that the outputs named `again` in a folder are the same as those named `out`. */
function assertShownAgain(cwd: string): void {
  const read = (name: string): string => readFileSync(join(cwd, name), "utf8");
  for (const one of OUTPUTS) assert.equal(read(`again.${one}`), read(`out.${one}`), one);
}

describe("reports on several scenarios", () => {
  test("are one of each kind, with a row and the numbers of each scenario", LIMIT, async () => {
    using folder = createFolder(files());
    const { code, out } = await runInFolder(folder.path, ["run", "all", ...outputs("out")]);
    assert.equal(code, 69, out);
    assert.deepEqual([countOf("/1"), countOf("/40")], [20, 16]);
    const joint = readStrictly<Joint>(join(folder.path, "out.json"), scenariosSchema);
    assert.deepEqual([joint.verdict.name, joint.verdict.exitCode], ["failed", 69]);
    assert.deepEqual(
      joint.scenarios.map(({ name, exitCode, report }) => [name, exitCode, report?.levels.map((one) => one.completed)]),
      [
        ["quick", 0, [20]],
        ["slow", 65, [8, 8]],
        ["gone", 69, undefined],
      ],
    );
    assert.match(joint.scenarios[2]?.reason ?? "", /127\.0\.0\.1/);
    assert.match(joint.verdict.reasons.map(({ text }) => text).join("\n"), /^slow: max latency < 20 ms.*\ngone: /);
    const textOf = (ending: string): string => readFileSync(join(folder.path, `out.${ending}`), "utf8");
    const suites = readXml(textOf("junit"));
    assert.deepEqual(
      [suites.name, suites.attributes["failures"], suites.attributes["errors"]],
      ["testsuites", "1", "1"],
    );
    assert.deepEqual(
      suites.children.map(({ attributes }) => [attributes["name"], attributes["tests"], attributes["failures"]]),
      [
        ["quick", "2", "0"],
        ["slow", "3", "1"],
        ["gone", "1", "0"],
      ],
    );
    const [top = "", quick = "", slow = ""] = textOf("markdown").split("\n### ");
    assert.match(top, /^## ❌ Failed: 3 scenarios/);
    assert.match(slow, /\| fail \| max latency \\< 20 ms \| worst .* \|/);
    assert.match(top, /\| gone \| unreachable \|/);
    assert.match(quick, /^quick\n/);
    assert.match(textOf("csv"), /^section,scenario,verdict/);
    assert.match(textOf("csv"), /\r\nslow-levels,/);
    assert.equal(/<nav>.*<\/nav>/.exec(textOf("html"))?.[0].match(/<a /g)?.length, 2);
    for (const id of ["scenarios", "quick-levels", "slow-levels"]) assert.ok(textOf("html").includes(`id="${id}"`), id);
  });

  test("are shown again by rampart report, byte by byte, and compared by rampart compare", LIMIT, async () => {
    using folder = createFolder(files());
    await runInFolder(folder.path, ["run", "all", ...outputs("out")]);
    const again = await runInFolder(folder.path, ["report", "out.json", ...outputs("again")]);
    assert.equal(again.code, 0, again.text);
    assert.match(again.out, /^FAILED {2}3 scenarios/);
    assertShownAgain(folder.path);
    await runInFolder(folder.path, ["run", "all/a.ts", "all/b.ts", "--json", "new.json"]);
    const compared = await runInFolder(folder.path, ["compare", "out.json", "new.json", "--json", "compared.json"]);
    assert.equal(compared.code, 0, compared.text);
    const { comparisons } = JSON.parse(readFileSync(join(folder.path, "compared.json"), "utf8")) as {
      readonly comparisons: readonly { levels: readonly object[] }[];
    };
    assert.deepEqual(
      comparisons[0]?.levels.map((one) => (one as { readonly level: string }).level),
      ["quick, concurrency 2", "slow, concurrency 1", "slow, concurrency 2"],
    );
    const joint = JSON.parse(readFileSync(join(folder.path, "new.json"), "utf8")) as Joint;
    const notes = [{ code: "client-busy", severity: "caution", levels: [], text: "The client was busy." }];
    const scenarios = joint.scenarios.map((one) => ({ ...one, report: { ...one.report, notes } }));
    const unnoted = { ...joint.scenarios[0], report: { ...joint.scenarios[0]?.report, notes: [] } };
    const write = (file: string, shown: readonly object[]): void =>
      writeFileSync(join(folder.path, file), JSON.stringify({ ...joint, scenarios: shown }));
    for (const side of ["a", "b"]) {
      write(`${side}-all.json`, scenarios);
      write(`${side}-one.json`, [unnoted, ...scenarios.slice(1)]);
    }
    const all = await runInFolder(folder.path, ["compare", "a-all.json", "b-all.json"]);
    assert.match(all.text, /^ {2}note {2}The client was busy\.$/m);
    const one = await runInFolder(folder.path, ["compare", "a-one.json", "b-one.json"]);
    assert.match(one.text, /^ {2}note {2}slow: the client was busy\.$/m);
  });

  test("have the sweep, the comparison and the targets of their scenarios", LIMIT, async () => {
    const target = (path: string): string => `http("${server.url}/${path}")`;
    const sources = {
      "ab.ts": scenario("turns", `ab(${target("1")}, ${target("30")}, { pairs: 2 })`, "1 min"),
      "per.ts": scenario(
        "own",
        `mix([{ name: "x", target: ${target("2")} }, { name: "y", target: ${target("3")} }])`,
        "1 min",
        "perTarget({ x: hold(1, { requests: 6 }), y: hold(2, { requests: 8 }) })",
      ),
    };
    using folder = createFolder(sources);
    const { code, text } = await runInFolder(folder.path, ["run", "ab.ts", "per.ts", ...outputs("out")]);
    assert.ok(code === 0 || code === 66, text);
    assert.deepEqual(["/1", "/30", "/2", "/3"].map(countOf), [40, 40, 6, 8]);
    const joint = readStrictly<Joint>(join(folder.path, "out.json"), scenariosSchema);
    assert.deepEqual(
      joint.scenarios.map(({ name, report }) => [name, report?.points?.length]),
      [
        ["turns", undefined],
        ["own", 2],
      ],
    );
    await runInFolder(folder.path, ["report", "out.json", ...outputs("again")]);
    assertShownAgain(folder.path);
    const compared = await runInFolder(folder.path, ["compare", "out.json", "out.json"]);
    assert.match(compared.text, /turns is left out: it is a comparison itself/);
    const [turns, own] = joint.scenarios;
    const missing = { name: "gone", file: "gone.ts", exitCode: 69, reason: "the server is down" };
    writeFileSync(join(folder.path, "gone.json"), JSON.stringify({ ...joint, scenarios: [own, missing] }));
    writeFileSync(join(folder.path, "turns.json"), JSON.stringify({ ...joint, scenarios: [turns] }));
    const withGap = await runInFolder(folder.path, ["compare", "gone.json", "gone.json", "-v"]);
    assert.match(withGap.text, /gone is left out: it has no report/);
    const nothing = await runInFolder(folder.path, ["compare", "turns.json", "turns.json"]);
    assert.equal(nothing.code, 64, nothing.text);
    assert.match(nothing.text, /^rampart: turns\.json: has nothing to compare: turns is left out/m);
  });

  test("cannot hold single requests, and files of one name are refused before anything is sent", LIMIT, async () => {
    using folder = createFolder({ ...files(), "more/a.ts": scenario("other", "/2", "1 min") });
    const one = await runInFolder(folder.path, ["run", "all", "--records", "r.jsonl", "--json", "all/a.ts"]);
    assert.equal(one.code, 64);
    assert.match(one.err, /--records: is one file for several scenarios \(got r\.jsonl\)\. Write \{name\} in it/);
    assert.match(one.err, /--json: would overwrite a script/);
    const two = await runInFolder(folder.path, ["run", "all/a.ts", "more/a.ts", "--json", "{name}.json"]);
    assert.equal(two.code, 64);
    assert.match(two.err, /--json: \{name\} is a for all\/a\.ts and more\/a\.ts/);
    assert.equal(server.received.length, 0);
    assert.deepEqual(readdirSync(folder.path).toSorted(), ["all", "more"]);
    const twice = await runInFolder(folder.path, ["run", "all", "--json", "-", "--markdown", "-"]);
    assert.match(twice.err, /--markdown: is standard output like --json/);
    const joint = await runInFolder(folder.path, ["run", "all/a.ts", "more/a.ts", "--json", "out.json", "-q"]);
    assert.equal(joint.code, 0, joint.err);
    const { scenarios } = readStrictly<Joint>(join(folder.path, "out.json"), scenariosSchema);
    assert.deepEqual(
      scenarios.map(({ name }) => name),
      ["quick", "other"],
    );
  });

  test("--dry-run is one document, with the time of all", LIMIT, async () => {
    const timed = (name: string, load: string): string => scenario(name, "/1", "1 min", load);
    const own = { "a.ts": timed("a", 'hold(1, { for: "3 s" })'), "b.ts": timed("b", 'steps([1, 2], { for: "5 s" })') };
    using folder = createFolder(own);
    const { code, out, err } = await runInFolder(folder.path, ["run", ".", "--dry-run", "--json", "out.json"]);
    assert.equal(code, 0, err);
    const shown = JSON.parse(out) as {
      readonly expectedTime: { readonly mostMs: number };
      readonly scenarios: readonly { readonly file: string; readonly plan: { readonly name: string } }[];
    };
    assert.deepEqual(
      shown.scenarios.map(({ file, plan }) => [file, plan.name]),
      [
        ["a.ts", "a"],
        ["b.ts", "b"],
      ],
    );
    // With the warm-up of each.
    assert.equal(shown.expectedTime.mostMs, 4000 + 11_000);
    assert.match(err, /2 scenarios, expected to take 15 s at most/);
    assert.ok(!existsSync(join(folder.path, "out.json")));
    assert.equal(server.received.length, 0);
  });
});

describe("a stored report of several runs", () => {
  test("of a sweep, and of targets with loads of their own, is shown again", LIMIT, async () => {
    using folder = createFolder({ "a.ts": scenario("swept", "/5", "1 min") });
    const ran = await runInFolder(folder.path, ["run", "a.ts", "--sweep", "users=1,2", ...outputs("out")]);
    assert.equal(ran.code, 0, ran.text);
    readStrictly(join(folder.path, "out.json"), sweepSchema);
    const again = await runInFolder(folder.path, ["report", "out.json", ...outputs("again")]);
    assert.ok(again.out !== "" && ran.out.includes(again.out), again.text);
    assertShownAgain(folder.path);
    const compared = await runInFolder(folder.path, ["compare", "out.json", "out.json"]);
    assert.match(compared.text, /users 1, concurrency 1/);
  });

  test("of ab(…) is compared again, and says that a block failed", LIMIT, async () => {
    const target = `ab(http("${server.url}/1"), http("${server.url}/60"), { pairs: 2, names: ["old", "new"] })`;
    using folder = createFolder({ "ab.ts": scenario("turns", target, "30 ms") });
    const ran = await runInFolder(folder.path, ["run", "ab.ts", ...outputs("out")]);
    assert.equal(ran.code, 65, ran.text);
    const json = readStrictly<{
      verdict: Joint["verdict"];
      alternation: { blocks: { target: string; report: Pick<Joint, "verdict"> }[] };
    }>(join(folder.path, "out.json"), comparisonSchema);
    assert.deepEqual([json.verdict.name, json.verdict.exitCode], ["failed", 65]);
    assert.match(json.verdict.reasons[0]?.text ?? "", /^block \d \((?:old|new)\): max latency < 30 ms/);
    assert.deepEqual(
      json.alternation.blocks.map((one) => one.target),
      ["old", "new", "new", "old"],
    );
    const again = await runInFolder(folder.path, ["report", "out.json", ...outputs("again")]);
    assert.ok(again.out !== "" && ran.out.includes(again.out), again.text);
    assertShownAgain(folder.path);
    const junit = readXml(readFileSync(join(folder.path, "out.junit"), "utf8"));
    const failed = json.alternation.blocks.filter(({ report }) => report.verdict.name === "failed");
    assert.ok(failed.length >= 2);
    assert.deepEqual([junit.children.length, junit.attributes["failures"]], [5, String(failed.length)]);
    const refused = await runInFolder(folder.path, ["compare", "out.json", "out.json"]);
    assert.equal(refused.code, 64);
    assert.match(refused.err, /is the JSON of a comparison, which has its verdict itself/);
  });
});
