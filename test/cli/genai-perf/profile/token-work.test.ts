// Runs on: bun, deno, node.
import assert from "node:assert/strict";
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { test } from "node:test";
import { type ProfilePlan, toProfilePlan } from "../../../../src/cli/genai-perf/plan/to-plan.ts";
import {
  openTokenizer,
  SharedTokenWork,
  startTokenWork,
  type TokenWork,
} from "../../../../src/cli/genai-perf/profile/token-work.ts";
import { toWriteTask } from "../../../../src/cli/genai-perf/profile/write-inputs.ts";
import { partsOf } from "../../../../src/measure/tokens/packed-responses.ts";
import { RunError, UserError } from "../../../../src/plan/problem.ts";
import { makeFolder, writeIn } from "../../../make-folder.ts";
import { FAILING_WORKERS } from "../../../runtime/failing-workers.ts";
import { LIMIT } from "../../../time-limit.ts";
import { TINY } from "../../../tokenize/tiny.ts";
import { readGood } from "../read.ts";

/** Requests are made and responses measured in a thread of their own, with the same outcome as in the caller's. */

const SPAN = { startNs: 0, endNs: 1e9 };
const CHAT = ["profile", "-m", "tiny", "--endpoint-type", "chat", "--streaming", "--tokenizer", TINY];
const noNote = (text: string): void => assert.fail(text);
const encoder = new TextEncoder();

/** The plan of a profile, whose requests go into a folder. */
type PlanIn = (folder: string) => ProfilePlan;

function plan(...args: string[]): PlanIn {
  const { asked } = readGood(...args);
  return (folder) => toProfilePlan(asked, folder, []);
}

/** Writes all requests of a plan. */
const writeAll = (work: TokenWork, planIn: PlanIn, folder: string) => {
  const { entryLimit: _, ...task } = toWriteTask(planIn(folder));
  return work.write(task);
};

async function withWork<T>(work: TokenWork, body: (work: TokenWork) => Promise<T>): Promise<T> {
  try {
    return await body(work);
  } finally {
    await work.close();
  }
}

const withThread = async <T>(planIn: PlanIn, body: (work: TokenWork) => Promise<T>): Promise<T> =>
  withWork(await startTokenWork(planIn(""), noNote), body);

/** Begins a run whose single requests go into the folder. */
function begin({ link }: TokenWork, planIn: PlanIn, folder: string): void {
  const recordsFile = join(folder, "records.jsonl");
  const asked = planIn("");
  link.begin({ ...asked, outputs: { ...asked.outputs, files: { records: recordsFile } } }, 0);
  link.reset();
}

function event(content: string): Uint8Array {
  return encoder.encode(`data: ${JSON.stringify({ choices: [{ delta: { content } }] })}\n\n`);
}

/** The outcome of all the work, files included. */
async function doAll(work: TokenWork, planIn: PlanIn): Promise<object> {
  const folder = makeFolder();
  const { path, ...written } = await writeAll(work, planIn, folder);
  begin(work, planIn, folder);
  const { responses } = work.link;
  responses.addPrompt(
    0,
    encoder.encode('{"model": "m", "messages": [{"role": "user", "content": "the"}]}'),
    "a session",
  );
  const bodies = [event("the"), event(" end"), encoder.encode("data: [DONE]\n\n")];
  for (const sendNs of [1000, 2000])
    responses.addResponse({ step: 0, sequenceId: 0, sendNs, offsetsNs: [10, 20, 30], ...partsOf(bodies) });
  work.link.cut(SPAN);
  const { tokenRows: columns } = await work.link.mergeLevel(1);
  await work.link.finish();
  const records = await readFile(join(folder, "records.jsonl"), "utf8");
  return {
    inputs: await readFile(path, "utf8"),
    written,
    rows: columns?.rows(),
    // When the process began is another moment each time.
    records: records.replace(/"request_start_(ns|time)":("[^"]*"|\d+)|"request_(ack|end)_ns":\d+/g, ""),
  };
}

test("a thread makes the same requests and measures the same numbers as this one", LIMIT, async () => {
  const planIn = plan(...CHAT, "--generate-plots", "--extra-inputs", '{"a": 1.0, "b": [2, 2.5]}', "--isl", "30");
  const local = await startTokenWork(
    planIn(""),
    () => {},
    () => {
      throw new Error("no thread");
    },
  );
  const own = await withWork(local, (work) => doAll(work, planIn));
  assert.deepEqual(await withThread(planIn, (work) => doAll(work, planIn)), own);
  const { inputs, rows, records } = own as Record<"inputs" | "records", string> & {
    rows: { sessionNames: string[]; gaps: { count: number } };
  };
  assert.match(inputs, /"a": 1\.0,\n +"b": \[\n +2,/);
  assert.equal(records.split("\n").length, 3);
  assert.match(records, /"model":"m","conversation_id":"a session"/);
  assert.deepEqual(rows.sessionNames, ["a session"]);
  assert.equal(rows.gaps.count, 2);
});

test("tokens of bodies that a template made are known to the thread that made them", LIMIT, async () => {
  const template = '{"ask": {{ text|tojson }}}';
  const args = ["profile", "-m", "tiny", "--endpoint-type", "template", "--endpoint", "ask", "--tokenizer", TINY];
  const planIn = plan(...args, "--isl", "20", "--extra-inputs", `payload_template:${template}`);
  const folder = makeFolder();
  await withThread(planIn, async (work) => {
    const { path } = await writeAll(work, planIn, folder);
    const { data } = JSON.parse(await readFile(path, "utf8"));
    begin(work, planIn, folder);
    work.link.responses.addPrompt(0, encoder.encode(JSON.stringify(data[0].payload[0])));
    const bodies = [encoder.encode('{"text": "the"}')];
    work.link.responses.addResponse({ step: 0, sequenceId: 0, sendNs: 1000, offsetsNs: [1000], ...partsOf(bodies) });
    work.link.cut(SPAN);
    const { tokens } = await work.link.mergeLevel(1);
    assert.deepEqual(tokens.metrics.inputTokens?.values, [20]);
  });
});

test("this thread is not blocked while the other works", LIMIT, async () => {
  const planIn = plan(...CHAT, "--isl", "2000", "--num-dataset-entries", "200");
  const folder = makeFolder();
  await withThread(planIn, async (work) => {
    let turns = 0;
    let isDone = false;
    const writing = writeAll(work, planIn, folder).finally(() => {
      isDone = true;
    });
    while (!isDone) {
      turns++;
      await new Promise((resolve) => setImmediate(resolve));
    }
    assert.equal((await writing).entryCount, 200);
    assert.ok(turns > 50, `${turns} turns`);
  });
});

test("errors are those of the work without a thread, and the thread works on", LIMIT, async () => {
  const absent = plan(...CHAT, "--tokenizer", `${TINY}/absent`)("");
  const own = await openTokenizer(absent).catch((error: unknown) => error);
  const sent = await startTokenWork(absent, noNote).catch((error: unknown) => error);
  assert.ok(own instanceof UserError && sent instanceof UserError);
  assert.deepEqual(sent.problems, own.problems);
  const planIn = plan(...CHAT);
  const folder = makeFolder();
  await withThread(planIn, async (work) => {
    const file = writeIn(folder, "file", "");
    await assert.rejects(writeAll(work, planIn, join(file, "in")), (error) => {
      assert.ok(error instanceof RunError);
      assert.deepEqual([error.code, error.hint], ["output", "Give another folder with --artifact-dir."]);
      return true;
    });
    begin(work, planIn, join(folder, "absent"));
    work.link.cut(SPAN);
    assert.equal((await work.link.mergeLevel(1)).tokens.count, 0);
    await assert.rejects(work.link.finish(), /records\.jsonl cannot be written/);
    assert.equal((await writeAll(work, planIn, folder)).entryCount, 100);
  });
});

test("after closing nothing is done, and pending work is rejected", LIMIT, async () => {
  const planIn = plan(...CHAT, "--isl", "2000", "--num-dataset-entries", "10000");
  const folder = makeFolder();
  const work = await startTokenWork(planIn(""), noNote);
  const pending = writeAll(work, planIn, folder).catch((error: unknown) => error);
  const merging = work.link.mergeLevel(1).catch((error: unknown) => error);
  await work.close();
  assert.ok((await pending) instanceof RunError);
  assert.ok((await merging) instanceof RunError);
  await assert.rejects(work.link.finish(), /was closed/);
});

test("profiles that follow each other share one thread", LIMIT, async () => {
  const shared = new SharedTokenWork();
  await assert.rejects(shared.open(plan(...CHAT, "--tokenizer", `${TINY}/absent`)(""), noNote), UserError);
  const tiny = plan(...CHAT)("");
  const work = await shared.open(tiny, noNote);
  assert.equal(await shared.open(tiny, noNote), work);
  await shared.close();
});

for (const [what, start, reason] of FAILING_WORKERS) {
  test(`when the thread ${what}, this one does the work, with a note`, LIMIT, async () => {
    const planIn = plan(...CHAT);
    const notes: string[] = [];
    const work = await startTokenWork(planIn(""), (text) => notes.push(text), start);
    assert.equal(notes.length, 1);
    assert.match(notes[0] as string, reason);
    await withWork(work, async () => assert.equal((await writeAll(work, planIn, makeFolder())).entryCount, 100));
  });
}
