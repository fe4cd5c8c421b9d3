import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { formatProblem, type Problem } from "../../../src/plan/problem.ts";
import { maskSecrets } from "../../../src/plan/secrets.ts";
import { choice, duration, flag, integer, number, text } from "../../../src/scenario/params/parameter.ts";
import { describeParameters, type GivenValues, readParameters } from "../../../src/scenario/params/read-values.ts";

/** Values of parameters from the command line, the environment and their defaults. */

const PARAMS = {
  users: integer(16, { min: 1, max: 64, description: "Users at the same time" }),
  share: number(0.5, { max: 1 }),
  maxPace: duration("5 s"),
  protocol: choice(["http", "grpc"]),
  isSlow: flag(),
  model: text("simple"),
};

function read(params: unknown, { sets = [], env = {} }: Partial<GivenValues>) {
  const problems: Problem[] = [];
  const { values, plan } = readParameters(params, { sets, env }, problems);
  return {
    values,
    plan,
    problems: problems.map(formatProblem).map((line) => line.replaceAll("overrides.set", "--set")),
  };
}

describe("a value of a parameter is", () => {
  const cases: readonly (readonly [
    name: string,
    given: Partial<GivenValues>,
    parameter: string,
    value: unknown,
    from: string,
  ])[] = [
    ["its default", {}, "users", 16, "default"],
    ["that of the environment", { env: { RAMPART_USERS: "32" } }, "users", 32, "environment"],
    [
      "that of the command line before all",
      { sets: ["users=8"], env: { RAMPART_USERS: "32" } },
      "users",
      8,
      "command line",
    ],
    ["one that is given twice", { sets: ["users=8", "users=8"] }, "users", 8, "command line"],
    ["its default where the environment is empty", { env: { RAMPART_USERS: "" } }, "users", 16, "default"],
    ["a number", { sets: ["share=-2.5e-1"] }, "share", -0.25, "command line"],
    ["a duration", { env: { RAMPART_MAX_PACE: "250ms" } }, "maxPace", "250ms", "environment"],
    ["one of several", { sets: ["protocol=grpc"] }, "protocol", "grpc", "command line"],
    ["true for a flag's name", { sets: ["isSlow"] }, "isSlow", true, "command line"],
    ["false", { env: { RAMPART_IS_SLOW: "0" } }, "isSlow", false, "environment"],
    ["text with =", { sets: ["model=a=b"] }, "model", "a=b", "command line"],
    ["empty text", { sets: ["model="] }, "model", "", "command line"],
  ];
  for (const [name, given, parameter, value, from] of cases) {
    test(name, () => {
      const { values, plan, problems } = read(PARAMS, given);
      assert.deepEqual(problems, []);
      assert.equal(values[parameter], value);
      assert.deepEqual(plan[parameter], { value, from });
      assert.deepEqual(Object.keys(plan), Object.keys(PARAMS));
    });
  }
});

test("all wrong values are reported at once, each with where it was given", () => {
  const given = {
    sets: ["user=1", "nothing", "=4", "users=x", "users", "users=9", "protocol=grcp", "isSlow=maybe"],
    env: { RAMPART_SHARE: "2", RAMPART_MAX_PACE: "5", RAMPART_USERS: "7" },
  };
  assert.deepEqual(read(PARAMS, given).problems, [
    "--set user: is not a parameter of the scenario. Did you mean users?",
    "--set nothing: is not a parameter of the scenario. The parameters are users, share, maxPace, protocol, isSlow, model.",
    "--set: is not NAME=VALUE (got =4). The parameters are users, share, maxPace, protocol, isSlow, model.",
    "--set users: needs a value. Write --set users=N.",
    "--set users: is given twice, as x and as 9. Give one.",
    '--set users: must be a whole number from 1 to 64 (got "x").',
    'RAMPART_SHARE: must be a number of 1 or less (got "2").',
    'RAMPART_MAX_PACE: must be a duration with its unit, such as "25 ms", "5 s" or "2 min" (got "5"). Add the unit: "5 s" or "5 ms".',
    '--set protocol: must be one of http, grpc (got "grcp"). Did you mean grpc?',
    '--set isSlow: must be true or false (got "maybe").',
  ]);
  for (const users of ["0", "65", "1.5", "", "1e1", "99999999999999999999"])
    assert.match(read(PARAMS, { sets: [`users=${users}`] }).problems.join(), /whole number from 1 to 64/, users);
  for (const share of ["", " ", "NaN", "Infinity", "0x", "2"])
    assert.equal(read(PARAMS, { sets: [`share=${share}`] }).problems.length, 1, share);
});

test("a misspelt variable is an error, and one that is like no parameter is left alone", () => {
  const others = { RAMPART_URL: "x", OTHER_USERS: "1", RAMPART_TEST: "1", RAMPART_USER: "" };
  assert.deepEqual(read(PARAMS, { env: others }).problems, []);
  assert.deepEqual(read(PARAMS, { env: { RAMPART_USRES: "3", RAMPART_maxPace: "1s" } }).problems, [
    "RAMPART_USRES: is the variable of no parameter of the scenario. Did you mean RAMPART_USERS? Otherwise unset it.",
    "RAMPART_maxPace: is the variable of no parameter of the scenario. Did you mean RAMPART_MAX_PACE? Otherwise unset it.",
  ]);
  assert.deepEqual(read(PARAMS, { env: { RAMPART_USERS: "3", RAMPART_USER: "4" } }).problems, []);
});

test("a parameter without a default needs a value", () => {
  const params = { users: integer({ min: 1 }), key: text(), pace: duration({ description: "" }), share: number() };
  assert.deepEqual(read(params, { sets: ["share=1"], env: { RAMPART_KEY: "x" } }).problems, [
    "--set users: this parameter has no default. Give it with --set users=N, or in the environment as RAMPART_USERS.",
    "--set pace: this parameter has no default. Give it with --set pace=DURATION, or in the environment as RAMPART_PACE.",
  ]);
});

test("a secret value is in no plan, and masked wherever it is printed", () => {
  const params = { key: text({ secret: true }), other: text("a-secret-default", { secret: true }) };
  const { values, plan } = read(params, { env: { RAMPART_KEY: "open-sesame-77" } });
  assert.deepEqual(values, { key: "open-sesame-77", other: "a-secret-default" });
  assert.deepEqual(plan, {
    key: { value: "<hidden>", from: "environment" },
    other: { value: "<hidden>", from: "default" },
  });
  assert.equal(maskSecrets("key open-sesame-77, a-secret-default"), "key ***, ***");
});

test("wrong parameters are reported all at once, by path", () => {
  const wrong: readonly (readonly [params: unknown, ...problems: RegExp[]])[] = [
    [5, /^params: must be parameters by name \(got 5\)/],
    [[integer(1)], /^params: must be/],
    [{ users: 16 }, /^params\.users: must be param\.integer\(…\), .* or param\.flag\(…\) \(got 16\)/],
    [{ "max users": integer(1) }, /^params\.max users: is not a name/],
    [
      { a: integer("1" as unknown as number), b: integer(1.5) },
      /^params\.a: its default must be a whole number/,
      /params\.b/,
    ],
    [{ a: integer(0, { min: 1 }) }, /its default must be a whole number of 1 or more \(got 0\)/],
    [{ a: integer({ min: 2, max: 1 }) }, /its min is above its max/],
    [{ a: duration("5" as "5 s") }, /its default must be a duration/],
    [
      { a: integer(1, { mix: 3 } as object), b: text("", { min: 1 } as object) },
      /a\.mix: .* Did you mean min\?/,
      /b\.min/,
    ],
    [{ a: choice([] as unknown as ["x"]) }, /a\.values: must have a value|its default/],
    [
      { maxUsers: integer(1), max_users: integer(1) },
      /^params\.max_users: has the environment variable RAMPART_MAX_USERS/,
    ],
  ];
  for (const [params, ...expected] of wrong) {
    const { problems } = read(params, { sets: ["x=1"] });
    assert.equal(problems.length, expected.length, problems.join("\n"));
    for (const [index, pattern] of expected.entries()) assert.match(problems[index] ?? "", pattern);
  }
});

test("help lists each parameter with its type, range, default and variable", () => {
  const problems: Problem[] = [];
  const rows = describeParameters({ ...PARAMS, key: text({ secret: true }) }, problems);
  assert.deepEqual(problems, []);
  assert.deepEqual(rows[0], {
    name: "users",
    placeholder: "N",
    variable: "RAMPART_USERS",
    text: "Users at the same time. A whole number from 1 to 64. Default: 16.",
  });
  assert.equal(rows.at(-1)?.text, "Text, which is not shown. Required.");
  assert.equal(rows.find(({ name }) => name === "protocol")?.text, "One of http, grpc. Default: http.");
});
