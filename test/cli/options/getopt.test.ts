import assert from "node:assert/strict";
import { test } from "node:test";
import * as fc from "fast-check";
import { parseGetopt } from "../../../src/cli/options/getopt.ts";
import { OPTIONS } from "../../../src/cli/perf-analyzer/options/table.ts";

/** The rules of GNU getopt_long, with perf_analyzer's options. */

const parse = (args: readonly string[]) => parseGetopt(OPTIONS, args);

/** A command line as flags and values: `-m=simple` becomes `["-m", "=simple"]`. */
function read(...args: string[]): {
  given: (string | undefined)[][];
  positional: readonly string[];
  problems: string[];
} {
  const { given, positional, problems } = parse(args);
  return {
    given: given.map(({ option, value }) => (value === undefined ? [option.names[0]] : [option.names[0], value])),
    positional,
    problems: problems.map(({ message, hint }) => `${message} | ${hint}`),
  };
}

const accepted: readonly { readonly args: string[]; readonly given: string[][]; readonly positional?: string[] }[] = [
  { args: [], given: [] },
  { args: ["-m", "simple"], given: [["-m", "simple"]] },
  { args: ["-msimple"], given: [["-m", "simple"]] },
  { args: ["-m=simple"], given: [["-m", "=simple"]] },
  { args: ["-m", ""], given: [["-m", ""]] },
  { args: ["-m", "-v"], given: [["-m", "-v"]] },
  { args: ["-m", "--async"], given: [["-m", "--async"]] },
  { args: ["-m", "--"], given: [["-m", "--"]] },
  { args: ["-v", "-v"], given: [["-v"], ["-v"]] },
  { args: ["-vv"], given: [["-v"], ["-v"]] },
  { args: ["-vb4"], given: [["-v"], ["-b", "4"]] },
  { args: ["-vb", "4"], given: [["-v"], ["-b", "4"]] },
  { args: ["-a"], given: [["--async"]] },
  { args: ["-p", "100"], given: [["--measurement-interval", "100"]] },
  { args: ["--percentile=99"], given: [["--percentile", "99"]] },
  { args: ["--percentile", "99"], given: [["--percentile", "99"]] },
  { args: ["--percentile="], given: [["--percentile", ""]] },
  { args: ["--string-data=a=b"], given: [["--string-data", "a=b"]] },
  { args: ["--percentile", "--async"], given: [["--percentile", "--async"]] },
  { args: ["--request-coun", "2"], given: [["--request-count", "2"]] },
  { args: ["--perce=5"], given: [["--percentile", "5"]] },
  { args: ["--conc", "1:4"], given: [["--concurrency-range", "1:4"]] },
  // A whole name counts, even when it begins another one.
  { args: ["--sequence-length", "20"], given: [["--sequence-length", "20"]] },
  { args: ["--shape", "A:1"], given: [["--shape", "A:1"]] },
  { args: ["--stream"], given: [["--streaming"]] },
  // A switch that words may follow takes no other argument.
  { args: ["--ssl-grpc-use-ssl", "false"], given: [["--ssl-grpc-use-ssl", "false"]] },
  { args: ["--ssl-grpc-use-ssl=maybe"], given: [["--ssl-grpc-use-ssl", "maybe"]] },
  { args: ["--ssl-grpc-use", "yes"], given: [["--ssl-grpc-use-ssl"]], positional: ["yes"] },
  { args: ["--ssl-grpc-use-ssl", "-a"], given: [["--ssl-grpc-use-ssl"], ["--async"]] },
  // Rampart's own flags do not make the original's abbreviations ambiguous.
  { args: ["--max-th", "2"], given: [["--max-threads", "2"]] },
  { args: ["--sta", "3"], given: [["--stability-percentage", "3"]] },
  {
    args: ["-b", "1", "-b", "2"],
    given: [
      ["-b", "1"],
      ["-b", "2"],
    ],
  },
  { args: ["one", "-v", "two"], given: [["-v"]], positional: ["one", "two"] },
  { args: ["-v", "--", "-b", "2"], given: [["-v"]], positional: ["-b", "2"] },
  { args: ["-", "-v"], given: [["-v"]], positional: ["-"] },
];

for (const { args, given, positional = [] } of accepted) {
  test(`getopt_long: '${args.join(" ")}'`, () => {
    assert.deepEqual(read(...args), { given, positional, problems: [] });
  });
}

const refused: readonly { readonly args: string[]; readonly problem: RegExp }[] = [
  { args: ["--nonsense"], problem: /^Invalid long option '--nonsense' \| See --help/ },
  { args: ["--nonsense=3"], problem: /^Invalid long option '--nonsense' \|/ },
  { args: ["--concurency-range", "1"], problem: /Did you mean --concurrency-range\?$/ },
  { args: ["--dry-ru"], problem: /^Invalid long option '--dry-ru' \| Did you mean --dry-run\?$/ },
  { args: ["--request"], problem: /\| It could be .*--request-rate-range.*: write it out\.$/ },
  { args: ["--ver"], problem: /\| It could be --version, --verbose-csv: write it out\.$/ },
  { args: ["--=3"], problem: /^Invalid long option '--' \|/ },
  { args: ["-y"], problem: /^Invalid short option '-y' \|/ },
  { args: ["-vy"], problem: /^Invalid short option '-y' \|/ },
  { args: ["-?"], problem: /^Invalid short option '-\?' \|/ },
  { args: ["-m"], problem: /^Missing value for option '-m' \| Write -m MODEL\.$/ },
  { args: ["-vm"], problem: /^Missing value for option '-m' \|/ },
  { args: ["--percentile"], problem: /^Missing value for option '--percentile' \| Write --percentile P\.$/ },
  { args: ["--percen"], problem: /^Missing value for option '--percen' \|/ },
  { args: ["--async=1"], problem: /^Option '--async' takes no value \| Write --async alone\.$/ },
];

for (const { args, problem } of refused) {
  test(`getopt_long refuses '${args.join(" ")}'`, () => {
    const { problems } = read(...args);
    assert.equal(problems.length, 1, problems.join("\n"));
    assert.match(problems[0] ?? "", problem);
  });
}

test("all problems of a command line are found together, and the flags around them are still read", () => {
  const { given, problems } = read("--nonsense", "-b", "2", "-y", "--async=1", "--percentile");
  assert.deepEqual(given, [["-b", "2"]]);
  assert.equal(problems.length, 4);
});

test("an abbreviation means the same option as its whole name, or is ambiguous", () => {
  const long = OPTIONS.filter(({ names, isRampart }) => names[0].startsWith("--") && isRampart !== true);
  fc.assert(
    fc.property(fc.constantFrom(...long), fc.nat(), ({ names: [name], value }, cut) => {
      const typed = name.slice(0, 3 + (cut % (name.length - 2)));
      const parsed = parse(value === undefined ? [typed] : [typed, "x"]);
      const candidates = long.filter(({ names }) => names[0].startsWith(typed));
      const isExact = long.some(({ names }) => names[0] === typed);
      if (candidates.length > 1 && !isExact) assert.equal(parsed.problems.length, 1);
      else assert.equal(parsed.given[0]?.option.names[0], isExact ? typed : name);
    }),
  );
});

test("the rules ask only the table's names and values", () => {
  const table = [
    { names: ["--one"] },
    { names: ["--only", "-o"], value: "N" },
    { names: ["--own"], isRampart: true },
  ] as const;
  const { given, positional, problems } = parseGetopt(table, ["--onl", "1", "-o2", "--on", "--own", "--ow", "x"]);
  assert.deepEqual(
    given.map(({ option, typed, value }) => [option.names[0], typed, value]),
    [
      ["--only", "--onl", "1"],
      ["--only", "-o", "2"],
      ["--own", "--own", undefined],
    ],
  );
  assert.deepEqual(positional, ["x"]);
  assert.deepEqual(
    problems.map(({ path, hint }) => [path, hint]),
    [
      ["--on", "It could be --one, --only: write it out."],
      ["--ow", "Did you mean --own?"],
    ],
  );
});

test("any arguments are parsed without an exception, and none is dropped silently", () => {
  const word = fc.oneof(fc.constantFrom("-", "--", "-v", "-m", "--async", "--input-data=", "-b4", "--x"), fc.string());
  fc.assert(
    fc.property(fc.array(word), (args) => {
      const { given, positional, problems } = parse(args);
      if (args.length > 0 && args[0] !== "--") assert.ok(given.length + positional.length + problems.length > 0);
    }),
  );
});
