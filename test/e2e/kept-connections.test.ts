import assert from "node:assert/strict";
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { after, before, test } from "node:test";
import { holdOpen } from "../bench/connections/hold-open.ts";
import { makeFolder } from "../make-folder.ts";
import { startLlama } from "../servers/llama.ts";
import { tinyTokenizer } from "../servers/tiny-llama.ts";
import { commandUnderTest, runRampart } from "./command.ts";

/** A thousand requests to the real llama.cpp server, which closes a kept connection now and then. */

let url: string;
let stop: (() => Promise<void>) | undefined;
const folder = makeFolder();

before(async () => {
  const given = process.env["RAMPART_TEST_LLAMA"];
  const llama = given === undefined ? await startLlama() : undefined;
  url = given ?? `127.0.0.1:${llama?.port}`;
  stop = llama?.stop;
});
after(() => stop?.());

test("the wizard's scenario loses no request to the server's closes of kept connections within 10 ms", async () => {
  const file = join(folder, "wizard.ts");
  const model = ["--url", url, "--tokenizer", tinyTokenizer, "--isl", "32", "--osl", "4"];
  const written = await runRampart([
    ...["init", "--yes", "--target", "openai", ...model, "--users", "4", "--no-run", "--save", file],
  ]);
  assert.equal(written.code, 0, written.stderr);
  const text = readFileSync(file, "utf8");
  assert.match(text, /hold\(4, \{ for: "10 s" \}\)/);
  writeFileSync(file, text.replace('for: "10 s"', "requests: 1000"));
  const report = join(folder, "wizard.json");
  const records = join(folder, "wizard.jsonl");
  const { code, stdout, stderr } = await runRampart(["run", file, "--json", report, "--records", records]);
  const { requests } = JSON.parse(readFileSync(report, "utf8")) as {
    requests: { completed: number; failed: number };
  };
  assert.equal(requests.completed + requests.failed, 1000, stdout + stderr);
  // On a busy machine the client may read a close later than that: such a request fails rightly.
  const failures = readFailures(records);
  assert.equal(failures.length, requests.failed);
  for (const { message, afterNs } of failures) {
    assert.match(message, /server closed the connection before any byte/);
    assert.ok(afterNs > 9e6, `a close ${afterNs} ns after the send lost a request`);
  }
  assert.equal(code, requests.failed === 0 ? 0 : 65, stdout + stderr);
});

/** The failures in a file of records, and how long after the send each was. */
function readFailures(path: string): { readonly message: string; readonly afterNs: number }[] {
  return readFileSync(path, "utf8")
    .trimEnd()
    .split("\n")
    .flatMap((line) => {
      const { error, metadata } = JSON.parse(line) as {
        error?: { message: string };
        metadata: { request_start_ns: number; request_end_ns: number };
      };
      if (error === undefined) return [];
      return [{ message: error.message, afterNs: metadata.request_end_ns - metadata.request_start_ns }];
    });
}

/** Many connections at once, from several source addresses to several servers. `npm run bench:connections` holds 50,000. */

const COUNT = 3000;

test(`${COUNT} connections of one process are open at once, from each source to each server`, {
  skip: process.platform !== "linux",
}, async () => {
  const held = await holdOpen(commandUnderTest, {
    ...{ kind: "connections", count: COUNT, clients: 1, servers: 2, serversEach: 2, sources: 3 },
    ...{ answerMs: 2500, tokens: 1, tokenMs: 0, limitMs: 100_000 },
  });
  assert.deepEqual([held.completed, held.failed, held.connections], [COUNT / 2, 0, COUNT]);
  // The servers count: a look at the system's table may come too late on a busy machine.
  const hosts = ["127.0.10.1", "127.0.10.2", "127.0.10.3"];
  assert.deepEqual(held.servers, Array(2).fill({ mostOpen: COUNT / 2, hosts }));
});
