// Runs on: deno, node, executable.
// biome-ignore-all lint/suspicious/noTemplateCurlyInString: the texts are source code of scenarios.
import assert from "node:assert/strict";
import { test } from "node:test";
import { runRampart } from "../../cli/rampart-process.ts";
import { run } from "./hook-scenario.ts";

/** Hooks as every runtime runs them. */

test("hooks run commands in the scenario's folder, and fields get what setup returns", async () => {
  const { code, out, err, log } = await run({
    params: "{ users: param.integer(2) }",
    setup:
      'async ({ $, params, start, freePort }) => { const { stdout } = await $`printf "%s|" ${"a b"} ${["c", "d"]}; test -f x.mjs; echo noise >&2`; log(stdout); const s = await start(["sh", "-c", "echo up $LEVEL; sleep 300"], { ready: /up (\\d)/, env: { LEVEL: "3" } }); log((await freePort()) > 0); return { users: params.users + Number(s.match[1]) }; }',
    load: "({ users }, started) => hold(started.users, { requests: 5 })",
    teardown: "async ({ $, params, started }) => log((await $`echo ${params.users} ${started.users}`).stdout.trim())",
  });
  assert.equal(code, 0, out + err);
  assert.equal(err, "  measuring concurrency 5 …\n");
  assert.match(out, /^ +5 +\S/m);
  assert.equal(log, "a b|c|d|\ntrue\n2 5");
});

test("scenarios/own-server.ts starts its server, measures it and stops it", async () => {
  const { code, out, err } = await runRampart(["run", "scenarios/own-server.ts", "--set", "users=2"]);
  // Whether its limit of latency is kept says something of this machine.
  assert.ok([0, 65, 66].includes(code ?? -1), out + err);
  assert.match(out, / 500 requests$/m);
  assert.match(out, /pass +error rate = 0 % +0 of 500$/m);
  assert.match(out, /parameters: users 2 \(command line\)$/m);
});
