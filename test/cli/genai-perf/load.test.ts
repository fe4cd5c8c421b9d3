import assert from "node:assert/strict";
import { readdir, readFile, writeFile } from "node:fs/promises";
import { createServer } from "node:http";
import { join } from "node:path";
import { describe, test } from "node:test";
import type { Plan } from "../../../src/plan/plan.ts";
import { prepareLoad } from "../../../src/registry/load-modes.ts";
import { wallMs } from "../../../src/runtime/clock.ts";
import { makeFolder } from "../../make-folder.ts";
import { closing, listen } from "../../servers/listen.ts";
import { LIMIT } from "../../time-limit.ts";
import { TINY } from "../../tokenize/tiny.ts";
import { runCaptured } from "./run-captured.ts";

/** What flags of the load do to the requests that a server sees: how many at once, in which order, how many at all. */

interface Seen {
  readonly code: number;
  readonly err: string;
  /** The prompts in the order in which they came: that of their connections, which a busy machine does not keep. */
  readonly prompts: readonly string[];
  /** How many requests were under way when each came, itself included. */
  readonly outstanding: readonly number[];
  /** When each was sent, by the run's own export, in milliseconds after the command was started. */
  readonly sentMs: readonly number[];
  /** Files and folders below the folder of artifacts. */
  readonly files: readonly string[];
}

/** A profile against a server that answers each request after a while. @param schedule lines of a payload file */
async function profile(answerMs: number, args: readonly string[], schedule?: readonly object[]): Promise<Seen> {
  const folder = makeFolder();
  const prompts: string[] = [];
  const outstanding: number[] = [];
  let current = 0;
  using server = closing(
    createServer(async (request, response) => {
      outstanding.push(++current);
      let text = "";
      for await (const piece of request) text += String(piece);
      prompts.push((JSON.parse(text) as { messages: { content: string }[] }).messages[0]?.content ?? "");
      setTimeout(() => {
        current--;
        response.writeHead(200).end('{"choices":[{"message":{"content":"the"}}]}');
      }, answerMs);
    }),
  );
  const url = `http://127.0.0.1:${await listen(server)}`;
  const artifacts = join(folder, "artifacts");
  const file = join(folder, "schedule.jsonl");
  if (schedule !== undefined) await writeFile(file, schedule.map((line) => `${JSON.stringify(line)}\n`).join(""));
  const base = ["profile", "-m", "tiny", "--endpoint-type", "chat", "--tokenizer", TINY, "--url", url];
  const input = schedule === undefined ? ["--isl", "5"] : ["--fixed-schedule", "--input-file", `payload:${file}`];
  const startedMs = wallMs();
  const { code, err } = await runCaptured([
    ...[...base, "--artifact-dir", artifacts, "--random-seed", "3"],
    ...[...input, ...args],
  ]);
  const files = await readdir(artifacts, { recursive: true }).catch(() => []);
  const found = files.find((name) => name.endsWith("profile_export.json"));
  const sentMs = found === undefined ? [] : readSentMs(await readFile(join(artifacts, found), "utf8"), startedMs);
  return { code, err, prompts, outstanding, sentMs, files };
}

function readSentMs(text: string, startedMs: number): number[] {
  const { experiments } = JSON.parse(text) as { experiments: { requests: { timestamp: number }[] }[] };
  const times = (experiments[0]?.requests ?? []).map(({ timestamp }) => timestamp / 1e6).sort((a, b) => a - b);
  return times.map((time) => time - startedMs);
}

/** No request is sent before it is due, however busy the machine is. @param dueMs after the start of the load */
function checkDue(sentMs: number | undefined, dueMs: number): void {
  assert.ok((sentMs ?? Number.NaN) >= dueMs - 2, `sent ${sentMs} ms after the command was started, and due ${dueMs}`);
}

/** Entries of a schedule, told apart by their texts. */
const entries = (...timesMs: number[]): object[] =>
  timesMs.map((timestamp) => ({ timestamp, text_input: `at ${timestamp}` }));

describe("the load of genai-perf profile", () => {
  test(
    "--concurrency-limit: limits requests in flight, sends all of them, and reports the delayed ones",
    LIMIT,
    async () => {
      const args = ["--request-rate", "40", "--request-count", "40", "--concurrency-limit", "3"];
      const { code, err, outstanding } = await profile(120, args);
      assert.equal(code, 0, err);
      assert.equal(outstanding.length, 40);
      assert.equal(Math.max(...outstanding), 3);
      assert.match(err, /(3[0-9]) requests were due while 3 were in flight, and were delayed by [\d.]+ m?s at most/);
      assert.match(err, /from when it was due they are [\d.]+ m?s on average, [\d.]+ m?s at p99/);
    },
  );

  test("without a limit requests do not wait for each other, and nothing is reported", LIMIT, async () => {
    const { code, err, outstanding } = await profile(120, ["--request-rate", "40", "--request-count", "40"]);
    assert.equal(code, 0, err);
    assert.ok(Math.max(...outstanding) > 3);
    assert.doesNotMatch(err, /delayed by/);
  });

  test("--request-rate-distribution gamma: the smoothness decides how much gaps vary", LIMIT, async () => {
    /** How much the gaps between the moments at which requests are due vary, by the plan that is measured. */
    const variationOf = async (smoothness: string): Promise<number> => {
      const gamma = ["--request-rate-distribution", "gamma", "--request-rate-smoothness", smoothness];
      const load = ["--request-rate", "100", "--request-count", "100", ...gamma];
      const base = ["profile", "-m", "tiny", "--endpoint-type", "chat", "--tokenizer", TINY, "--isl", "5"];
      const { code, out, err } = await runCaptured([...base, ...load, "--dry-run"]);
      assert.equal(code, 0, err);
      const prepared = prepareLoad((JSON.parse(out) as Plan).load);
      const drive = prepared.drive(100, []);
      assert.equal(drive.kind, "scheduled");
      const { arrivals } = drive as Extract<typeof drive, { kind: "scheduled" }>;
      const dueNs = Array.from({ length: 100 }, arrivals);
      const gaps = dueNs.map((due, index) => due - (dueNs[index - 1] ?? 0));
      const mean = gaps.reduce((sum, gap) => sum + gap, 0) / gaps.length;
      return Math.sqrt(gaps.reduce((sum, gap) => sum + (gap - mean) ** 2, 0) / gaps.length) / mean;
    };
    // 1 / sqrt(0.2) is 2.2; 1 / sqrt(400) is 0.05.
    const [bursty, smooth] = [await variationOf("0.2"), await variationOf("400")];
    assert.ok(bursty > 1.2 && smooth < 0.1, `${bursty}, ${smooth}`);
  });

  test("--concurrency-ramp-duration: one at first, all of them at last", LIMIT, async () => {
    const args = ["--concurrency", "6", "--concurrency-ramp-duration", "0.6", "--request-count", "80"];
    const { code, err, outstanding, sentMs } = await profile(30, args);
    assert.equal(code, 0, err);
    assert.deepEqual([outstanding[0], outstanding.length, Math.max(...outstanding)], [1, 80, 6]);
    // One more every 100 ms, and none of them early.
    for (let level = 2; level <= 6; level++) checkDue(sentMs[outstanding.indexOf(level)], 100 * (level - 1));
    assert.doesNotMatch(err, /the measurement ended after/);
  });

  test("a run that ends before its ramp is reported", LIMIT, async () => {
    const args = ["--concurrency", "5", "--concurrency-ramp-duration", "60", "--request-count", "10"];
    const { code, err, outstanding } = await profile(1, args);
    assert.deepEqual([code, Math.max(...outstanding)], [0, 1], err);
    assert.match(err, /ended after [\d.]+ m?s, before the ramp of 60 s reached the load/);
  });

  test("--request-rate-ramp-duration: the beginning is slower than the end", LIMIT, async () => {
    const args = ["--request-rate", "60", "--request-rate-ramp-duration", "1", "--request-count", "60"];
    const { code, err, sentMs } = await profile(1, args);
    assert.equal(code, 0, err);
    assert.equal(sentMs.length, 60);
    // Half as many are due within the ramp's second as without it; then 30 in half a second.
    checkDue(sentMs[29], 1000);
    checkDue(sentMs[59], 1500);
  });

  test(
    "--fixed-schedule-start-offset, -end-offset: what lies between, both times included, from its beginning",
    LIMIT,
    async () => {
      const args = ["--fixed-schedule-start-offset", "30000", "--fixed-schedule-end-offset", "30200"];
      const { code, err, prompts, sentMs } = await profile(1, args, entries(0, 29_999, 30_000, 30_100, 30_200, 30_201));
      assert.equal(code, 0, err);
      assert.deepEqual(prompts.toSorted(), ["at 30000", "at 30100", "at 30200"]);
      checkDue(sentMs[2], 200);
      assert.match(err, /3 of 6 entries are not due from 30000 ms to 30200 ms, and are left out/);
    },
  );

  test(
    "--fixed-schedule-auto-offset, --fixed-schedule-speed: starts immediately, and replays this many times as fast",
    LIMIT,
    async () => {
      const args = ["--fixed-schedule-auto-offset", "--fixed-schedule-speed", "10"];
      const { code, err, prompts, sentMs } = await profile(1, args, entries(900_000, 901_000, 903_000));
      assert.equal(code, 0, err);
      assert.deepEqual(prompts.toSorted(), ["at 900000", "at 901000", "at 903000"]);
      checkDue(sentMs[2], 300);
      assert.doesNotMatch(err, /left out/);
    },
  );

  test(
    "a part of a schedule without entries is refused before anything is sent, and leaves nothing",
    LIMIT,
    async () => {
      const { code, err, prompts, files } = await profile(1, ["--fixed-schedule-start-offset", "9"], entries(0, 8));
      assert.equal(code, 1);
      assert.match(err, /--fixed-schedule-start-offset: no entry is due from 9 ms on, of 2 in the file/);
      assert.deepEqual([prompts.length, files.filter((name) => name.endsWith(".json")).length], [0, 0]);
    },
  );
});
