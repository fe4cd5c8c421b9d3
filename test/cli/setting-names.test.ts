import assert from "node:assert/strict";
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, test } from "node:test";
import { inGenaiPerf } from "../../src/cli/genai-perf/setting-names.ts";
import { sharedOptions } from "../../src/cli/options/shared-options.ts";
import { inPerfAnalyzer } from "../../src/cli/perf-analyzer/setting-names.ts";
import { inScenario } from "../../src/cli/setting-names.ts";
import { MESSAGES, type MessageCode, type Said, type SettingPath, type Text, word } from "../../src/plan/messages.ts";
import { problem, RunError, UserError, wordError, wordProblem } from "../../src/plan/problem.ts";
import { ERROR_FORM } from "../../src/plan/sent-error.ts";
import { KserveServer } from "../run/kserve-server.ts";
import { type Answer, startAnsweringServer } from "../servers/answering-server.ts";
import { LIMIT } from "../time-limit.ts";
import { runCommand } from "./perf-analyzer/run-command.ts";
import { createFolder, runRampart } from "./rampart-process.ts";
import { scenarioText } from "./scenario-files.ts";
import { runGenaiPerf, runPerfAnalyzer, runScenario } from "./three-doors.ts";

/** Texts name settings as the user's front door does: fields in scenarios, flags in compatible modes. */

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
      const text = ["Raise ", { setting: path }, `, not <${path}>.`] as const;
      const worded = DOORS.map((door) => word(text, door));
      assert.deepEqual(
        worded,
        names.map((name) => `Raise ${name}, not <${path}>.`),
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
      "measurement.mode.count",
      "measurement.mode.durationMs",
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
    ],
  ],
  [
    inGenaiPerf,
    [
      "client.callMode=async",
      "client.kind",
      "client.maxOutstanding",
      "inputs.entries",
      "measurement.mode.count",
      "measurement.mode.durationMs",
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
      "telemetry.metrics.intervalMs",
    ],
  ],
];

/** Every setting that the source below `cli/` names, by the places where it does. */
function namedBelow(): SettingPath[] {
  const files = sharedOptions("run").flatMap(({ setting = "" }) =>
    setting.startsWith("outputs.files.") ? setting : [],
  );
  const found = new Set<string>([...files, "outputs.files.perfAnalyzerCsv", "client.kind"]);
  assert.ok(files.length > 5);
  for (const sentence of Object.values(MESSAGES)) for (const path of settingsIn(sentence)) found.add(path);
  for (const file of readdirSync("src", { recursive: true, encoding: "utf8" })) {
    if (!file.endsWith(".ts") || file.startsWith("cli")) continue;
    // Their other paths are of plans that no front door builds.
    if (["check-plan.ts", "conflicts.ts"].some((name) => file === join("registry", name))) continue;
    const text = readFileSync(join("src", file), "utf8");
    for (const [, path = ""] of text.matchAll(/\b(?:at|setting): "([\w.=-]+)"/g)) found.add(path);
    if (!text.includes("SettingPath") || file === join("plan", "messages.ts")) continue;
    for (const [, path] of text.matchAll(/"((?:\w+\.)+\w+(?:=[\w-]+)?)"/g))
      if (isSetting(path)) found.add(path as string);
  }
  return [...found].sort() as SettingPath[];
}

const PARTS =
  /^(?:checkpoint|client|failures|inputs|load|measurement|merge|mock|outputs|overrides|sequences|target|telemetry)\./;

function isSetting(path = ""): boolean {
  return PARTS.test(path) && !/\.(?:ts|json)$/.test(path);
}

/** The settings that a sentence of the table names. */
function settingsIn(sentence: string): SettingPath[] {
  return [...sentence.matchAll(/<([\w.=-]+)>/g)].map(([, key]) => key as SettingPath).filter((key) => isSetting(key));
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
  const pages = ["define-scenario", "targets", "loads", "inputs"];
  const reference = pages.map((page) => readFileSync(`scenarios/reference/${page}.md`, "utf8")).join("\n");
  const fields = namedBelow()
    .map((path) => inScenario(path) ?? "")
    .filter((name) => /^[a-z]\w+(?:\.\w+)?$/.test(name));
  assert.equal(fields.length > 15, true);
  for (const field of fields) assert.ok(reference.includes(`\`${field.split(".").at(-1)}`), field);
});

/** A sentence with a value in each of its places. @param at the setting of a sentence about any */
function sayWith(code: MessageCode, at: SettingPath): Said {
  const places = [...MESSAGES[code].matchAll(/<(\w+)>/g)].map(([, key = ""]) => [
    key,
    key === "at" ? at : `VALUE OF ${key}`,
  ]);
  return { say: code, ...Object.fromEntries(places) } as Said;
}

describe("every sentence can be worded at every front door:", () => {
  for (const door of DOORS)
    test(door.name, () => {
      for (const code of Object.keys(MESSAGES) as MessageCode[]) {
        const said = structuredClone(sayWith(code, "target.url"));
        const text = word(said, door);
        assert.doesNotMatch(text, /[<>]|undefined|\[object/, code);
        const rest = settingsIn(MESSAGES[code]).reduce((left, path) => {
          const name = door(path) ?? path;
          assert.ok(left.includes(name), `${code}: ${text} lacks ${name}`);
          return left.replace(name, "");
        }, text);
        for (const path of settingsIn(MESSAGES[code])) assert.ok(!rest.includes(path), `${code}: ${text}`);
        for (const [, key] of MESSAGES[code].matchAll(/<(\w+)>/g))
          if (key !== "at") assert.ok(text.includes(`VALUE OF ${key}`), `${code}: ${text}`);
      }
    });
});

const FACTS = { stage: "shared-memory", failure: { kind: "http", message: "no", status: 503 } } as const;
/** A text with each part that a text can have. */
const MANY: Text = [
  "over ",
  { setting: "target.url" },
  { where: "client.isMpi", text: "!" },
  { say: "use-setting", at: "target.kind=triton" },
];

test("errors and problems are worded whole, and keep what else they have, in another thread and on another host too", () => {
  const error = new RunError("stalled", MANY, { say: "look-or-wait" }, FACTS);
  for (const one of [error, ERROR_FORM.receive(structuredClone(ERROR_FORM.send(error)))]) {
    const { code, message, hint, facts } = wordError(one, inPerfAnalyzer) as RunError;
    assert.deepEqual(
      [code, message, hint, facts],
      ["stalled", "over -u!Use --service-kind triton.", "Look at the server, or raise --stall-timeout.", FACTS],
    );
  }
  assert.equal(error.message, "over target.urlUse target.kind=triton.", "without a front door");
  const taken = problem("overwrite", { setting: "outputs.files.json" }, "is taken", "Move it.", "<target.url>");
  const users = new UserError([taken, problem("missing", "a.json", MANY, { say: "give-data" })]);
  for (const one of [users, ERROR_FORM.receive(structuredClone(ERROR_FORM.send(users)))]) {
    const { problems, message } = wordError(one, inScenario) as UserError;
    assert.deepEqual(problems, [
      { ...taken, path: "--json" },
      {
        code: "missing",
        path: "a.json",
        message: "over the target's addressUse triton(…).",
        hint: "Give data for it in inputs.",
      },
    ]);
    assert.equal(
      message,
      "--json: is taken (got <target.url>). Move it.\na.json: over the target's addressUse triton(…). Give data for it in inputs.",
    );
    assert.equal(word(users.text, inScenario), message);
  }
  assert.deepEqual(wordProblem(taken, inScenario), { ...taken, path: "--json" });
  const defect = new TypeError("oops");
  assert.equal(wordError(defect, inScenario), defect);
});

/** What a scenario's text must not have, and what a command line's must not. */
const FLAG = /(?<![\w-])--?[a-z]/i;
const FIELD = /maxErrorRate|stallTimeout|timeout|apiKeyEnv|openai\(|tls: |\[object/;

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
    scenario: /HTTP status 404$/m,
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
    flags: ["--max-error-rate", "10%"],
    fields: ", maxErrorRate: '10 %'",
    scenario: /more than the 10 % allowed.* Raise maxErrorRate or look at the server\./,
    perfAnalyzer: /^Raise --max-error-rate or look at the server\.$/m,
    genaiPerf: /more than the 10 % allowed[\s\S]*Raise --max-error-rate or look at the server\./,
  },
];

describe("a failure is explained in each front door's terms:", () => {
  for (const { name, answer, path = "", flags = [], fields = "", ...said } of FAILURES)
    test(name, LIMIT, async () => {
      using server = await startAnsweringServer(answer);
      const url = `${server.url}${path}`;
      const { out, err } = await runScenario(url, "", fields);
      assert.match(out + err, said.scenario);
      assert.doesNotMatch(err, FLAG);
      for (const [ran, wanted] of [
        [await runPerfAnalyzer(url, flags), said.perfAnalyzer],
        [await runGenaiPerf(url, flags), said.genaiPerf],
      ] as const) {
        assert.match(ran.err, wanted);
        assert.doesNotMatch(ran.err, FIELD);
      }
    });
});

test("an input whose shape varies is explained in the terms of both front doors that send tensors", LIMIT, async () => {
  await using server = await new KserveServer({ inputs: [{ name: "IN", datatype: "FP32", dims: [-1, 4] }] }).start();
  const { err } = await runCommand(["-m", "simple", "-u", server.url, "--request-count", "2"]);
  assert.match(err, /Give it a shape with --shape, for example 8,4\./);
  const target = `triton("${server.url}", { model: "simple" })`;
  using folder = createFolder({ "x.ts": scenarioText({ target, load: "hold(1, { requests: 2 })" }) });
  const ran = await runRampart(["run", "x.ts"], { cwd: folder.path });
  assert.match(ran.err, /Give it a shape with shapes, for example 8,4\./);
  assert.doesNotMatch(ran.err.replace("rampart run --help", ""), FLAG);
});
