// Runs on: bun, deno, node.
import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { existsSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { createFolder, ROOT, scriptCommand } from "../../cli/rampart-process.ts";
import { LIMIT } from "../../time-limit.ts";

/** What is undone however a process ends. */

const SCRIPT = `
import { rmSync, writeFileSync } from "node:fs";
import { atProcessEnd } from ${JSON.stringify(join(ROOT, "src", "run", "open", "process-end.ts"))};
const [end, file, closed] = process.argv.slice(2);
writeFileSync(file, "");
const close = async () => {
  await new Promise((resolve) => setTimeout(resolve, 20));
  writeFileSync(closed, "");
};
const stop = atProcessEnd(() => rmSync(file, { force: true }), close);
if (end === "stopped") stop();
if (end === "listener") process.on("SIGTERM", () => { console.log("heard"); process.exit(3); });
if (end === "exit") process.exit(4);
if (end === "throw") throw new Error("on purpose");
setInterval(() => {}, 1000);
console.log("ready");
`;

interface Ended {
  readonly code: number | null;
  readonly signal: NodeJS.Signals | null;
  readonly isReleased: boolean;
  readonly isClosed: boolean;
  readonly out: string;
}

/** Runs the script; when it is ready it is sent the signal. */
async function endBy(end: string, signal?: NodeJS.Signals): Promise<Ended> {
  using folder = createFolder({ "script.ts": SCRIPT });
  const [file, closed] = [join(folder.path, "file"), join(folder.path, "closed")];
  const [program = "", ...args] = scriptCommand(join(folder.path, "script.ts"));
  writeFileSync(join(folder.path, "package.json"), '{"type":"module"}');
  const child = spawn(program, [...args, end, file, closed], { stdio: ["ignore", "pipe", "ignore"] });
  let out = "";
  child.stdout.on("data", (text: Buffer) => {
    out += text.toString();
    if (signal !== undefined && out.includes("ready") && child.pid !== undefined) process.kill(child.pid, signal);
  });
  const [code, by] = await new Promise<[number | null, NodeJS.Signals | null]>((resolve, reject) => {
    child.once("error", reject);
    child.once("close", (exitCode, exitSignal) => resolve([exitCode, exitSignal]));
  });
  return { code, signal: by, isReleased: !existsSync(file), isClosed: existsSync(closed), out };
}

for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"] as const) {
  test(`${signal} without a listener releases, closes and ends the process`, LIMIT, async () => {
    const { code, signal: by, isReleased, isClosed } = await endBy("wait", signal);
    assert.deepEqual([isReleased, isClosed], [true, true]);
    const number = { SIGINT: 2, SIGTERM: 15, SIGHUP: 1 }[signal];
    // Deno tells an end by a signal as an exit code.
    assert.ok(by === signal || code === 128 + number, `${code} ${by}`);
  });
}

test("another listener of a signal ends the process, and the exit releases", LIMIT, async () => {
  const { code, isReleased, isClosed, out } = await endBy("listener", "SIGTERM");
  assert.match(out, /heard/);
  assert.deepEqual([code, isReleased, isClosed], [3, true, false]);
});

test("an exit and an uncaught error release", LIMIT, async () => {
  const exited = await endBy("exit");
  assert.deepEqual([exited.code, exited.isReleased], [4, true]);
  const thrown = await endBy("throw");
  assert.deepEqual([thrown.code, thrown.isReleased], [1, true]);
});

test("nothing is undone any more once that is stopped", LIMIT, async () => {
  const { isReleased, isClosed } = await endBy("stopped", "SIGTERM");
  assert.deepEqual([isReleased, isClosed], [false, false]);
});
