// Runs on: deno, node, executable.
import assert from "node:assert/strict";
import { mkdirSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { before, describe, test } from "node:test";
import { makeFolder } from "../make-folder.ts";
import { KserveServer } from "../run/kserve-server.ts";
import { startNats } from "../servers/nats.ts";
import { LIMIT } from "../time-limit.ts";
import { withAgentProcesses } from "./agent-process.ts";
import { runRampart } from "./command.ts";

/** Scenarios import npm packages from a node_modules beside them or above, whatever runs the command. */

const FILES: Readonly<Record<string, string>> = {
  // An ECMAScript module by "exports", with a subpath, which imports another package.
  "node_modules/users/package.json":
    '{"name": "users", "type": "module", "dependencies": {"@org/base": "1"}, "exports": {".": "./lib/index.js", "./more": "./lib/more.js"}}',
  "node_modules/users/lib/index.js": 'import { base } from "@org/base"; export const users = base + 1;',
  "node_modules/users/lib/more.js": "export const more = 3;",
  "node_modules/@org/base/package.json": '{"name": "@org/base", "type": "module", "exports": {"import": "./i.js"}}',
  "node_modules/@org/base/i.js": "export const base = 1;",
  // CommonJS by "main", which requires JSON and one of Node's modules.
  "node_modules/old/package.json": '{"name": "old", "main": "./main.js"}',
  "node_modules/old/main.js":
    'const { basename } = require("node:path"); module.exports = { name: basename("/a/b"), ...require("./data.json") };',
  "node_modules/old/data.json": '{"requests": 7}',
  // "module" beside "main", and neither.
  "node_modules/both/package.json": '{"name": "both", "type": "module", "main": "./main.js"}',
  "node_modules/both/main.js": 'export default "both";',
  "scenarios/x.ts": `import { defineScenario, embedded, hold } from "rampart";
import both from "both";
import old from "old";
import { users } from "users";
import { more } from "users/more";
const level: number = users + more;
export default defineScenario({
  name: \`\${old.name} \${both} \${level}\`,
  target: embedded(),
  load: hold(level, { requests: old.requests }),
});
`,
  "scenarios/lacking.ts": 'import { nothing } from "not-installed";\nexport default nothing;\n',
};

const folder = makeFolder();
before(() => {
  for (const [name, text] of Object.entries(FILES)) {
    mkdirSync(dirname(join(folder, name)), { recursive: true });
    writeFileSync(join(folder, name), text);
  }
});

describe("a scenario with packages", () => {
  for (const [where, cwd] of [
    ["its own folder", "scenarios"],
    ["another folder", "node_modules"],
  ] as const) {
    test(`runs from ${where}`, async () => {
      const { code, stdout, stderr } = await runRampart(["run", join(folder, "scenarios", "x.ts")], {
        cwd: join(folder, cwd),
      });
      assert.equal(code, 0, stdout + stderr);
      assert.match(stdout, /^MEASURED {2}b both 5: [\s\S]*^ +5 +\S/m);
      assert.match(stdout, / 7 requests$/m);
    });
  }

  test("runs on agents that have none of its files", LIMIT, async () => {
    await using nats = await startNats();
    const apart = makeFolder();
    const setup = { count: 2, folder: apart, busUrl: nats.url };
    await withAgentProcesses(setup, async () => {
      await using server = await new KserveServer({}).start();
      const file = join(folder, "scenarios", "on-agents.ts");
      // The check runs at the agents, with what the packages give there.
      const text = FILES["scenarios/x.ts"]
        ?.replace("embedded, hold", "hold, triton")
        .replace("embedded()", `triton("${server.url}", { model: "simple" })`)
        .replace("load:", 'check: () => (old.name === "b" && users === 2 ? undefined : "wrong package"),\n  load:')
        .replace("old.requests", "40");
      writeFileSync(file, text ?? "");
      const args = ["run", file, "--bus", nats.url, "--agents", "2"];
      const { code, stdout, stderr } = await runRampart(args, { cwd: folder });
      assert.equal(code, 0, stdout + stderr);
      assert.match(stdout, /^MEASURED {2}b both 5: [\s\S]* 40 requests$/m);
      assert.deepEqual([server.successCount, stdout.match(/ +1 +20 +0$/gm)?.length], [40, 2], stdout);
    });
  });

  test("that is not installed is named", async () => {
    const { code, stderr } = await runRampart(["run", join(folder, "scenarios", "lacking.ts")], { cwd: folder });
    assert.equal(code, 64, stderr);
    assert.match(stderr, /not-installed/);
  });
});
