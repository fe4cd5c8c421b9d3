import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { createFolder, runRampart } from "../cli/rampart-process.ts";

/** Fields of a scenario that are functions of its parameters, and scenarios that extend others. */

const BASE = `import { defineScenario, param, embedded, errorRate, hold } from "rampart";
export default defineScenario({
  name: ({ users }) => \`base for \${users}\`,
  params: { users: param.integer(2, { min: 1 }), pace: param.duration("1 h"), key: param.text("nothing", { secret: true }) },
  target: embedded(),
  load: ({ users }) => hold(users, { requests: 12 }),
  assert: ({ users }) => (users > 9 ? [errorRate().is(0)] : []),
});
`;
const EXTENDED = `import { defineScenario, hold, param } from "rampart";
import base from "./base.ts";
const { params, ...rest } = base.definition;
export default defineScenario({ ...rest, params: { ...params, count: param.integer(7) }, load: ({ users, count }) => hold(users, { requests: count }) });
`;
const FILES = { "base.ts": BASE, "x.ts": EXTENDED };

interface Report {
  readonly parameters: object;
  readonly requests: { readonly sent: number };
  readonly plan: { readonly parameters: object; readonly name: string };
}

describe("rampart run with parameters", () => {
  test("measures with the given values, and states them in both reports", async () => {
    using folder = createFolder(FILES);
    const env = { RAMPART_USERS: "3", RAMPART_KEY: "open-sesame-88" };
    const { code, out, err } = await runRampart(["run", "base.ts", "--set", "pace=1 min", "--json", "-"], {
      cwd: folder.path,
      env,
    });
    assert.equal(code, 0, out + err);
    const report = JSON.parse(out) as Report;
    assert.equal(report.plan.name, "base for 3");
    assert.deepEqual(report.parameters, { users: 3, pace: "1 min", key: "<hidden>" });
    assert.deepEqual(report.plan.parameters, {
      users: { value: 3, from: "environment" },
      pace: { value: "1 min", from: "command line" },
      key: { value: "<hidden>", from: "environment" },
    });
    assert.match(
      err,
      /^ {2}parameters: users 3 \(environment\), pace 1 min \(command line\), key <hidden>\s+\(environment\)$/m,
    );
    assert.doesNotMatch(out + err, /sesame/);
    assert.match(err, /concurrency 3/);
  });

  test("a scenario that extends another runs alone, with the parameters of both", async () => {
    using folder = createFolder(FILES);
    const { code, out, err } = await runRampart(["run", "x.ts", "--set", "users=4"], { cwd: folder.path });
    assert.equal(code, 0, out + err);
    assert.match(out, /^MEASURED {2}base for 4: [\s\S]*^ +4 +\S/m);
    assert.match(out, / 7 requests$/m);
    assert.equal(out.match(/^[A-Z]+ {2}base for 4/gm)?.length, 1);
  });

  test("reports wrong flags and parameters together, before a request", async () => {
    using folder = createFolder(FILES);
    const args = ["run", "x.ts", "--set", "user=4", "--set", "pace=3", "--jsn", "--csv", "a.csv", "--json", "a.csv"];
    const { code, out, err } = await runRampart(args, { cwd: folder.path });
    assert.equal(code, 64, err);
    assert.equal(out, "");
    for (const pattern of [/--jsn/, /--set user: .*Did you mean users\?/, /--set pace: /, /a\.csv/])
      assert.match(err, pattern);
  });

  test("--help lists them, also in a scenario without any", async () => {
    using folder = createFolder({ ...FILES, "none.ts": EXTENDED.replace(/params: .*?},/, "") });
    const { code, out } = await runRampart(["run", "base.ts", "--help-all"], { cwd: folder.path });
    assert.equal(code, 0);
    assert.match(
      out,
      /--set users=N\s+A\s+whole\s+number\s+of\s+1\s+or\s+more\.\s+Default:\s+2\.\s+Or\s+in\s+the\s+environment:\s+RAMPART_USERS\./,
    );
    assert.match(out, /--stall-timeout/);
    const none = await runRampart(["run", "none.ts", "--help"], { cwd: folder.path });
    assert.equal(none.code, 0);
    assert.doesNotMatch(none.out, /Parameters of this scenario/);
  });

  test("names the field and the line of a function that throws", async () => {
    const thrown = BASE.replace("hold(users, { requests: 12 })", "{ throw new Error('no load for ' + users); }");
    using folder = createFolder({ "x.ts": thrown });
    const { code, err } = await runRampart(["run", "x.ts"], { cwd: folder.path });
    assert.equal(code, 64, err);
    assert.match(err, /^rampart: x\.ts:6(:\d+)?: the function of load throws: no load for 2\. /);
  });

  test("reports a wrong result by the path of its field", async () => {
    using folder = createFolder({ "x.ts": BASE.replace("hold(users,", "hold(-users,") });
    const { code, err } = await runRampart(["run", "x.ts"], { cwd: folder.path });
    assert.equal(code, 64, err);
    assert.match(err, /^rampart: x\.ts:6:3, load\.concurrency: must be 1 or more \(got -2\)/);
  });
});
