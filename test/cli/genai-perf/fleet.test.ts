import assert from "node:assert/strict";
import { test } from "node:test";
import { makeFolder } from "../../make-folder.ts";
import { type LlmStub, startLlmStub } from "../../servers/llm-stub.ts";
import { ensureOpenMpi } from "../../servers/open-mpi.ts";
import { LIMIT } from "../../time-limit.ts";
import { TINY } from "../../tokenize/tiny.ts";
import { rampartCommand, startProcess } from "../rampart-process.ts";
import { asAlice, withAgents } from "../with-agents.ts";
import { readAll, runCaptured } from "./run-captured.ts";

/** One profile sent by the ranks of an MPI job or by agents on a bus, against a server that counts requests and tokens. */

const TOKENS = 8;
const MODEL = ["-m", "tiny", "--tokenizer", TINY, "--endpoint-type", "chat", "--streaming"];
const SMALL = ["--isl", "5", "--request-count", "30"];

async function withStub(use: (stub: LlmStub, url: readonly string[], folder: string) => Promise<void>): Promise<void> {
  const folder = makeFolder();
  await using stub = await startLlmStub({ tokens: TOKENS });
  await use(stub, ["-u", `127.0.0.1:${stub.port}`, "--artifact-dir", folder], folder);
}

/** Asserts that a report has all of them and their tokens. */
async function assertOneReport(folder: string, point: string, requests: number): Promise<void> {
  const files = await readAll(folder);
  const text = files.get(`tiny-openai-chat-${point}/profile_export_genai_perf.json`) ?? "{}";
  const { request_count, output_sequence_length } = JSON.parse(text);
  assert.deepEqual([request_count?.avg, output_sequence_length?.avg], [requests, TOKENS], [...files.keys()].join("\n"));
}

test("--fleet mpi: the ranks send one load, which rank 0 reports", LIMIT, async () => {
  await withStub(async (stub, there, folder) => {
    const line = [...rampartCommand(), "genai-perf", "profile", ...MODEL, ...SMALL, "--concurrency", "5", ...there];
    const { code, out, err } = await startProcess([...ensureOpenMpi(), "-n", "3", ...line, "--fleet", "mpi"]).result;
    assert.equal(code, 0, out + err);
    assert.equal(out.match(/Request Count \(count\)/g)?.length, 1, out);
    const { requests, chunks } = await stub.counter();
    assert.deepEqual([requests, chunks], [30, 30 * TOKENS]);
    await assertOneReport(folder, "concurrency5", 30);
  });
});

test("--bus: agents send every point of a sweep", LIMIT, async () => {
  await withAgents(2, {}, asAlice, (bus) =>
    withStub(async (stub, there, folder) => {
      const sweep = ["--sweep-type", "concurrency", "--sweep-list", "1,3", "--bus", bus, "--agents", "2"];
      const { code, out, err } = await runCaptured(["analyze", ...MODEL, ...SMALL, ...sweep, ...there]);
      assert.equal(code, 0, out + err);
      const { requests, chunks } = await stub.counter();
      assert.deepEqual([requests, chunks], [60, 60 * TOKENS]);
      for (const point of ["concurrency1", "concurrency3"]) await assertOneReport(folder, point, 30);
    }),
  );
});

test("too few agents are an error, and nothing is sent", LIMIT, async () => {
  await withAgents(1, {}, asAlice, (bus) =>
    withStub(async (stub, there) => {
      const few = ["--bus", bus, "--agents", "2", "--agents-wait", "300ms"];
      const { code, err } = await runCaptured(["profile", ...MODEL, ...SMALL, ...few, ...there]);
      assert.equal(code, 1);
      assert.match(err, /2 agents are needed, and 1 came within 0\.3 s/);
      const lonely = await runCaptured(["profile", ...MODEL, ...SMALL, "--agents", "2", ...there]);
      assert.equal(lonely.code, 1);
      assert.match(lonely.err, /^Error: --bus: is needed where agents are to send/m);
      assert.equal((await stub.counter()).requests, 0);
    }),
  );
});
