// Runs on: executable.
import assert from "node:assert/strict";
import { existsSync, mkdirSync, readdirSync, readFileSync, statSync } from "node:fs";
import { join } from "node:path";
import { describe, test } from "node:test";
import { LOOPBACK, startMock } from "../../src/mock/server.ts";
import { tfServingService } from "../../src/mock/services/tfserving.ts";
import { torchServeMock } from "../../src/mock/services/torchserve.ts";
import { DEFAULT_MOCK } from "../../src/plan/mock.ts";
import type { Plan } from "../../src/plan/plan.ts";
import { toPlan } from "../../src/scenario/to-plan.ts";
import type { Answers } from "../../src/wizard/answers.ts";
import { QUESTIONS } from "../../src/wizard/questions.ts";
import { toScenario } from "../../src/wizard/scenario-text.ts";
import { startCountingServer } from "../cli/counting-server.ts";
import { createFolder, inFolder, type ProcessResult, runRampart } from "../cli/rampart-process.ts";
import { TINY } from "../tokenize/tiny.ts";
import { startModelServer } from "./model-server.ts";
import { planOfPrintedFlags } from "./written.ts";

/** `rampart init` without a terminal: answers by flags and defaults. */

function init(cwd: string, ...flags: string[]): Promise<ProcessResult> {
  return runRampart(["init", ...flags], { cwd });
}

function flagsOf(answers: Answers): string[] {
  return Object.entries(answers).map(([id, answer]) => `--${id}=${answer}`);
}

/** The flags that problems name, in their order. */
function named(err: string): string[] {
  return [...err.matchAll(/^rampart: --([a-z0-9-]+): /gm)].map((match) => match[1] as string);
}

/** The same target and load by the printed flags as by the scenario. */
async function assertSameByFlags(out: string, plan: Plan): Promise<void> {
  const { target, load } = planOfPrintedFlags(out);
  assert.ok(target.kind === "triton");
  if (plan.target.kind === "triton") assert.deepEqual(target, plan.target);
  else assert.deepEqual([target.model, target.protocol], ["simple", plan.target.protocol]);
  assert.deepEqual({ ...load, seed: 0 }, { ...plan.load, seed: 0 });
}

describe("rampart init with every answer by flag", () => {
  const common = { goal: "number", load: "users", users: "2", for: "stable", "p99-limit": "1 h", save: "./made.ts" };

  test("writes a scenario that is the plan of its answers, for the embedded target", async () => {
    using folder = createFolder({});
    const answers: Answers = { target: "embedded", protocol: "grpc", ...common };
    const { code, out, err } = await init(folder.path, ...flagsOf(answers), "--no-run");
    assert.equal(code, 0, out + err);
    assert.equal(err, "");
    assert.ok(out.includes(readFileSync(join(folder.path, "made.ts"), "utf8")));
    assert.match(out, /^ {2}rampart mock &$/m);
    assert.match(out, /run it with: rampart run \.\/made\.ts/);
    assert.notEqual(statSync(join(folder.path, "made.ts")).mode & 0o100, 0);
    const plan = toPlan(toScenario(answers), folder.path);
    const dryRun = await runRampart(["run", "made.ts", "--dry-run"], { cwd: folder.path });
    const { expectedTime: _, ...shown } = JSON.parse(dryRun.out) as Plan & { readonly expectedTime?: object };
    assert.deepEqual(shown, plan);
    await assertSameByFlags(out, plan);
  });

  for (const protocol of ["http", "grpc"] as const) {
    test(`writes a scenario for a server over ${protocol}, and runs it`, async () => {
      await using mock = await startMock(DEFAULT_MOCK, LOOPBACK);
      using folder = createFolder({});
      const url = `127.0.0.1:${protocol === "grpc" ? mock.grpcPort : mock.httpPort}`;
      const load = { goal: "number", rate: "20", for: "300 ms", "p99-limit": "1 h", save: "./made.ts" };
      const answers: Answers = { target: "triton", protocol, url, model: "simple", ...load };
      const { code, out, err } = await init(folder.path, ...flagsOf(answers), "--run");
      // Six requests show no p99.
      assert.equal(code, 66, out + err);
      assert.match(out, /^ {2}\(flags measure until windows agree, not for a given time\)$/m);
      assert.match(out, /^UNRESOLVED {2}simple, /m);
      assert.match(out, /^ {2}pass .*error rate = 0 %/m);
      assert.match(out, /^ {2}unresolved [\s\S]*?p99 needs\s+299\s+requests/m);
      await assertSameByFlags(out, toPlan(toScenario({ ...answers, load: "rate" }), folder.path));
    });
  }

  test("writes a scenario for a language model that the server lists, and runs it", async () => {
    await using mock = await startMock(DEFAULT_MOCK, LOOPBACK);
    using folder = createFolder({});
    const url = `127.0.0.1:${mock.httpPort}`;
    const tokenizer = TINY;
    const flags = ["--target", "openai", "--url", url, "--tokenizer", tokenizer, "--users", "1:2", "--for", "300 ms"];
    const { code, out, err } = await init(folder.path, "--yes", ...flags);
    assert.equal(code, 0, out + err);
    const text = readFileSync(join(folder.path, "mock-llm.ts"), "utf8");
    assert.match(text, /openai\("127\.0\.0\.1:\d+", \{\n {4}model: "mock-llm",\n {4}streaming: true,\n {4}tokenizer: /);
    assert.match(
      out,
      /^ {2}rampart genai-perf profile -m mock-llm -u 127\.0\.0\.1:\d+ --tokenizer .* --concurrency 1$/m,
    );
    assert.match(out, /^users +req\/s +tokens\/s +TTFT p50 /m);
    const other = await init(folder.path, "--yes", "--target", "openai", "--url", url, "--model", "other", "--no-run");
    assert.equal(other.code, 64);
    assert.match(other.err, /--model: is not ready on the server, which has mock-llm/);
  });

  test("recognizes TorchServe, writes a scenario with files and runs it", async () => {
    await using mock = await startMock(DEFAULT_MOCK, LOOPBACK, [await torchServeMock.create(DEFAULT_MOCK, "")]);
    using folder = createFolder({ "cat.txt": "meow" });
    const url = `127.0.0.1:${mock.httpPort}`;
    const flags = ["--yes", "--target", "torchserve", "--url", url, "--model", "simple", "--no-server"];
    const run = [...flags, "--files", "*.txt", "--users", "1:2", "--for", "200 ms"];
    const { code, out, err } = await init(folder.path, ...run);
    assert.equal(code, 0, out + err);
    const text = readFileSync(join(folder.path, "simple.ts"), "utf8");
    assert.match(text, /torchserve\("127\.0\.0\.1:\d+", \{ model: "simple" \}\)/);
    assert.match(text, /inputs: input\.files\("\.\/\*\.txt"\)/);
    assert.match(out, /--service-kind torchserve .*--input-data files\.json/);
    const missing = await init(folder.path, ...flags, "--no-run");
    assert.equal(missing.code, 64);
    assert.match(missing.err, /--files: has no default here\. *Give --files PATTERN/);
  });

  test("looks at the named model of TensorFlow Serving, which lists none", async () => {
    await using mock = await startMock(DEFAULT_MOCK, LOOPBACK, [await tfServingService.create(DEFAULT_MOCK, "")]);
    using folder = createFolder({});
    const flags = ["--yes", "--target", "tfserving", "--url", `127.0.0.1:${mock.grpcPort}`, "--save", "./made.ts"];
    const unnamed = await init(folder.path, ...flags, "--no-run");
    assert.equal(unnamed.code, 64);
    assert.match(unnamed.err, /has no call that lists its models\. Name the model\./);
    const { code, out, err } = await init(folder.path, ...flags, "--model", "simple", "--no-run");
    assert.equal(code, 0, out + err);
    const shapes = "shapes: { INPUT0: [1, 16], INPUT1: [1, 16] }";
    assert.ok(readFileSync(join(folder.path, "made.ts"), "utf8").includes(`{ model: "simple", ${shapes} }`));
    assert.match(out, /--service-kind tfserving/);
  });

  test("lists the models of a folder for Triton in process", async () => {
    using folder = createFolder({});
    mkdirSync(join(folder.path, "models/one"), { recursive: true });
    const flags = ["--target", "tritonInProcess", "--model-repository", join(folder.path, "models"), "--no-run"];
    const { code, out, err } = await init(folder.path, "--yes", ...flags);
    assert.equal(code, 0, out + err);
    assert.match(
      readFileSync(join(folder.path, "one.ts"), "utf8"),
      /tritonInProcess\(\{ modelRepository: ".*", model: "one" \}\)/,
    );
    assert.match(out, /^ {2}rampart perf_analyzer -m one --service-kind triton_c_api .*--model-repository /m);
    assert.doesNotMatch(out, /rampart mock/);
    const other = await init(folder.path, "--yes", ...flags, "--model", "two");
    assert.equal(other.code, 64);
    assert.match(other.err, /--model: is not ready on the server, which has one/);
  });

  test("takes sizes of a model whose shape varies", async () => {
    await using server = await startModelServer();
    using folder = createFolder({});
    const answers: Answers = {
      target: "triton",
      protocol: "http",
      url: server.url,
      model: "variable",
      shapes: "IN:3,7",
      ...common,
    };
    const { code, out, err } = await init(folder.path, ...flagsOf(answers), "--no-run");
    assert.equal(code, 0, out + err);
    assert.match(readFileSync(join(folder.path, "made.ts"), "utf8"), /shapes: \{ IN: \[3, 7\] \}/);
    await assertSameByFlags(out, toPlan(toScenario(answers), folder.path));
  });
});

describe("rampart init --yes", () => {
  test("takes every default, the embedded target included, and runs", async () => {
    using folder = createFolder({});
    // Only the times are given: the defaults take 8 s. A p99 needs 299 requests, also on a busy machine.
    const { code, out, err } = await init(folder.path, "--yes", "--for", "4 s", "--p99-limit", "1 h");
    assert.equal(code, 0, out + err);
    assert.deepEqual(readdirSync(folder.path), ["embedded.ts"]);
    assert.match(out, /^PASSED {2}embedded: simple, embedded target, http +\S/m);
    assert.equal(err.match(/measuring concurrency \d/g)?.length, 4);
  });

  test("never writes over a file", async () => {
    using folder = createFolder({ "embedded.ts": "mine" });
    const first = await init(folder.path, "--yes", "--no-run");
    assert.equal(first.code, 0, first.err);
    const second = await init(folder.path, "-y", "--no-run");
    assert.match(second.out, /wrote \.\/embedded-3\.ts/);
    const named = await init(folder.path, "--yes", "--no-run", "--save", "embedded.ts");
    assert.equal(named.code, 64);
    assert.match(named.err, /^rampart: --save: exists already \(got embedded\.ts\)/);
    assert.deepEqual(readdirSync(folder.path).sort(), ["embedded-2.ts", "embedded-3.ts", "embedded.ts"]);
    assert.equal(readFileSync(join(folder.path, "embedded.ts"), "utf8"), "mine");
  });

  test("an address implies a server, and its only model is taken", async () => {
    await using server = await startModelServer(["a-decoupled", "variable"]);
    using folder = createFolder({});
    const { code, out, err } = await init(folder.path, "--yes", "--no-run", "--url", server.url);
    assert.equal(code, 0, out + err);
    assert.match(
      readFileSync(join(folder.path, "variable.ts"), "utf8"),
      /model: "variable", shapes: \{ IN: \[3, 1\] \}/,
    );
  });

  for (const protocol of ["http", "grpc"] as const)
    test(`finds out by itself that a server speaks KServe over ${protocol}`, async () => {
      await using mock = await startMock(DEFAULT_MOCK, LOOPBACK);
      using folder = createFolder({});
      const url = `127.0.0.1:${protocol === "grpc" ? mock.grpcPort : mock.httpPort}`;
      const { code, out, err } = await init(folder.path, "--yes", "--no-run", "--url", url);
      assert.equal(code, 0, out + err);
      assert.match(out, new RegExp(`^${url} is .*\\(KServe v2\\) over ${protocol === "grpc" ? "gRPC" : "HTTP"}`));
      const text = readFileSync(join(folder.path, "simple.ts"), "utf8");
      assert.match(
        text,
        new RegExp(`target: triton\\("${url}", \\{ ${protocol === "grpc" ? 'protocol: "grpc", ' : ""}model`),
      );
    });

  test("takes the API that has the model, at a server that has several", async () => {
    await using mock = await startMock(DEFAULT_MOCK, LOOPBACK);
    using folder = createFolder({});
    const url = `127.0.0.1:${mock.httpPort}`;
    for (const [model, target] of [
      ["mock-llm", "openai"],
      ["simple", "triton"],
    ] as const) {
      const out = `${model}.ts`;
      const written = await init(folder.path, "--yes", "--url", url, "--model", model, "--no-run", "--save", out);
      assert.equal(written.code, 0, written.err);
      assert.match(readFileSync(join(folder.path, out), "utf8"), new RegExp(`target: ${target}\\(.*model: "${model}"`));
    }
    const { code, err } = await init(folder.path, "--yes", "--url", url, "--model", "simpel", "--no-run");
    assert.deepEqual([code, /--model: .*\(got simpel\)\. Did you mean simple\?/.test(err)], [64, true], err);
  });

  test("requires the model when there are several", async () => {
    await using server = await startModelServer();
    using folder = createFolder({});
    const { code, err } = await init(folder.path, "--yes", "--no-run", "--url", server.url);
    assert.equal(code, 64);
    assert.deepEqual(named(err), ["model"]);
    assert.match(err, /the server has a-decoupled, fixed, variable/);
    assert.deepEqual(readdirSync(folder.path), []);
  });

  const refused: readonly (readonly [model: string, text: RegExp])[] = [
    ["missing", /--model: is not ready on the server, which has a-decoupled, fixed, variable \(got missing\)/],
    ["loading", /--model: is not ready on the server/],
    ["a-decoupled", /--model: cannot be measured: it is decoupled/],
  ];
  for (const [model, text] of refused) {
    test(`refuses the model ${model}`, async () => {
      await using server = await startModelServer();
      using folder = createFolder({});
      const { code, err } = await init(folder.path, "--yes", "--url", server.url, "--model", model);
      assert.equal(code, 64, err);
      assert.match(err, text);
      assert.deepEqual(readdirSync(folder.path), []);
    });
  }

  test("exits with 69 where nothing listens, and writes nothing", async () => {
    const gone = await startCountingServer();
    await gone.stop();
    using folder = createFolder({});
    const { code, err } = await init(folder.path, "--yes", "--url", `127.0.0.1:${gone.port}`);
    assert.equal(code, 69, err);
    assert.deepEqual(readdirSync(folder.path), []);
  });

  test("exits with 69 where no model can be measured", async () => {
    await using server = await startModelServer(["loading", "a-decoupled"]);
    using folder = createFolder({});
    const { code, err } = await init(folder.path, "--yes", "--url", server.url);
    assert.equal(code, 69, err);
    assert.match(err, /has no model ready that can be measured/);
  });

  test("reports all problems together, without querying a server", async () => {
    await using server = await startCountingServer();
    await inFolder({}, async (cwd) => {
      const flags = ["--url", `127.0.0.1:${server.port}`, "--protocol", "x", "--goal", "number", "--users", "1:4"];
      const { code, err } = await init(cwd, "--yes", ...flags, "--for", "5", "--save", "x.js");
      assert.equal(code, 64);
      assert.deepEqual(named(err), ["protocol", "users", "for", "save"]);
    });
    assert.equal(server.connections(), 0);
  });

  test("rejects answers that conflict", async () => {
    using folder = createFolder({});
    const both = await init(folder.path, "--yes", "--run", "--no-run");
    assert.deepEqual([both.code, named(both.err)], [64, ["no-run"]]);
    const embedded = await init(folder.path, "--yes", "--target", "embedded", "--url", "h:1", "--model", "m");
    assert.deepEqual([embedded.code, named(embedded.err)], [64, ["url", "model"]]);
    const llm = await init(folder.path, "--yes", "--target", "openai", "--protocol", "grpc", "--shapes", "a:1");
    assert.deepEqual([llm.code, named(llm.err)], [64, ["protocol", "shapes"]]);
    assert.deepEqual(readdirSync(folder.path), []);
  });

  test("makes the folder of the file, and refuses one that cannot be", async () => {
    using folder = createFolder({ "file.txt": "mine" });
    const made = await init(folder.path, "--yes", "--no-run", "--save", "new/folder/x.ts");
    assert.equal(made.code, 0, made.err);
    assert.ok(existsSync(join(folder.path, "new", "folder", "x.ts")));
    const refused = await init(folder.path, "--yes", "--no-run", "--save", "file.txt/x.ts");
    assert.deepEqual([refused.code, named(refused.err)], [64, ["save"]]);
    assert.match(refused.err, /file\.txt is not a folder/);
  });

  test("lets the server count where it does not know the tokenizer", async () => {
    await using mock = await startMock(DEFAULT_MOCK, LOOPBACK);
    using folder = createFolder({});
    const server = ["--target", "openai", "--url", `127.0.0.1:${mock.httpPort}`];
    const { code, out, err } = await init(folder.path, ...server, "--yes", "--no-run", "--save", "made.ts");
    assert.equal(code, 0, out + err);
    assert.match(out, /^The tokenizer of mock-llm is not known: the server counts tokens\.$/m);
    assert.match(readFileSync(join(folder.path, "made.ts"), "utf8"), /streaming: true, tokenizer: "none"/);
  });

  test("refuses a tokenizer that does not load before anything is written", async () => {
    await using mock = await startMock(DEFAULT_MOCK, LOOPBACK);
    using folder = createFolder({});
    const server = ["--target", "openai", "--url", `127.0.0.1:${mock.httpPort}`, "--tokenizer", "./nowhere"];
    const { code, err } = await init(folder.path, "--yes", "--no-run", ...server);
    assert.deepEqual([code, named(err)], [64, ["tokenizer"]], err);
    assert.deepEqual(readdirSync(folder.path), []);
  });

  test("writes a scenario for an unreachable server with --no-server, and reports an error without it", async () => {
    const gone = await startCountingServer();
    await gone.stop();
    using folder = createFolder({});
    const flags = ["--yes", "--no-run", "--target", "openai", "--url", `127.0.0.1:${gone.port}`];
    const refused = await init(folder.path, ...flags, "--model", "m");
    assert.equal(refused.code, 69, refused.err);
    assert.match(refused.err, /--no-server/);
    const unnamed = await init(folder.path, ...flags, "--no-server");
    assert.deepEqual([unnamed.code, named(unnamed.err)], [64, ["model"]], unnamed.err);
    assert.deepEqual(readdirSync(folder.path), []);
    const { code, err } = await init(folder.path, ...flags, "--no-server", "--model", "m", "--tokenizer", "./there");
    assert.equal(code, 0, err);
    assert.match(
      readFileSync(join(folder.path, "m.ts"), "utf8"),
      /model: "m", streaming: true, tokenizer: "\.\/there"/,
    );
  });
});

describe("rampart init without a terminal never waits", () => {
  test("and names every flag that is missing, with its default", async () => {
    using folder = createFolder({});
    const { code, out, err } = await runRampart(["init"], { cwd: folder.path, stdin: "open" });
    assert.equal(code, 64, err);
    assert.equal(out, "");
    assert.deepEqual(named(err), ["target", "protocol", "goal", "load", "users", "for", "p99-limit", "save", "run"]);
    assert.match(err, /--target: is not answered, and there is no terminal .* --yes to take 'embedded'/);
    assert.match(err, /Give --run or --no-run, or --yes/);
    assert.match(err, /Give --users, or --yes to take '1:4'/);
    assert.deepEqual(readdirSync(folder.path), []);
  });

  test("and asks no server while an answer that it cannot give is missing, with --yes", async () => {
    using folder = createFolder({});
    const target = ["--target", "torchserve", "--url", "127.0.0.1:1"];
    const { code, err } = await init(folder.path, "--yes", ...target, "--users", "no");
    assert.equal(code, 64);
    assert.deepEqual(named(err), ["files", "users"]);
    assert.match(err, /--files: has no default here\. Give --files PATTERN/);
  });

  test("and asks no server while flags are missing", async () => {
    using folder = createFolder({});
    const { code, err } = await runRampart(["init", "--target", "triton"], { cwd: folder.path, stdin: "open" });
    assert.equal(code, 64, err);
    const missing = ["protocol", "url", "model", "goal", "load", "users", "for", "p99-limit", "save", "run"];
    assert.deepEqual(named(err), missing);
  });

  test("names what is missing besides the given flags", async () => {
    using folder = createFolder({});
    const flags = [
      "--target=embedded",
      "--protocol=http",
      "--goal=number",
      "--load=rate",
      "--for=1s",
      "--p99-limit=none",
      "--no-run",
    ];
    const { code, err } = await runRampart(["init", ...flags], { cwd: folder.path, stdin: "open" });
    assert.equal(code, 64, err);
    assert.deepEqual(named(err), ["rate", "save"]);
    assert.match(err, /--rate: .*'100'/);
    assert.equal(existsSync(join(folder.path, "embedded.ts")), false);
  });

  test("--help-all lists a flag for every question", async () => {
    const { code, out } = await runRampart(["init", "--help-all"]);
    assert.equal(code, 0);
    const flags = QUESTIONS.map(({ id }) => id).filter((id) => id !== "address");
    for (const flag of [...flags, "no-run", "yes"]) assert.match(out, new RegExp(`^ +(-\\w, )?--${flag}\\b`, "m"));
  });
});
