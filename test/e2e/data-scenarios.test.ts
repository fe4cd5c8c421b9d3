// biome-ignore-all lint/suspicious/noTemplateCurlyInString: references to parameters are written so
import assert from "node:assert/strict";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, test } from "node:test";
import { makeFolder } from "../make-folder.ts";
import { runRampart } from "./command.ts";

/** Scenarios in YAML and JSON, run as users run them. */

const folder = makeFolder();

describe("rampart run without code", () => {
  test("runs scenarios/ramp.yaml with another value of a parameter", async () => {
    const { code, stdout, stderr } = await runRampart([
      "run",
      "scenarios/ramp.yaml",
      "--set",
      "users=2",
      "--set",
      "limit=10 s",
    ]);
    assert.equal(code, 0, stdout + stderr);
    assert.match(stdout, /^PASSED {2}ramp in YAML: simple, embedded target, http /m);
    assert.equal(stdout.match(/^ {2}pass/gm)?.length, 3);
  });

  test("runs scenarios/chat.json", async () => {
    const { code, stdout, stderr } = await runRampart(["run", "scenarios/chat.json"]);
    assert.equal(code, 0, stdout + stderr);
    assert.match(stdout, / 42 requests$/m);
    assert.equal(stdout.match(/^ {2}pass/gm)?.length, 4);
  });

  test("lists parameters in its help, and prints the plan of --dry-run", async () => {
    const help = await runRampart(["run", "scenarios/ramp.yaml", "--help"]);
    assert.match(help.stdout, /--set users=N +Highest number of users/);
    const { code, stdout } = await runRampart(["run", "scenarios/ramp.yaml", "--dry-run"]);
    assert.equal(code, 0);
    assert.equal((JSON.parse(stdout) as { name: string }).name, "ramp in YAML");
  });

  test("says where a value of a parameter is wrong, and finds files beside the scenario", async () => {
    const file = join(folder, "x.yml");
    const lines = ["name: x", 'target: { triton: { url: "localhost:1", model: m } }', "inputs: { json: ./data.json }"];
    writeFileSync(join(folder, "data.json"), "{}");
    writeFileSync(file, [...lines, "params: { users: { integer: 1 } }", 'load: { hold: "${users}" }'].join("\n"));
    const wrong = await runRampart(["run", file, "--set", "users=0"]);
    assert.equal(wrong.code, 64);
    assert.match(wrong.stderr, /x\.yml:5:15, load\.hold\.concurrency: must be 1 or more \(got 0\)/);
    const { stdout } = await runRampart(["run", file, "--dry-run"]);
    assert.ok(stdout.includes(JSON.stringify(join(folder, "data.json"))), stdout);
  });

  test("prints the schema for editors", async () => {
    const { code, stdout } = await runRampart(["schema", "scenario"]);
    assert.equal(code, 0);
    const { $schema, properties } = JSON.parse(stdout) as { $schema: string; properties: Record<string, object> };
    assert.equal($schema, "https://json-schema.org/draft/2020-12/schema");
    assert.ok("description" in (properties["load"] ?? {}));
    assert.equal((await runRampart(["schema", "nothing"])).code, 64);
  });
});
