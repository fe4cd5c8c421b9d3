// biome-ignore-all lint/suspicious/noTemplateCurlyInString: the texts are source code of scenarios.
import assert from "node:assert/strict";
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { createFolder, type RunningProcess, startRampart } from "../../cli/rampart-process.ts";
import { isAlive } from "./alive.ts";

/** Scenarios with hooks, for tests. */

/** Starts a process with a child, whose numbers are in the file `pids`. */
export const START = 'await start("sleep 300 & echo $! $$ > pids; echo ready on 7; wait", { ready: /on (\\d+)/ })';

/** A scenario with hooks. `log` appends to the file `log`. @param parts source text of its fields */
function scenario(parts: Readonly<Record<string, string>>): string {
  const fields = {
    name: '"hooks"',
    setup: `async ({ start }) => ({ port: (${START}).match[1] })`,
    target: "embedded()",
    load: "hold(1, { requests: 5 })",
    teardown: "({ started }) => log(`teardown ${started?.port}`)",
    ...parts,
  };
  return [
    'import { appendFileSync } from "node:fs";',
    'import { defineScenario, embedded, hold, http, param } from "rampart";',
    "const log = (text) => appendFileSync(new URL('log', import.meta.url), `${text}\\n`);",
    "export default defineScenario({",
    ...Object.entries(fields).map(([name, text]) => `  ${name}: ${text},`),
    "});",
    "",
  ].join("\n");
}

export interface Ended {
  readonly code: number | null;
  readonly out: string;
  readonly err: string;
  readonly log: string;
}

/** Runs a scenario and checks that its processes have ended. @param during gets the running process */
export async function run(
  parts: Readonly<Record<string, string>>,
  { args = [], env = {} }: { args?: readonly string[]; env?: Record<string, string> } = {},
  during: (running: RunningProcess, cwd: string) => Promise<void> = async () => {},
): Promise<Ended> {
  using folder = createFolder({ "x.mjs": scenario(parts) });
  const running = startRampart(["run", "x.mjs", ...args], { cwd: folder.path, env });
  await during(running, folder.path);
  const result = await running.result;
  const read = (name: string): string =>
    existsSync(join(folder.path, name)) ? readFileSync(join(folder.path, name), "utf8").trim() : "";
  const pids = read("pids").split(/\s+/).filter(Boolean).map(Number);
  // A process that was killed may take a moment to end; those that stay behind sleep for 5 min.
  for (let looks = 0; looks < 200 && pids.some(isAlive); looks++)
    await new Promise((resolve) => setTimeout(resolve, 25));
  assert.deepEqual(pids.filter(isAlive), [], `processes stay behind: ${result.out}${result.err}`);
  return { ...result, log: read("log") };
}
