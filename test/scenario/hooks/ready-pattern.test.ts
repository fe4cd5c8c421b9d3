import assert from "node:assert/strict";
import { EventEmitter } from "node:events";
import { test } from "node:test";
import { createContext } from "../../../src/scenario/hooks/context.ts";
import type { ProcessGroups } from "../../../src/scenario/hooks/process-group.ts";

/** A pattern that `start` waits for is found wherever it stands in what the process prints. */

class Output extends EventEmitter {
  setEncoding(): this {
    return this;
  }
}

/** Starts a process that prints these texts, one read each. Returns the match and the kept output. */
async function startPrinting(
  texts: readonly string[],
  ready: RegExp,
): Promise<{ match: readonly string[]; kept: string }> {
  const child = Object.assign(new EventEmitter(), { pid: 1, stdout: new Output(), stderr: new Output() });
  const group = { child, ended: new Promise(() => {}), end: undefined, stop: async () => {} };
  const groups = { spawn: () => child, of: () => group } as unknown as ProcessGroups;
  const { start } = await createContext({
    ...{ params: {}, rampart: ["rampart"], folder: ".", processes: [] },
    groups,
    signal: new AbortController().signal,
  });
  const starting = start("server", { ready, timeout: "2 s" });
  for (const text of texts) child.stdout.emit("data", text);
  const started = await starting;
  return { match: started.match, kept: started.output() };
}

const LONG = "x".repeat(300_000);
const CASES: readonly (readonly [name: string, texts: readonly string[]])[] = [
  ["before 300 KB in the same read", [`ready on 7\n${LONG}`]],
  ["after 300 KB in the same read", [`${LONG}\nready on 7\n`]],
  ["over two reads, before 300 KB", ["rea", `dy on 7\n${LONG}`]],
  ["over two reads, after 300 KB", [`${LONG}rea`, "dy on 7\n"]],
];

for (const [name, texts] of CASES)
  test(`a pattern is found ${name}, and 64 KiB of the output are kept`, async () => {
    const { match, kept } = await startPrinting(texts, /ready on (\d)/);
    assert.equal(match[1], "7");
    assert.equal(kept, texts.join("").slice(-65_536));
  });
