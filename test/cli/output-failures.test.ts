// Runs on: bun, deno, node.
import assert from "node:assert/strict";
import { existsSync } from "node:fs";
import { mkdir, readFile, rm } from "node:fs/promises";
import { join } from "node:path";
import { describe, test } from "node:test";
import { KserveServer } from "../run/kserve-server.ts";
import { LIMIT } from "../time-limit.ts";
import { runCommand } from "./perf-analyzer/run-command.ts";
import { createFolder, type ProcessResult, rampartCommand, runRampart, startProcess } from "./rampart-process.ts";
import { scenarioText } from "./scenario-files.ts";

/** Text and files that cannot be written: an exit code and words of their own, and all else is there. */

const HAS_FULL_DEVICE = existsSync("/dev/full");

/** Runs a shell's line, whose `"$@"` is `rampart ARGS`. */
function runShell(line: string, args: readonly string[], cwd?: string): Promise<ProcessResult> {
  const { result } = startProcess(
    ["sh", "-c", line, "sh", ...rampartCommand(), ...args],
    cwd === undefined ? {} : { cwd },
  );
  return result;
}

describe("standard output on a full disk", { skip: !HAS_FULL_DEVICE }, () => {
  const cases = [
    { args: ["--help"], code: 74, text: /^Usage: rampart COMMAND/m },
    { args: ["version"], code: 74, text: /^rampart \d/m },
    { args: ["run", "--help"], code: 74, text: /^Usage: rampart run/m },
    { args: ["mock", "--help"], code: 74, text: /^Usage: rampart mock/m },
    { args: ["init", "--help"], code: 74, text: /^Usage: rampart init/m },
    { args: ["perf_analyzer", "--help"], code: 99, text: /--concurrency-range/ },
    { args: ["perf_analyzer", "-m", "x", "--dry-run"], code: 99, text: /"model": "x"/ },
    { args: ["genai-perf", "--version"], code: 1, text: /^genai-perf \d/m },
    { args: ["genai-perf", "profile", "--help"], code: 1, text: /--tokenizer/ },
  ];
  for (const { args, code, text } of cases) {
    test(`rampart ${args.join(" ")} ends with ${code} and says why`, LIMIT, async () => {
      const result = await runShell('"$@" > /dev/full', args);
      assert.equal(result.code, code, result.err);
      assert.match(result.err, /^rampart: standard output cannot be written: no space left on the device/m);
      assert.match(result.err, text);
    });
  }

  test("rampart run x.ts ends with 74, with its table on standard error and its files", LIMIT, async () => {
    using folder = createFolder({ "x.ts": scenarioText({ load: "hold(1, { requests: 5 })" }) });
    const result = await runShell(
      '"$@" > /dev/full',
      ["run", "x.ts", "--json", "x.json", "--csv", "x.csv"],
      folder.path,
    );
    assert.equal(result.code, 74, result.err);
    assert.equal(result.err.match(/cannot be written/g)?.length, 1);
    assert.match(result.err, / 5 requests$/m);
    assert.match(await readFile(join(folder.path, "x.csv"), "utf8"), /^section,level /);
    JSON.parse(await readFile(join(folder.path, "x.json"), "utf8"));
  });
});

test("a reader that goes away early is an error, and the files are written", LIMIT, async () => {
  using folder = createFolder({ "x.ts": scenarioText({ load: "hold(1, { requests: 5 })" }) });
  const line = `{ "$@"; echo "code $?" >&2; } | true`;
  const { err } = await runShell(line, ["run", "x.ts", "--csv", "x.csv"], folder.path);
  assert.match(err, /^rampart: standard output cannot be written: its reader closed it$/m);
  assert.match(err, /^code 74$/m);
  assert.match(await readFile(join(folder.path, "x.csv"), "utf8"), /^section,level /);
});

describe("a file that cannot be written in the end", () => {
  test("ends perf_analyzer with 99, after its table and with the other files", LIMIT, async () => {
    using folder = createFolder({});
    const lost = join(folder.path, "lost");
    await mkdir(lost);
    const onInfer = async (): Promise<undefined> => rm(lost, { recursive: true, force: true }).then(() => undefined);
    await using server = await new KserveServer({ onInfer }).start();
    const files = ["-f", join(folder.path, "x.csv"), "--json", join(lost, "x.json")];
    const exported = ["--profile-export-file", join(lost, "export.json")];
    const args = ["-m", "simple", "-u", server.url, "--request-count", "10", ...files, ...exported];
    const { code, out, err } = await runCommand(args);
    assert.equal(code, 99, err);
    assert.match(out, /^ {4}Request count: 10$/m);
    assert.match(out, /^Concurrency: 1, throughput: /m);
    assert.match(err, /^error: .*export\.json.*x\.json/m);
    assert.match(await readFile(join(folder.path, "x.csv"), "utf8"), /^Concurrency,/);
  });

  test("ends a scenario with 74, after its table and with the other files", LIMIT, async () => {
    const text = scenarioText({ load: "hold(1, { requests: 5 })" }).replace(
      "export default",
      'import { rmSync } from "node:fs";\nsetImmediate(() => rmSync("lost", { recursive: true }));\nexport default',
    );
    using folder = createFolder({ "x.ts": text });
    await mkdir(join(folder.path, "lost"));
    const args = ["run", "x.ts", "--json", "lost/x.json", "--csv", "x.csv"];
    const { code, out, err } = await runRampart(args, { cwd: folder.path });
    assert.equal(code, 74, out + err);
    assert.match(out, / 5 requests$/m);
    assert.match(err, /^rampart: .*lost\/x\.json/m);
    assert.match(await readFile(join(folder.path, "x.csv"), "utf8"), /^section,level /);
  });
});
