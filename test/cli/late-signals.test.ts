// Runs on: bun, deno, node.
import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { closeSync, constants, openSync, readdirSync, readFileSync, readSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { LIMIT } from "../time-limit.ts";
import { createFolder, startRampart } from "./rampart-process.ts";
import { scenarioText } from "./scenario-files.ts";

/** Signals that come before a run, between two, and after it: what was measured is reported, and nothing more is begun. */

/** Returns what can be read now; undefined when nothing can yet. */
function readPart(fd: number): string | undefined {
  const bytes = Buffer.alloc(64 * 1024);
  try {
    return bytes.toString("latin1", 0, readSync(fd, bytes));
  } catch (error) {
    if ((error as { code?: string }).code !== "EAGAIN") throw error;
    return undefined;
  }
}

/** Reads until there is some text. */
async function readSome(fd: number): Promise<string> {
  for (;;) {
    const part = readPart(fd);
    if (part !== undefined && part !== "") return part;
    await new Promise((resolve) => setTimeout(resolve, 5));
  }
}

test("a signal while reports are written leaves them complete", {
  ...LIMIT,
  skip: process.platform !== "linux",
}, async () => {
  using folder = createFolder({ "x.ts": scenarioText({ load: "hold(1, { requests: 50 })" }) });
  const pipe = join(folder.path, "page");
  assert.equal(spawnSync("mkfifo", [pipe]).status, 0);
  // The page is longer than what a pipe holds, so its writer waits for this reader.
  const fd = openSync(pipe, constants.O_RDONLY | constants.O_NONBLOCK);
  try {
    const running = startRampart(["run", "x.ts", "--html", "page", "--records", "r.jsonl", "--json", "x.json"], {
      cwd: folder.path,
    });
    let page = await readSome(fd);
    running.interrupt();
    let hasEnded = false;
    const ended = running.result.finally(() => {
      hasEnded = true;
    });
    for (let part = readPart(fd); !hasEnded || part; part = readPart(fd)) {
      page += part ?? "";
      if (!part) await new Promise((resolve) => setTimeout(resolve, 5));
    }
    const { code, out, err } = await ended;
    assert.ok(code === 0 || code === 130, `${code}: ${out}${err}`);
    assert.match(page, /<\/html>\s*$/);
    assert.equal(page.match(/<!doctype html>/gi)?.length, 1);
    assert.equal(readFileSync(join(folder.path, "r.jsonl"), "utf8").split("\n").length, 51);
    assert.ok(readdirSync(folder.path).includes("x.json"));
    assert.deepEqual(
      readdirSync(folder.path).filter((name) => name.endsWith(".part")),
      [],
    );
  } finally {
    closeSync(fd);
  }
});

test("a signal before the first request of a point ends the sweep with the points before it", LIMIT, async () => {
  const parts = {
    params: "{ number: api.param.integer(1) }",
    setup: 'async ({ params }) => { if (params.number > 1) { console.error("waits"); await new Promise(() => {}); } }',
  };
  using folder = createFolder({ "x.ts": scenarioText(parts) });
  const running = startRampart(["run", "x.ts", "--sweep", "number=1,2,3", "--json", "x.json"], { cwd: folder.path });
  await running.waitFor(/waits/);
  running.interrupt();
  const { code, out, err } = await running.result;
  assert.equal(code, 130, out + err);
  const { points } = JSON.parse(readFileSync(join(folder.path, "x.json"), "utf8")) as {
    readonly points: readonly object[];
  };
  assert.equal(points.length, 1);
  assert.equal(err.match(/waits/g)?.length, 1);
});
