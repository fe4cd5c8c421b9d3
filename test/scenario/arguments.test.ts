import assert from "node:assert/strict";
import { test } from "node:test";
import * as api from "../../src/index.ts";
import { problemsIn } from "../plan/refused.ts";

/** What untyped callers hear about arguments that no schema sees. */

type Call = (...args: readonly unknown[]) => unknown;

/** Takes any number of arguments: the files. */
const VARIADIC: ReadonlySet<string> = new Set(["input.json"]);

/** The functions of the API by how they are written: `hold`, `input.json`. */
const FUNCTIONS = Object.entries(api as Readonly<Record<string, object>>).flatMap(
  ([name, value]): [string, object][] =>
    typeof value === "function"
      ? [[name, value]]
      : Object.entries(value as Readonly<Record<string, object>>).map(([inner, builder]) => [
          `${name}.${inner}`,
          builder,
        ]),
);

for (const [name, builder] of FUNCTIONS)
  if (!VARIADIC.has(name))
    test(`${name} refuses more arguments than it takes`, () => {
      const [found] = problemsIn(() => (builder as Call)(...Array.from({ length: 5 }, () => ({}))));
      assert.match(String(found?.path), new RegExp(`^${name.replace(".", "\\.")}\\(.*\\)$`));
      assert.match(String(found?.message), /^takes (no arguments|1 argument|[23] arguments)$/);
    });

const anyLimits = (): Readonly<Record<string, Call>> => api.p99() as unknown as Readonly<Record<string, Call>>;

const CALLS: readonly (readonly [name: string, call: () => unknown, expected: string])[] = [
  [
    "options of a builder without options",
    () => (api.p50 as Call)("latency", { for: "3 s" }),
    'p50(of): takes 1 argument (got {"for":"3 s"}). Remove what is more.',
  ],
  [
    "a second limit",
    () => anyLimits()["below"]?.("1 s", "2 s"),
    'below(limit): takes 1 argument (got "2 s"). Remove what is more.',
  ],
  [
    "a second set of tags",
    () => anyLimits()["where"]?.({ a: 1 }, { b: 1 }),
    'where(tags): takes 1 argument (got {"b":1}). Remove what is more.',
  ],
  [
    "an argument of a statistic that has none",
    () => (api.extracted("x").mean as Call)(5),
    "mean(): takes no arguments (got 5). Remove what is more.",
  ],
  [
    "options of a parameter, twice",
    () => (api.param.integer as Call)({ min: 1 }, { max: 2 }),
    'param.integer(options): takes 1 argument (got {"max":2}). Remove what is more.',
  ],
  [
    "a third target of ab",
    () => (api.ab as Call)(api.embedded(), api.embedded(), api.embedded(), { pairs: 3 }),
    "ab(base, candidate, options): takes two targets, and this is a third. Compare it in another scenario.",
  ],
  [
    "a misspelt option of a file",
    () => (api.fileBody as Call)("x", { tpye: "y" }),
    "fileBody(path, options): has no option tpye. Its options are type and name.",
  ],
  [
    "a type of a file that is no text",
    () => (api.fileBody as Call)("x", { type: 5, name: "x.jpg" }),
    "fileBody(path, options): needs text as type (got 5). Its options are type and name.",
  ],
];

for (const [name, call, expected] of CALLS)
  test(`${name} is an error`, () => assert.throws(call, { name: "UserError", message: expected }));
