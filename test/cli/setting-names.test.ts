import assert from "node:assert/strict";
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, test } from "node:test";
import { inGenaiPerf } from "../../src/cli/genai-perf/setting-names.ts";
import { inPerfAnalyzer } from "../../src/cli/perf-analyzer/setting-names.ts";
import { inScenario, wordError, wordFor, wordingIo, wordProblem } from "../../src/cli/setting-names.ts";
import { problem, RunError, UserError } from "../../src/plan/problem.ts";
import { type SettingPath, setting } from "../../src/plan/setting-names.ts";
import { withServer } from "../run/kserve-server.ts";
import { type Answer, startAnsweringServer } from "../servers/answering-server.ts";
import { runCommand } from "./perf-analyzer/run-command.ts";
import { inFolder, runRampart } from "./rampart-process.ts";
import { scenarioText } from "./scenario-files.ts";
import { runGenaiPerf, runPerfAnalyzer, runScenario } from "./three-doors.ts";

/** Texts name settings as the user's front door does: fields in scenarios, flags in compatible modes. */

const LIMIT = { timeout: 180_000 };
const DOORS = [inScenario, inPerfAnalyzer, inGenaiPerf];

const NAMED: readonly (readonly [SettingPath, scenario: string, perfAnalyzer: string, genaiPerf: string])[] = [
  ["client.stallTimeoutMs", "stallTimeout", "--stall-timeout", "--stall-timeout"],
  ["inputs.data", "inputs", "--input-data", "--input-file"],
  ["inputs.tokenizer", "target.tokenizer", "inputs.tokenizer", "--tokenizer"],
  ["load.periodResponses", "responses of periodic(…)", "--request-period", "--request-period after --"],
  ["measurement.mode.windowMs", "stability.window", "--measurement-interval", "--measurement-interval"],
  ["outputs.files.perfAnalyzerCsv", "outputs.files.perfAnalyzerCsv", "-f", "-f after --"],
  ["target.shapes", "shapes", "--shape", "--shape after --"],
  ["target.url", "the target's address", "-u", "--url"],
];

describe("a text names a setting in each front door's own terms:", () => {
  for (const [path, ...names] of NAMED)
    test(path, () => {
      const text = `Raise ${setting(path)}, not {${path}}.`;
      const worded = DOORS.map((door) => wordFor(door, text));
      assert.deepEqual(
        worded,
        names.map((name) => `Raise ${name}, not {${path}}.`),
      );
    });
});

/** Settings that texts below the front doors name and that a user of a front door cannot meet or set. */
const UNNAMED: readonly (readonly [typeof inScenario, readonly string[]])[] = [
  [
    inScenario,
    [
      "checkpoint.folder",
      "client.callMode=async",
      "client.isMpi",
      "client.maxLanes",
      "inputs.format",
      "measurement.mode.requestsPerWindow",
      "outputs.files.perfAnalyzerCsv",
      "telemetry.metrics",
      "telemetry.metrics.intervalMs",
      "telemetry.trace.count",
      "telemetry.trace.file",
      "telemetry.trace.levels",
      "telemetry.trace.logFrequency",
      "telemetry.trace.rate",
    ],
  ],
  [
    inPerfAnalyzer,
    [
      "checkpoint.folder",
      "client.maxOutstanding",
      "inputs.audio.channelCount",
      "inputs.audio.depthsBits",
      "inputs.audio.lengthS",
      "inputs.audio.sampleRatesHz",
      "inputs.count",
      "inputs.entries",
      "inputs.file",
      "inputs.file=other",
      "inputs.file=rankings",
      "inputs.format",
      "inputs.tokenizer",
      "mock.grpcPort",
      "mock.grpcProto",
      "mock.httpPort",
      "outputs.files.csv",
      "outputs.files.records",
      "overrides.client",
      "overrides.set",
      "overrides.url",
      "target.pacing",
      "target.success",
      "telemetry.metrics",
    ],
  ],
  [
    inGenaiPerf,
    [
      "client.callMode=async",
      "client.kind",
      "client.maxOutstanding",
      "inputs.entries",
      "mock.grpcPort",
      "mock.grpcProto",
      "mock.httpPort",
      "outputs.files.csv",
      "outputs.files.json",
      "overrides.client",
      "overrides.set",
      "overrides.url",
      "target.importPaths",
      "target.pacing",
      "target.protoFiles",
      "target.success",
      "telemetry.metrics",
      "telemetry.metrics.intervalMs",
    ],
  ],
];

/** Every setting that the source below `cli/` names, by the places where it marks one. */
function namedBelow(): SettingPath[] {
  const found = new Set(
    ["csv", "html", "json", "junit", "markdown", "profileExport", "records"].map((key) => `outputs.files.${key}`),
  );
  found.add("client.kind");
  for (const file of readdirSync("src", { recursive: true, encoding: "utf8" })) {
    if (!file.endsWith(".ts") || file.startsWith("cli") || file === join("plan", "setting-names.ts")) continue;
    // Their other paths are of plans that no front door builds.
    if (["check-plan.ts", "conflicts.ts"].some((name) => file === join("registry", name))) continue;
    const text = readFileSync(join("src", file), "utf8");
    if (!text.includes("setting-names.ts")) continue;
    for (const [, path] of text.matchAll(/"((?:\w+\.)+\w+(?:=\w+)?)"/g)) if (isSetting(path)) found.add(path as string);
  }
  return [...found].sort() as SettingPath[];
}

const PARTS =
  /^(?:checkpoint|client|failures|inputs|load|measurement|merge|mock|outputs|overrides|sequences|target|telemetry)\./;

function isSetting(path = ""): boolean {
  return PARTS.test(path) && !/\.(?:ts|json)$/.test(path);
}

test("every setting that a text names has a name in each front door where it can be set", () => {
  const named = namedBelow();
  assert.equal(named.length > 40, true);
  for (const [door, unnamed] of UNNAMED)
    assert.deepEqual(
      named.filter((path) => door(path) === undefined),
      unnamed,
      door.name,
    );
});

test("a scenario's names are fields of the reference, which is made from the types", () => {
  const reference = readFileSync("scenarios/README.md", "utf8");
  const fields = namedBelow()
    .map((path) => inScenario(path) ?? "")
    .filter((name) => /^[a-z]\w+(?:\.\w+)?$/.test(name));
  assert.equal(fields.length > 15, true);
  for (const field of fields) assert.ok(reference.includes(`\`${field.split(".").at(-1)}`), field);
});

test("errors and problems are worded whole, and keep what else they have", () => {
  const facts = { stage: "shared-memory", failure: { kind: "http", message: "no", status: 503 } } as const;
  const error = new RunError(
    "stalled",
    `over ${setting("target.url")}`,
    `Use ${setting("target.kind=triton")}.`,
    facts,
  );
  const worded = wordError(inPerfAnalyzer, error) as RunError;
  assert.deepEqual(
    [worded.code, worded.message, worded.hint, worded.facts],
    ["stalled", "over -u", "Use --service-kind triton.", facts],
  );
  const taken = problem("overwrite", setting("outputs.files.json"), "is taken", "Move it.", "{setting:x}");
  assert.deepEqual(wordProblem(inScenario, taken), { ...taken, path: "--json" });
  const { problems } = wordError(inScenario, new UserError(taken)) as UserError;
  assert.equal(problems[0]?.path, "--json");
  const defect = new TypeError("oops");
  assert.equal(wordError(inScenario, defect), defect);
});

test("a front door prints its own names", () => {
  const printed: string[] = [];
  const io = { out: (text: string) => printed.push(`out ${text}`), err: (text: string) => printed.push(`err ${text}`) };
  const worded = wordingIo(inGenaiPerf, io);
  worded.out(setting("target.url"));
  worded.err(setting("client.requestTimeoutMs"));
  assert.deepEqual(printed, ["out --url", "err --request-timeout"]);
});

/** What a scenario's text must not have, and what a command line's must not. */
const FLAG = /(?<![\w-])--?[a-z]/i;
const FIELD = /maxFailureRatio|stallTimeout|requestTimeout|apiKeyEnv|openai\(|tls: |\{setting/;

/** The same failure, and how each front door says what to change. */
interface FailureCase {
  readonly name: string;
  readonly answer: Answer;
  /** After the server's address. */
  readonly path?: string;
  readonly flags?: readonly string[];
  readonly fields?: string;
  readonly scenario: RegExp;
  readonly perfAnalyzer: RegExp;
  readonly genaiPerf: RegExp;
}

const FAILURES: readonly FailureCase[] = [
  {
    name: "a key is missing",
    answer: (response) => response.writeHead(401).end("no"),
    scenario: /give it with apiKeyEnv: "NAME" /,
    perfAnalyzer: /give it with -H "Authorization: Bearer KEY"\./,
    genaiPerf: /give it with --api-key-env NAME /,
  },
  {
    name: "the address has the path's beginning",
    answer: (response) => response.writeHead(404).end(),
    path: "/v1",
    // A target accepts an address that ends in /v1.
    scenario: /HTTP status 404\n$/,
    perfAnalyzer: /leave \/v1 out of -u\./,
    genaiPerf: /leave \/v1 out of --url\./,
  },
  {
    name: "the server redirects",
    answer: (response) => response.writeHead(307, { location: "https://elsewhere/v1" }).end(),
    scenario: /so point the target's address there\./,
    perfAnalyzer: /so point -u there\./,
    genaiPerf: /so point --url there\./,
  },
  {
    name: "more requests fail than are allowed",
    answer: (response) => response.writeHead(500).end("no luck"),
    flags: ["--max-failure-ratio", "0.1"],
    fields: ", maxFailureRatio: 0.1",
    scenario: /more than the 10 % allowed.* Raise maxFailureRatio or look at the server\./,
    perfAnalyzer: /^Raise --max-failure-ratio or look at the server\.$/m,
    genaiPerf: /more than the 10 % allowed[\s\S]*Raise --max-failure-ratio or look at the server\./,
  },
];

describe("a failure is explained in each front door's terms:", () => {
  for (const { name, answer, path = "", flags = [], fields = "", ...said } of FAILURES)
    test(name, LIMIT, async () => {
      const server = await startAnsweringServer(answer);
      try {
        const url = `${server.url}${path}`;
        const scenario = await runScenario(url, "", fields);
        assert.match(scenario.err, said.scenario);
        assert.doesNotMatch(scenario.err, FLAG);
        for (const [ran, wanted] of [
          [await runPerfAnalyzer(url, flags), said.perfAnalyzer],
          [await runGenaiPerf(url, flags), said.genaiPerf],
        ] as const) {
          assert.match(ran.err, wanted);
          assert.doesNotMatch(ran.err, FIELD);
        }
      } finally {
        server.close();
      }
    });
});

test("an input whose shape varies is explained in the terms of both front doors that send tensors", LIMIT, async () => {
  await withServer({ inputs: [{ name: "IN", datatype: "FP32", dims: [-1, 4] }] }, async (server) => {
    const { err } = await runCommand(["-m", "simple", "-u", server.url, "--request-count", "2"]);
    assert.match(err, /Give it a shape with --shape, for example 8,4\./);
    const target = `triton("${server.url}", { model: "simple" })`;
    await inFolder({ "x.ts": scenarioText({ target, load: "hold(1, { requests: 2 })" }) }, async (cwd) => {
      const ran = await runRampart(["run", "x.ts"], { cwd });
      assert.match(ran.err, /Give it a shape with shapes, for example 8,4\./);
      assert.doesNotMatch(ran.err.replace("rampart run --help", ""), FLAG);
    });
  });
});
