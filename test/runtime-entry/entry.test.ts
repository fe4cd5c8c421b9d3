import assert from "node:assert/strict";
import { chmod, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { describe, test } from "node:test";
import { runtimeName } from "../../src/runtime/runtime.ts";
import { createFolder, ROOT, rampartCommand, scriptCommand, startProcess } from "../cli/rampart-process.ts";

/** Scenario files as programs: under the runtime that runs this test, and by their first line. */

const FIXTURES = join(ROOT, "test", "scenario", "fixtures");

function runScript(name: string, ...args: string[]): ReturnType<typeof startProcess>["result"] {
  return startProcess([...scriptCommand(join(FIXTURES, name)), ...args]).result;
}

describe("a scenario that is the program", () => {
  test("runs, reports and exits with 0", async () => {
    const { code, out, err } = await runScript("direct.ts");
    assert.equal(code, 0, out + err);
    assert.equal(err, "  measuring concurrency 2 …\n");
    assert.match(out, /^PASSED {2}direct: simple, embedded target, http /);
    assert.match(out, / 20 requests$/m);
  });

  test("exits with 65 when an assertion fails", async () => {
    const { code, out, err } = await runScript("failing.ts");
    assert.equal(code, 65, out + err);
  });

  test("takes the flags of rampart run", async () => {
    const { code, out, err } = await runScript("direct.ts", "--dry-run", "--stall-timeout", "3 s");
    assert.equal(code, 0, err);
    const plan = JSON.parse(out) as { name: string; client: { stallTimeoutMs: number } };
    assert.deepEqual([plan.name, plan.client.stallTimeoutMs], ["direct", 3000]);
  });

  test("refuses flags it does not have", async () => {
    const { code, out, err } = await runScript("direct.ts", "--concurrency", "surplus");
    assert.equal(code, 64);
    assert.equal(out, "");
    assert.match(err, /^rampart: --concurrency: /m);
    assert.doesNotMatch(err, /surplus/);
  });

  test("prints its help under its own name", async () => {
    const { code, out } = await runScript("direct.ts", "--help");
    assert.equal(code, 0);
    assert.match(out, /^Usage: \S+direct\.ts \[options\]/);
  });

  test("exits with 130 at Ctrl-C, with a partial report", async () => {
    const running = startProcess(scriptCommand(join(FIXTURES, "endless.ts")));
    await running.waitFor(/measuring concurrency 1/);
    running.interrupt();
    const { code, out, err } = await running.result;
    assert.equal(code, 130, out + err);
    assert.match(out, /^PARTIAL {2}/);
  });

  test("and never ends its loading says so, or the runtime does", async () => {
    const running = startProcess(scriptCommand(join(FIXTURES, "never-loaded.ts")));
    if (runtimeName !== "node") {
      await running.waitFor(/never-loaded\.ts: is still loading after 10 s: it waits for/);
      running.interrupt();
    }
    const { code, out, err } = await running.result;
    if (runtimeName === "node") assert.match(err, /unsettled top-level await at .*never-loaded\.ts/);
    assert.equal(out, "");
    assert.notEqual(code, 0);
  });

  test("and waits before it defines anything says so", async () => {
    const running = startProcess(scriptCommand(join(FIXTURES, "waits-first.ts")));
    await running.waitFor(/waits-first\.ts: is still loading after 10 s: it waits for its top-level await\n/);
    running.interrupt();
    const { code, out } = await running.result;
    assert.equal(out, "");
    assert.notEqual(code, 0);
  });

  test("is run by its first line, with rampart on the PATH", { skip: process.platform === "win32" }, async () => {
    const words = rampartCommand().map((word) => `'${word}'`);
    using folder = createFolder({ rampart: `#!/bin/sh\nexec ${words.join(" ")} "$@"\n` });
    await chmod(join(folder.path, "rampart"), 0o755);
    const file = join(folder.path, "x.ts");
    const text = [
      "#!/usr/bin/env -S rampart run",
      'import { defineScenario, embedded, hold } from "rampart";',
      'export default defineScenario({ name: "by its first line", target: embedded(), load: hold(1, { requests: 5 }) });',
    ].join("\n");
    await writeFile(file, text, { mode: 0o755 });
    const env = { PATH: `${folder.path}:${process.env["PATH"] ?? ""}` };
    const { code, out, err } = await startProcess(["./x.ts", "--json", "x.json"], { cwd: folder.path, env }).result;
    assert.equal(code, 0, out + err);
    assert.match(out, /^MEASURED {2}by its first line: /m);
    assert.match(out, / 5 requests$/m);
  });
});

describe("a scenario that is imported", () => {
  test("does not start by itself, nor does one that is not exported by default", async () => {
    const { code, out, err } = await runScript("importer.ts");
    assert.deepEqual([code, out, err], [0, "imported direct, defined other\n", ""]);
  });

  test("leaves the start to the scenario that imports it", async () => {
    const { code, out, err } = await runScript("derived.ts");
    assert.equal(code, 0, out + err);
    assert.match(out, /^PASSED {2}derived: /m);
    assert.doesNotMatch(out, /^direct: /m);
    assert.equal(out.match(/^PASSED {2}/gm)?.length, 1);
  });

  test("does not start by itself under rampart run either", async () => {
    const file = join(FIXTURES, "derived.ts");
    const { code, out, err } = await startProcess([...rampartCommand(), "run", file]).result;
    assert.equal(code, 0, out + err);
    assert.equal(out.match(/^PASSED {2}/gm)?.length, 1);
  });
});
