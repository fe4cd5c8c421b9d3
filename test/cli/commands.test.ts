import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { COMMANDS, runCommandLine } from "../../src/cli/commands.ts";
import { TOPICS } from "../../src/cli/help/topics.ts";
import { runDoor } from "../fuzz/command.ts";
import { captureIo } from "./captured-io.ts";

/** Names of commands: their help, and what is said of one that does not exist. */

const run = (...args: string[]) => runDoor(args);

describe("rampart help", () => {
  test("lists the commands", async () => {
    const { code, out } = await run("help");
    assert.equal(code, 0);
    for (const { name } of COMMANDS) assert.ok(out.includes(`  ${name}`), name);
    assert.deepEqual(await run("--help"), { code, out, err: "", thrown: undefined });
  });

  const isGuide = (name: string): boolean => TOPICS.some((topic) => topic.name === name);
  for (const { name } of COMMANDS.filter((command) => !isGuide(command.name)))
    test(`${name} is the command's own help`, async () => {
      const { code, out } = await run("help", name);
      assert.equal(code, 0);
      assert.equal(out, (await run(name, "--help")).out);
      assert.match(out, /usage/i);
    });
});

test("the short help of llm and triton shows how to write numbers of users", async () => {
  for (const name of ["llm", "triton"])
    assert.match((await run(name, "--help")).out, /LEVELS .* 1,4,16, 1:8 or /, name);
});

describe("a command that does not exist", () => {
  for (const [typed, near] of [
    ["rnu", "run"],
    ["perf-analyzer", "perf_analyzer"],
    ["genaiperf", "genai-perf"],
    ["mok", "mock"],
  ] as const)
    test(`${typed}: did you mean ${near}?`, async () => {
      for (const [what, args] of [
        ["command", [typed]],
        ["command or topic", ["help", typed]],
      ] as const) {
        const { code, err } = await run(...args);
        assert.equal(code, 64);
        assert.equal(err, `rampart: there is no ${what} '${typed}'. Did you mean ${near}?\n`);
      }
    });

  test("and is like none gets the list", async () => {
    const { code, err } = await run("benchmark-everything");
    assert.equal(code, 64);
    assert.match(err, /The commands are run, http, .*, help and version\./);
  });

  test("and the list is broken at words on a terminal, and only there", async () => {
    const [narrow, none] = [captureIo(undefined, 60), captureIo()];
    for (const { io } of [narrow, none]) await runCommandLine("rampart", ["benchmark-everything"], io);
    const lines = narrow.err.trimEnd().split("\n");
    assert.ok(lines.length > 2);
    for (const [index, line] of lines.entries()) {
      assert.ok(line.length <= 60, line);
      assert.equal(/^ {2}\S/.test(line), index > 0, line);
    }
    assert.equal(`${lines.map((line) => line.trim()).join(" ")}\n`, none.err);
  });

  test("but is an option, which stands after a command", async () => {
    const { code, err } = await run("--port", "5");
    assert.equal(code, 64);
    assert.match(err, /^rampart: --port stands before the command\. Write rampart COMMAND --port;/);
  });

  test("but is nearly an option, which is suggested", async () => {
    assert.match((await run("--verison")).err, /^rampart: --verison .* Did you mean --version\?\n$/);
    assert.equal((await run("help", "--help")).code, 0);
  });

  test("but is AIPerf's name", async () => {
    assert.match((await run("aiperf", "profile", "-m", "x")).err, /rampart genai-perf profile takes these/);
  });

  test("but is a scenario's file is that of run", async () => {
    const { code, err } = await run("x.ts", "--dry-run");
    assert.equal(code, 64);
    assert.match(err, /^rampart: x\.ts: .*\nSee rampart run --help\.\n$/);
  });
});

test("help and version take no further arguments", async () => {
  for (const args of [
    ["version", "x"],
    ["--version", "x"],
    ["help", "run", "x"],
  ] as const) {
    const { code, out, err } = await run(...args);
    assert.deepEqual([code, out, err], [64, "", "rampart: x: is an unexpected argument. Leave it out.\n"]);
  }
});

test("an unknown flag gets the nearest flag as a hint, or the help; its value is not taken as an argument", async () => {
  assert.match(
    (await run("run", "x.ts", "--jsn", "a")).err,
    /--jsn: is not a flag of this command\. Did you mean --json\?/,
  );
  assert.equal(
    (await run("http", "http://127.0.0.1:1", "--requsts", "5")).err,
    "rampart: --requsts: is not a flag of this command. Did you mean --requests?\nSee rampart http --help.\n",
  );
  const { err } = await run("run", "x.ts", "--nonsense");
  assert.match(err, /^rampart: --nonsense: is not a flag of this command\. Leave it out\.$/m);
  assert.match(err, /^See rampart run --help\.$/m);
});
