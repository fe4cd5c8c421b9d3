import assert from "node:assert/strict";
import { existsSync } from "node:fs";
import { mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import { fileURLToPath } from "node:url";
import { LocalTokenWork, openTokenizer, type TokenWork } from "../../../../src/cli/genai-perf/profile/token-work.ts";
import { SharedTokenWork, startTokenWork } from "../../../../src/cli/genai-perf/profile/token-work-thread.ts";
import { RunError, UserError } from "../../../../src/plan/problem.ts";
import { failedRequestsPath } from "../../../../src/report/genai-perf/failed-requests.ts";
import { FAILING_WORKERS } from "../../../runtime/failing-workers.ts";
import { readGood } from "../read.ts";

/** Requests are made and answers measured in a thread of their own, as they would be in this one. */

const LIMIT = { timeout: 30_000 };
const TINY = fileURLToPath(new URL("../../../tokenize/fixtures/tiny", import.meta.url));
const exportOf = (name: string): string =>
  fileURLToPath(new URL(`../../../report/genai-perf/goldens/${name}/profile_export.json`, import.meta.url));
const CHAT = ["profile", "-m", "tiny", "--endpoint-type", "chat", "--streaming", "--tokenizer", TINY];
const noNote = (text: string): void => assert.fail(text);

type Read = ReturnType<typeof readGood>;

async function inFolder<T>(body: (folder: string) => Promise<T>): Promise<T> {
  const folder = await mkdtemp(join(tmpdir(), "rampart-token-work-"));
  try {
    return await body(folder);
  } finally {
    await rm(folder, { recursive: true });
  }
}

async function withThread<T>({ settings }: Read, body: (work: TokenWork) => Promise<T>): Promise<T> {
  const work = await startTokenWork(settings, noNote);
  assert.ok(!(work instanceof LocalTokenWork));
  try {
    return await body(work);
  } finally {
    await work.close();
  }
}

async function openLocal({ settings }: Read): Promise<TokenWork> {
  return new LocalTokenWork(await openTokenizer(settings));
}

/** What the work comes to, files included. */
async function doAll(work: TokenWork, { settings, given }: Read, path: string): Promise<object> {
  return inFolder(async (folder) => {
    const { path: inputsFile, ...written } = await work.write({ settings, given, folder });
    const recordsPath = join(folder, "records.jsonl");
    await writeFile(failedRequestsPath(recordsPath), "");
    const records = {
      path: recordsPath,
      startEpochNs: 5n,
      model: "tiny",
      failuresPath: failedRequestsPath(recordsPath),
    };
    const { columns, ...rest } = await work.measure({ settings, path, records });
    const inputs = await readFile(inputsFile, "utf8");
    return { inputs, written, rows: columns.rows(), rest, records: await readFile(recordsPath, "utf8") };
  });
}

test("a thread makes the same requests and measures the same numbers as this one", LIMIT, async () => {
  const read = readGood(...CHAT, "--generate-plots", "--extra-inputs", '{"a": 1.0, "b": [2, 2.5]}', "--isl", "30");
  const path = exportOf("sessions");
  const own = await doAll(await openLocal(read), read, path);
  const sent = await withThread(read, (work) => doAll(work, read, path));
  assert.deepEqual(sent, own);
  const { inputs, rows, rest, records } = own as Record<"inputs" | "records", string> & Record<"rows" | "rest", object>;
  assert.match(inputs, /"a": 1\.0,\n +"b": \[\n +2,/);
  assert.ok(records.split("\n").length > 5);
  assert.ok("sessionNames" in rows && (rows.sessionNames as string[]).length > 1);
  assert.ok("gaps" in rest && (rest.gaps as { count: number }).count > 0);
});

test("tokens of bodies that a template made are known to the thread that made them", LIMIT, async () => {
  const template = '{"ask": {{ text|tojson }}}';
  const args = ["profile", "-m", "tiny", "--endpoint-type", "template", "--endpoint", "ask", "--tokenizer", TINY];
  const read = readGood(...args, "--isl", "20", "--extra-inputs", `payload_template:${template}`);
  await inFolder(async (folder) => {
    const columns = await withThread(read, async (work) => {
      const { path } = await work.write({ ...read, folder });
      const { data } = JSON.parse(await readFile(path, "utf8"));
      const request = {
        timestamp: 1000,
        request_inputs: { payload: JSON.stringify(data[0].payload[0]) },
        response_timestamps: [2000],
        response_outputs: [{ response: '{"text": "the"}' }],
      };
      const experiment = { experiment: { mode: "concurrency", value: 1 }, requests: [request], window_boundaries: [] };
      const exported = join(folder, "profile_export.json");
      const rest = { version: "", service_kind: "openai", endpoint: "ask" };
      await writeFile(exported, JSON.stringify({ experiments: [experiment], ...rest }));
      return (await work.measure({ ...read, path: exported, records: undefined })).columns;
    });
    assert.deepEqual([...columns.metrics.inputTokens.view()], [20]);
  });
});

test("this thread goes on while the other works", LIMIT, async () => {
  const read = readGood(...CHAT, "--isl", "2000", "--num-dataset-entries", "200");
  await inFolder((folder) =>
    withThread(read, async (work) => {
      let turns = 0;
      let isDone = false;
      const writing = work.write({ ...read, folder }).finally(() => {
        isDone = true;
      });
      while (!isDone) {
        turns++;
        await new Promise((resolve) => setImmediate(resolve));
      }
      assert.equal((await writing).entryCount, 200);
      assert.ok(turns > 50, `${turns} turns`);
    }),
  );
});

test("what is wrong is told as without a thread, and the thread works on", LIMIT, async () => {
  const absent = readGood(...CHAT, "--tokenizer", `${TINY}/absent`).settings;
  const own = await openTokenizer(absent).catch((error: unknown) => error);
  const sent = await startTokenWork(absent, noNote).catch((error: unknown) => error);
  assert.ok(own instanceof UserError && sent instanceof UserError);
  assert.deepEqual(sent.problems, own.problems);
  const read = readGood(...CHAT);
  await inFolder((folder) =>
    withThread(read, async (work) => {
      const file = join(folder, "file");
      await writeFile(file, "");
      await assert.rejects(work.write({ ...read, folder: join(file, "in") }), (error) => {
        assert.ok(error instanceof RunError);
        assert.deepEqual([error.kind, error.hint], ["output", "Give another folder with --artifact-dir."]);
        return true;
      });
      await writeFile(failedRequestsPath(join(folder, "records")), "");
      const recordsPath = join(folder, "records");
      const failuresPath = failedRequestsPath(recordsPath);
      const records = { path: recordsPath, startEpochNs: 0n, model: "", failuresPath };
      await assert.rejects(work.measure({ ...read, path: file, records }), UserError);
      assert.ok(!existsSync(failedRequestsPath(records.path)));
      assert.equal((await work.write({ ...read, folder })).entryCount, 100);
    }),
  );
});

test("after closing nothing is done, and what was asked for is rejected", LIMIT, async () => {
  const read = readGood(...CHAT, "--isl", "2000", "--num-dataset-entries", "10000");
  await inFolder(async (folder) => {
    const work = await startTokenWork(read.settings, noNote);
    const pending = work.write({ ...read, folder }).catch((error: unknown) => error);
    await work.close();
    assert.ok((await pending) instanceof RunError);
    await assert.rejects(work.measure({ ...read, path: "", records: undefined }), /it was closed/);
  });
});

test("without tokens to count there is no thread; profiles that follow each other share one", LIMIT, async () => {
  const images = ["--endpoint-type", "image_retrieval", "--image-width-mean", "8", "--image-height-mean", "8"];
  for (const args of [["--endpoint-type", "chat", "--tokenizer", "none"], images]) {
    const { settings } = readGood("profile", "-m", "m", ...args);
    assert.ok((await startTokenWork(settings, noNote, () => assert.fail("a thread"))) instanceof LocalTokenWork);
  }
  const shared = new SharedTokenWork();
  await assert.rejects(shared.open(readGood(...CHAT, "--tokenizer", `${TINY}/absent`).settings, noNote), UserError);
  const { settings } = readGood(...CHAT);
  const work = await shared.open(settings, noNote);
  assert.equal(await shared.open(settings, noNote), work);
  await shared.close();
});

for (const [what, start, reason] of FAILING_WORKERS) {
  test(`where the thread ${what} this one does the work, and says so`, LIMIT, async () => {
    const read = readGood(...CHAT);
    const notes: string[] = [];
    const work = await startTokenWork(read.settings, (text) => notes.push(text), start);
    assert.equal(notes.length, 1);
    assert.match(notes[0] as string, reason);
    await inFolder(async (folder) => assert.equal((await work.write({ ...read, folder })).entryCount, 100));
  });
}
