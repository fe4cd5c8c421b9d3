import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { type FrontDoor, wordError, wordFor, wordingIo, wordProblem } from "../../src/cli/setting-names.ts";
import { RunError, UserError } from "../../src/plan/problem.ts";
import { type SettingPath, setting } from "../../src/plan/setting-names.ts";
import { withServer } from "../run/kserve-server.ts";
import { runCommand } from "./perf-analyzer/run-command.ts";
import { inFolder, runRampart } from "./rampart-process.ts";
import { scenarioText } from "./scenario-files.ts";

/** Texts name settings as the user's front door does: fields in scenarios, flags in compatible modes. */

const LIMIT = { timeout: 60_000 };
const DOORS: readonly FrontDoor[] = ["scenario", "perf_analyzer", "genai-perf"];

const NAMED: readonly (readonly [SettingPath, scenario: string, perfAnalyzer: string, genaiPerf: string])[] = [
  ["client.stallTimeoutMs", "stallTimeout", "--stall-timeout", "--stall-timeout"],
  ["inputs.data", "inputs", "--input-data", "--input-file"],
  ["inputs.tokenizer", "target.tokenizer", "inputs.tokenizer", "--tokenizer"],
  ["measurement.mode.windowMs", "stability.window", "--measurement-interval", "--measurement-interval"],
  ["outputs.csvFile", "--csv", "-f", "-f after --"],
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

test("errors and problems are worded whole, and keep what else they have", () => {
  const facts = { code: "no-valid-requests", failure: { kind: "http", message: "no", status: 503 } } as const;
  const error = new RunError(
    "stalled",
    `over ${setting("target.url")}`,
    `Use ${setting("target.kind=triton")}.`,
    facts,
  );
  const worded = wordError("perf_analyzer", error) as RunError;
  assert.deepEqual(
    [worded.kind, worded.message, worded.hint, worded.facts],
    ["stalled", "over -u", "Use --service-kind triton.", facts],
  );
  const problem = { path: setting("outputs.jsonFile"), message: "is taken", value: "{setting:x}", hint: "Move it." };
  assert.deepEqual(wordProblem("scenario", problem), { ...problem, path: "--json" });
  const { problems } = wordError("scenario", new UserError([problem])) as UserError;
  assert.equal(problems[0]?.path, "--json");
  const defect = new TypeError("oops");
  assert.equal(wordError("scenario", defect), defect);
});

test("what is printed through a front door is in its words", () => {
  const printed: string[] = [];
  const io = { out: (text: string) => printed.push(`out ${text}`), err: (text: string) => printed.push(`err ${text}`) };
  const worded = wordingIo("genai-perf", io);
  worded.out(setting("target.url"));
  worded.err(setting("client.requestTimeoutMs"));
  assert.deepEqual(printed, ["out --url", "err --request-timeout"]);
});

/** What a scenario's text must not have, and what a command line's must not. */
const FLAG = /(?<![\w-])--?[a-z]/i;
const FIELD = /maxFailureRatio|stallTimeout|triton\(|openai\(|\{setting/;

const FAILURES = [
  {
    name: "more requests fail than are allowed",
    answers: { onInfer: () => "no luck" },
    flags: ["--request-count", "50", "--max-failure-ratio", "0.1"],
    scenario: { load: "hold(1, { requests: 50 })", maxFailureRatio: "0.1" },
    inFlags: /^Raise --max-failure-ratio or look at the server\.$/m,
    inScenario: /6 of 6 requests failed, more than the 10 % allowed.*Raise maxFailureRatio or look at the server/,
    code: 69,
  },
  {
    name: "an address is the one of the other protocol",
    answers: {},
    flags: ["-i", "grpc"],
    scenario: { target: 'protocol: "grpc"', load: "hold(1, { requests: 2 })" },
    inFlags: /speaks HTTP, not gRPC: .* in -u, or use -i http\.$/m,
    inScenario: /speaks HTTP, not gRPC: .* in the target's address, or use protocol: "http"\./,
    code: 69,
  },
] as const;

for (const { name, answers, flags, scenario, inFlags, inScenario, code } of FAILURES)
  test(`${name}: perf_analyzer mode speaks of flags, a scenario of its fields`, LIMIT, async () => {
    await withServer(answers, async (server) => {
      const { err } = await runCommand(["-m", "simple", "-u", server.url, ...flags]);
      assert.match(err, inFlags);
      assert.doesNotMatch(err, FIELD);
      const { load } = scenario;
      const options = "target" in scenario ? `, ${scenario.target}` : "";
      const text = scenarioText({
        target: `triton("${server.url.replace("http://", "")}", { model: "simple"${options} })`,
        load,
        ...("maxFailureRatio" in scenario ? { maxFailureRatio: scenario.maxFailureRatio } : {}),
      });
      await inFolder({ "x.ts": text }, async (cwd) => {
        const ran = await runRampart(["run", "x.ts"], { cwd });
        assert.equal(ran.code, code, ran.err);
        assert.match(ran.err, inScenario);
        assert.doesNotMatch(ran.err, FLAG);
      });
    });
  });

test("data that a made-up prompt lacks is named by genai-perf's flag and by a scenario's field", LIMIT, async () => {
  await inFolder({ "in.jsonl": '{"number":1}' }, async (cwd) => {
    const file = ["--input-file", "in.jsonl", "--tokenizer", "none", "--url", "127.0.0.1:1"];
    const ran = await runRampart(["genai-perf", "profile", "-m", "m", "--endpoint-type", "chat", ...file], { cwd });
    assert.match(ran.err, /^Error: .*\n {2}Write \{"text": "…"\}.*$/m);
    assert.doesNotMatch(ran.err, FIELD);
  });
});
