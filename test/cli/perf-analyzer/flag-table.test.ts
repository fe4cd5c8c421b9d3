import assert from "node:assert/strict";
import { readdirSync, readFileSync } from "node:fs";
import { basename, join } from "node:path";
import { test } from "node:test";
import * as fc from "fast-check";
import { formatHelp } from "../../../src/cli/perf-analyzer/command.ts";
import { OPTIONS, parseOptions } from "../../../src/cli/perf-analyzer/options/table.ts";
import { readSettings, Settings } from "../../../src/cli/perf-analyzer/settings.ts";
import { toFlags } from "../../../src/cli/perf-analyzer/to-flags.ts";
import { toPlan } from "../../../src/cli/perf-analyzer/to-plan.ts";

/** The table of options: complete, tested, and the same in both directions. */

/** All flag names of perf_analyzer, long names first, as its help and its command line know them: kept by hand, apart from the code. */
const PERF_ANALYZER_FLAGS: readonly string[] = [
  "--async --binary-search --bls-composing-models --collect-metrics --concurrency-range --data-directory --enable-mpi --endpoint",
  "--fixed-schedule --grpc-compression-algorithm --grpc-method --input-data --input-tensor-format --latency-threshold",
  "--log-frequency --max-threads --max-trials --measurement-interval --measurement-mode --measurement-request-count",
  "--metrics-interval --metrics-url --model-repository --model-signature-name --num-of-sequences --output-shared-memory-size",
  "--output-tensor-format --percentile --periodic-concurrency-range --profile-export-file --request-count",
  "--request-distribution --request-intervals --request-parameter --request-period --request-rate-range --sequence-id-range",
  "--sequence-length --sequence-length-variation --serial-sequences --service-kind --session-concurrency --shape",
  "--shared-memory --ssl-grpc-certificate-chain-file --ssl-grpc-private-key-file --ssl-grpc-root-certifications-file",
  "--ssl-grpc-use-ssl --ssl-https-ca-certificates-file --ssl-https-client-certificate-file",
  "--ssl-https-client-certificate-type --ssl-https-private-key-file --ssl-https-private-key-type --ssl-https-verify-host",
  "--ssl-https-verify-peer --stability-percentage --streaming --string-data --string-length --sync --trace-count --trace-file",
  "--trace-level --trace-rate --triton-server-directory --verbose-csv --version --warmup-request-count",
  "-H -a -b -c -d -f -i -l -m -p -r -s -t -u -v -x -z",
]
  .join(" ")
  .split(" ");

/** perf_analyzer's switches: flags without a value. */
const PERF_ANALYZER_SWITCHES: readonly string[] = [
  "--async --binary-search --collect-metrics --enable-mpi --fixed-schedule --serial-sequences --ssl-grpc-use-ssl --streaming",
  "--sync --verbose-csv --version -a -d -v -z",
]
  .join(" ")
  .split(" ");

/** The tests of service kinds. */
const KINDS = join(import.meta.dirname, "../../service");
/** Those of them that are about options of perf_analyzer mode. */
const OF_KINDS = ["perf-analyzer.test.ts", "shared-memory.test.ts"];

/** A test of a flag's effect on the wire, on the schedule or on the output: its name, and what stands in it. */
interface EffectTest {
  readonly name: string;
  readonly source: string;
}

function readEffectTests(): EffectTest[] {
  const here = readdirSync(import.meta.dirname).filter((file) => /^effects-.*\.test\.ts$/.test(file));
  // Options of one service kind are tested where the kind is.
  const kinds = readdirSync(KINDS, { recursive: true, encoding: "utf8" });
  const files = [
    ...here.map((file) => join(import.meta.dirname, file)),
    ...kinds.filter((file) => OF_KINDS.includes(basename(file))).map((file) => join(KINDS, file)),
  ];
  const texts = files.map((file) => readFileSync(file, "utf8"));
  return texts.flatMap((text) =>
    [...text.matchAll(/^ *test\(\s*(["`])(.*?)\1,([\s\S]*?)(?=^ *test\(|$(?![\s\S]))/gm)].map(
      ([, , name = "", source = ""]) => ({
        ...{ name, source },
      }),
    ),
  );
}

/** Whether a test's name has one of an option's, or the beginning of one before a star, and the test uses it. */
function isTested(names: readonly string[], { name, source }: EffectTest): boolean {
  const words = name.match(/(?<![\w-])--?[a-zA-Z][\w-]*\*?/g) ?? [];
  const isNamed = (option: string): boolean =>
    words.some((word) => (word.endsWith("*") ? option.startsWith(word.slice(0, -1)) : option === word));
  return names.some(isNamed) && names.some((option) => source.includes(`"${option}"`));
}

test("every option has a test of its effect, whose name says so and which uses it", () => {
  const tests = readEffectTests();
  assert.ok(tests.length > 100, String(tests.length));
  const untested = OPTIONS.filter(({ names }) => !tests.some((one) => isTested(names, one)));
  assert.deepEqual(
    untested.map(({ names }) => names[0]),
    [],
  );
});

test("no test of an effect names an option that there is not", () => {
  const known = OPTIONS.flatMap(({ names }) => names);
  const words = readEffectTests().flatMap(({ name }) => name.match(/(?<![\w-])--[a-z][\w-]*(?![\w*-])/g) ?? []);
  assert.deepEqual(
    words.filter((word) => !known.includes(word)),
    [],
  );
});

test("a test that names an option without using it does not count as its test", () => {
  assert.ok(isTested(["--shape"], { name: "--shape fills", source: '"--shape"' }));
  assert.ok(isTested(["--trace-rate"], { name: "the --trace-* flags", source: '"--trace-rate"' }));
  assert.ok(!isTested(["--shape"], { name: "--shape fills", source: '"--other"' }));
  assert.ok(!isTested(["--shape"], { name: "--shapes fill", source: '"--shape"' }));
});

test("the table knows every option of perf_analyzer and adds none but Rampart's own", () => {
  const known = OPTIONS.filter(({ isRampart }) => isRampart !== true).flatMap(({ names }) => names);
  assert.deepEqual(known.sort(), [...PERF_ANALYZER_FLAGS].sort());
  const own = OPTIONS.filter(({ isRampart }) => isRampart === true);
  for (const name of own.flatMap(({ names }) => names))
    assert.ok(!PERF_ANALYZER_FLAGS.includes(name), `${name} is perf_analyzer's already`);
  assert.deepEqual([...new Set(own.map(({ group }) => group))], ["Rampart's own"]);
});

test("switches are the options that take no value in perf_analyzer", () => {
  const switches = OPTIONS.filter(({ value, isRampart }) => value === undefined && isRampart !== true).flatMap(
    ({ names }) => names,
  );
  assert.deepEqual(switches.sort(), [...PERF_ANALYZER_SWITCHES].sort());
});

test("no two options share a name", () => {
  const names = OPTIONS.flatMap((option) => option.names);
  assert.equal(new Set(names).size, names.length);
});

test("help names every option, with its other names, value, unit, choices and default", () => {
  const help = formatHelp("x");
  const flat = help.replace(/\s+/g, " ");
  for (const { names, value, help: text, unit, choices, defaultText } of OPTIONS) {
    const shortFirst = names.toSorted((a, b) => a.length - b.length);
    const head = ` ${shortFirst.join(", ")}${value === undefined ? "" : ` ${value}`} ${text}`;
    assert.ok(flat.includes(head), head);
    if (choices !== undefined) assert.equal(value, choices.join("|"));
    if (defaultText !== undefined) assert.ok(flat.includes(`Default: ${defaultText}.`), names[0]);
    if (unit !== undefined) assert.ok(flat.includes(`In ${unit}.`), names[0]);
  }
  const tooLong = help.split("\n").filter((line) => line.length > 125 && !line.includes("-u gpu-host"));
  assert.deepEqual(tooLong, []);
});

test("help has the defaults that settings begin with", () => {
  const defaults = new Map(OPTIONS.map(({ names, defaultText }) => [names[0], defaultText]));
  const initial = new Settings();
  assert.deepEqual(
    ["--measurement-interval", "--output-shared-memory-size", "--stall-timeout", "--num-of-sequences", "-i"].map(
      (name) => defaults.get(name),
    ),
    [
      initial.measurement.mode.windowMs,
      initial.target.outputSharedMemoryBytes,
      `${initial.client.stallTimeoutMs / 1000}s`,
      initial.sequences.concurrent,
      initial.target.protocol,
    ].map(String),
  );
});

/** Any file, and a folder. */
const FILE = import.meta.filename;
const FOLDER = import.meta.dirname;

const number = (max: number): fc.Arbitrary<string> => fc.integer({ min: 1, max }).map(String);
const word = fc.stringMatching(/^[a-z][a-z0-9]{0,5}$/);
const joined = (separator: string, ...parts: fc.Arbitrary<string>[]): fc.Arbitrary<string> =>
  fc.tuple(...parts).map((texts) => texts.join(separator));
const file = fc.constant(FILE);
const range = fc.oneof(
  number(50),
  joined(":", number(50), number(90)),
  joined(":", number(50), number(90), number(9)),
  number(50).map((start) => `${start}:0`),
);

/** Values of the options that have other ones than their choices or a small number. */
const VALUES: Readonly<Record<string, fc.Arbitrary<string>>> = {
  "-m": word,
  "-x": number(9),
  "--endpoint": joined("/", word, word),
  "--model-signature-name": word,
  "--concurrency-range": range,
  "--request-rate-range": fc.oneof(range, fc.constant("0.5:7:0.25")),
  "--request-intervals": file,
  "--periodic-concurrency-range": fc.constantFrom("1:4", "10:50:10", "3:3"),
  "--sequence-id-range": fc.oneof(
    number(50),
    number(50).map((start) => `${start}:${Number(start) + 7}`),
  ),
  "--sequence-length-variation": fc.constantFrom("0", "20", "37.5"),
  "--stability-percentage": fc.constantFrom("0", "10", "12.5"),
  "--percentile": fc.oneof(number(99), fc.constant("-1")),
  "--latency-threshold": fc.oneof(number(99), fc.constant("0")),
  "--input-data": fc.constantFrom("random", "zero", FILE, FOLDER),
  "--shape": joined(
    ":",
    word,
    fc.array(number(9), { minLength: 1, maxLength: 3 }).map((sizes) => sizes.join()),
  ),
  "--string-data": word,
  "-u": fc.constantFrom("localhost:8000", "localhost:8001", "host:9", "https://host/path"),
  "-H": joined(":", word, word),
  "--request-parameter": fc.oneof(
    number(9).map((value) => `n:${value}:int`),
    word.map((value) => `s:${value}:string`),
  ),
  "--bls-composing-models": fc.oneof(word, joined(":", word, number(9)), joined(",", word, word)),
  "--metrics-url": fc.constantFrom("localhost:8002/metrics", "host:9/m", "https://h/m"),
  "--trace-file": word,
  "-f": fc.constant(`${FOLDER}no-such.csv`),
  "--profile-export-file": fc.constant(`${FOLDER}no-such.json`),
  "--json": fc.constant(`${FOLDER}no-such.out`),
  "--data-directory": fc.constant(FOLDER),
  "--grpc-method": fc.constantFrom("a.B/C", "Service/Method"),
  "--proto": file,
  "--proto-path": fc.constant(FOLDER),
  "--stall-timeout": fc.constantFrom("20s", "1500ms", "2min"),
  "--timeout": fc.constantFrom("30s", "5 ms"),
  "--source-address": fc.constantFrom("10.0.0.5", "::1"),
  "--bus": fc.constantFrom("nats://host:4222", "tls://user:word@host,tls://other"),
  "--agents-wait": fc.constantFrom("5s", "1min"),
  "--max-error-rate": fc.constantFrom("0", "25%", "0.7%", "100%"),
};

/** Every option whose value may be any. */
const OPTION_WORDS = OPTIONS.filter(({ names }) => names[0] !== "-m").map(
  ({ names: [name], value, choices }): fc.Arbitrary<string[]> => {
    if (value === undefined) return fc.constant([name]);
    if (name.endsWith("-file") && VALUES[name] === undefined) return file.map((path) => [name, path]);
    const values = VALUES[name] ?? (choices === undefined ? number(99) : fc.constantFrom(...choices.map(String)));
    return values.map((text) => [name, text]);
  },
);

/** Ways to measure that most random lines contradict, and some that change much. */
const BASES: readonly string[] = [
  "",
  "-i grpc",
  "-i grpc --streaming",
  "-i grpc --ssl-grpc-use-ssl",
  "-u https://host",
  "--collect-metrics",
  "--measurement-mode count_windows --measurement-request-count 9",
  "--concurrency-range 2:0 -l 9",
  "--binary-search --concurrency-range 1:64:2 -l 9",
  "--request-rate-range 10:20 --request-distribution poisson",
  `--service-kind openai --endpoint v1/x --async --input-data ${FILE}`,
  `--service-kind openai --endpoint v1/x --streaming --session-concurrency 3 --input-data ${FILE}`,
  `--service-kind dynamic_grpc --grpc-method a.B/C --input-data ${FILE}`,
  `--service-kind dynamic_grpc --grpc-method a.B/C --proto ${FILE} --proto-path ${FOLDER} --input-data ${FILE}`,
  "--service-kind tfserving -i grpc --model-signature-name s",
  `--fixed-schedule --input-data ${FILE}`,
  "--service-kind triton_c_api --model-repository /models --triton-server-directory /triton",
  `--periodic-concurrency-range 1:4 -i grpc --streaming --profile-export-file ${FOLDER}no-such.json`,
];

const LINES = fc
  .tuple(fc.constantFrom(...BASES), fc.array(fc.oneof(...OPTION_WORDS), { maxLength: 4 }))
  .map(([base, words]) => ["-m", "simple", ...base.split(" ").filter((part) => part !== ""), ...words.flat()]);

function build(args: readonly string[]): ReturnType<typeof toPlan> {
  const { settings, problems } = readSettings(parseOptions(args));
  const built = toPlan(settings);
  return { ...built, problems: [...problems, ...built.problems] };
}

test("a plan's command line reads back to the same plan, and is the shortest: printed again it is the same", () => {
  const printed = new Set<string>();
  fc.assert(
    fc.property(LINES, (args) => {
      const { plan, problems } = build(args);
      fc.pre(problems.length === 0);
      const { args: again, notes } = toFlags(plan);
      const back = build(again);
      assert.deepEqual([back.problems, notes], [[], []], again.join(" "));
      assert.deepEqual(back.plan, plan, again.join(" "));
      assert.deepEqual(toFlags(back.plan).args, again);
      for (const one of again) printed.add(one);
    }),
    { numRuns: 2000, seed: 1 },
  );
  const never = OPTIONS.filter(({ names, print }) => print !== undefined && !printed.has(names[0]));
  // These measure nothing; all others were printed.
  assert.deepEqual(
    never.map(({ names }) => names[0]),
    ["--version", "--help"],
  );
});

test("every option's value changes a setting, and lands in a plan", () => {
  for (const { names, read, land, isChanged } of OPTIONS) {
    assert.equal(typeof read, "function");
    assert.equal(land === undefined, isChanged === undefined, names[0]);
  }
  const words = OPTION_WORDS.map((one) => fc.sample(one, { numRuns: 20, seed: 1 }));
  for (const samples of words) {
    const changed = samples.some((sample) => {
      const { settings } = readSettings(parseOptions(sample));
      return JSON.stringify({ ...settings, given: 0 }) !== JSON.stringify({ ...new Settings(), given: 0 });
    });
    // -d does nothing but warn, and the command itself looks for --dry-run.
    assert.equal(changed, !["-d", "--dry-run"].includes(`${samples[0]?.[0]}`), samples[0]?.join(" "));
  }
});
