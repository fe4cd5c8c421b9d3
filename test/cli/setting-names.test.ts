import assert from "node:assert/strict";
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, test } from "node:test";
import { nameSettingsOf } from "../../src/cli/setting-names.ts";
import { RunError } from "../../src/plan/problem.ts";
import { setting } from "../../src/plan/setting-names.ts";
import { withServer } from "../run/kserve-server.ts";
import { runCommand } from "./perf-analyzer/run-command.ts";
import { inFolder, ROOT, runRampart } from "./rampart-process.ts";
import { scenarioText } from "./scenario-files.ts";

/** Errors of a run name settings as the user's front door does: fields in scenarios, flags in compatible modes. */

const LIMIT = { timeout: 60_000 };

describe("an error names the setting as", () => {
  const error = new RunError(
    "failed-request",
    `more than ${setting("failures.maxRatio")}`,
    `Raise ${setting("client.stallTimeoutMs")}.`,
  );
  const cases = [
    ["rampart", "more than maxFailureRatio", "Raise stallTimeout."],
    ["perf_analyzer", "more than --max-failure-ratio", "Raise --stall-timeout."],
    ["genai-perf", "more than --max-failure-ratio", "Raise --stall-timeout."],
  ] as const;
  for (const [style, message, hint] of cases) {
    test(`${style} does`, () => {
      const named = nameSettingsOf(error, style);
      assert.deepEqual([named.kind, named.message, named.hint], ["failed-request", message, hint]);
    });
  }
});

test("a failed share of requests and a silent server are explained in each front door's words", LIMIT, async () => {
  await withServer({ onInfer: () => "no luck" }, async (server) => {
    const flags = ["-m", "simple", "-u", server.url, "--request-count", "50", "--max-failure-ratio", "0.1"];
    const { err } = await runCommand(flags);
    assert.match(err, /^Raise --max-failure-ratio or look at the server\.$/m);
    const text = scenarioText({
      target: `triton("${server.url}", { model: "simple" })`,
      load: "hold(1, { requests: 50 })",
      maxFailureRatio: "0.1",
    });
    await inFolder({ "x.ts": text }, async (cwd) => {
      const ran = await runRampart(["run", "x.ts"], { cwd });
      assert.equal(ran.code, 69, ran.err);
      assert.match(ran.err, /6 of 6 requests failed, more than the 10 % allowed/);
      assert.match(ran.err, /Raise maxFailureRatio or look at the server/);
      assert.doesNotMatch(ran.err, /--/);
    });
  });
});

describe("no code below the front doors names a flag of a command line", () => {
  // A note that only ranks of MPI can meet.
  const allowed = /--enable-mpi/;
  for (const folder of ["run", "service", "load"]) {
    test(`src/${folder}`, () => {
      const found: string[] = [];
      const root = join(ROOT, "src", folder);
      assert.ok(existsSync(root));
      for (const name of readdirSync(root, { recursive: true, encoding: "utf8" })) {
        if (!name.endsWith(".ts")) continue;
        for (const line of readFileSync(join(root, name), "utf8").split("\n"))
          if (/["'`][^"'`]*--[a-z]{2,}/.test(line) && !/^\s*(\/?\*|\/\/)/.test(line) && !allowed.test(line))
            found.push(`${name}: ${line.trim()}`);
      }
      assert.deepEqual(found, []);
    });
  }
});
