import assert from "node:assert/strict";
import { readdir, readFile } from "node:fs/promises";
import { join } from "node:path";
import { describe, test } from "node:test";
import { wallMs } from "../../../src/runtime/clock.ts";
import { SENT_ERROR } from "../../../src/service/response-faults.ts";
import { makeFolder, writeIn } from "../../make-folder.ts";
import { LIMIT } from "../../time-limit.ts";
import { answerChat, type ChatRun, type ChatRunOptions, runChat } from "./chat-server.ts";

/** `--records`: a line for each request, whatever came of it. */

interface Line {
  readonly metadata: Readonly<Record<string, string | number | boolean>>;
  readonly metrics: Readonly<Record<string, { readonly value: number; readonly unit: string }>>;
  readonly error?: { readonly code?: number; readonly type: string; readonly message: string };
}

async function runRecorded(
  args: readonly string[],
  options: ChatRunOptions = {},
): Promise<ChatRun & { readonly text: string; readonly lines: readonly Line[] }> {
  const run = await runChat((folder) => [...args, "--records", join(folder, "records.jsonl")], options);
  const text = run.files.get("records.jsonl") ?? "";
  const rows = text.split("\n");
  assert.equal(rows.pop(), "");
  assert.deepEqual(
    [...run.files.keys()].filter((path) => /\.(part|failed)$/.test(path)),
    [],
  );
  return { ...run, text, lines: rows.map((line) => JSON.parse(line) as Line) };
}

describe("--records", () => {
  test("one line per request, with its times, its tokens and the server's counts", LIMIT, async () => {
    const startMs = wallMs();
    const { code, err, text, lines } = await runRecorded(["--request-count", "6", "--warmup-request-count", "2"]);
    assert.equal(code, 0, err);
    assert.equal(lines.length, 6);
    let beforeNs = -1;
    let longestGapMs = 0;
    for (const { metadata, metrics, error } of lines) {
      assert.equal(error, undefined);
      const { model, benchmark_phase: phase, was_cancelled: isCancelled, finish_reason: finishReason } = metadata;
      assert.deepEqual([model, phase, isCancelled, finishReason], ["tiny", "profiling", false, "stop"]);
      const offsetNs = Number(metadata["request_start_offset_ns"]);
      assert.ok(offsetNs > beforeNs && offsetNs < 300e9);
      beforeNs = offsetNs;
      const startedMs = Date.parse(String(metadata["request_start_time"]));
      assert.ok(startedMs >= startMs - 2 && startedMs <= wallMs() + 2);
      const value = (name: string): number => metrics[name]?.value ?? Number.NaN;
      assert.deepEqual([value("input_sequence_length"), value("output_sequence_length")], [10, 3]);
      assert.deepEqual([value("usage_prompt_tokens"), value("usage_completion_tokens")], [12, 2]);
      const [ttftMs, gapMs] = [value("time_to_first_token"), value("time_to_second_token")];
      // A busy machine may read both tokens at once.
      assert.ok(ttftMs > 0 && gapMs >= 0 && ttftMs + gapMs >= 5, `${ttftMs} ${gapMs}`);
      longestGapMs = Math.max(longestGapMs, gapMs);
      assert.ok(Math.abs(value("request_latency") - ttftMs - gapMs) < 1e-6);
      assert.deepEqual([metrics["inter_chunk_latency"]?.value, metrics["request_latency"]?.unit], [[gapMs], "ms"]);
    }
    assert.ok(longestGapMs >= 5, `${longestGapMs}`);
    assert.match(
      text,
      /"request_start_ns":\d{19},"request_start_offset_ns":\d+,"request_ack_ns":\d{19},"request_end_ns":\d{19},/,
    );
  });

  test("failed requests are listed in order, with their reasons", LIMIT, async () => {
    const answer: typeof answerChat = (response, index = 0) => {
      if (index % 3 === 1) response.writeHead(503).end('{"error":{"message":"overloaded"}}');
      else if (index % 3 === 2) {
        response.writeHead(200, { "Content-Type": "text/event-stream" });
        response.write('data: {"choices":[{"delta":{"content":"the"}}]}\n\n');
        setTimeout(() => response.destroy(), 5);
      } else answerChat(response);
    };
    const { lines, requestCount, err } = await runRecorded(["--request-count", "9"], { answer });
    assert.equal(lines.length, 9, err);
    assert.equal(requestCount, 9);
    const ends = lines.map(({ metadata }) => Number(metadata["request_end_ns"]));
    assert.deepEqual(
      ends,
      ends.toSorted((a, b) => a - b),
    );
    const kinds = lines.map(({ error }) => error?.type ?? "");
    assert.deepEqual(kinds, ["", "http", "closed", "", "http", "closed", "", "http", "closed"]);
    const [, refused, cut] = lines;
    assert.equal(refused?.error?.code, 503);
    assert.match(refused?.error?.message ?? "", /overloaded/);
    assert.deepEqual([refused?.metadata["model"], refused?.metrics], ["tiny", {}]);
    assert.equal(cut?.metrics["http_req_chunks_received"]?.value, 1);
    assert.ok(Number(cut?.metadata["request_ack_ns"]) < Number(cut?.metadata["request_end_ns"]));
  });

  test("turns of a session say which one it is, also where they failed", LIMIT, async () => {
    const sessions = ["--num-sessions", "2", "--session-concurrency", "1", "--session-turns-mean", "2"];
    const { lines, err } = await runRecorded(sessions, {
      answer: (response, index) => (index === 3 ? response.writeHead(500).end() : answerChat(response)),
    });
    const names = lines.map(({ metadata }) => metadata["conversation_id"]);
    assert.equal(names.length, 4, err);
    assert.ok(typeof names[0] === "string" && names[0] !== "");
    assert.deepEqual([names[1], names[3]], [names[0], names[2]]);
    assert.notEqual(names[0], names[2]);
    assert.equal(lines[3]?.error?.code, 500);
  });

  test("requests that were cancelled on purpose are marked", LIMIT, async () => {
    const args = [
      "--request-count",
      "3",
      "--request-cancellation-rate",
      "100",
      "--request-cancellation-delay",
      "0.002",
    ];
    const { lines, err } = await runRecorded(args);
    const shown = lines.map(({ metadata, error }) => [metadata["was_cancelled"], error?.type]);
    assert.deepEqual(
      shown,
      [
        [true, "cancelled"],
        [true, "cancelled"],
        [true, "cancelled"],
      ],
      err,
    );
  });

  test("when all requests failed there are only their lines, and no other result file", LIMIT, async () => {
    const { code, lines, files } = await runRecorded(["--request-count", "3"], {
      answer: (response) => response.writeHead(500).end("no"),
    });
    assert.equal(code, 1);
    assert.deepEqual(
      lines.map(({ error }) => error?.code),
      [500, 500, 500],
    );
    assert.ok(![...files.keys()].some((path) => path.includes("profile_export")));
  });

  test("an error within a response is reported too", LIMIT, async () => {
    const { lines } = await runRecorded(["--request-count", "1"], {
      answer: (response) => {
        response.writeHead(200, { "Content-Type": "text/event-stream" });
        response.end(
          'data: {"choices":[{"delta":{"content":"the"}}]}\n\ndata: {"error":{"message":"out of memory"}}\n\n',
        );
      },
    });
    assert.deepEqual([lines.length, lines[0]?.error?.message], [1, `${SENT_ERROR}: out of memory`]);
  });

  test("a failed warm-up request is marked", LIMIT, async () => {
    const { lines } = await runRecorded(["--request-count", "2", "--warmup-request-count", "1"], {
      answer: (response, index) => (index === 0 ? response.writeHead(500).end() : answerChat(response)),
    });
    const phases = lines.map(({ metadata, error }) => [metadata["benchmark_phase"], error?.type]);
    assert.deepEqual(phases, [
      ["warmup", "http"],
      ["profiling", undefined],
      ["profiling", undefined],
    ]);
  });

  test("a path that cannot be written is refused before anything is sent", LIMIT, async () => {
    const { code, err, requestCount } = await runChat((folder) => ["--records", join(folder, "none", "r.jsonl")]);
    assert.deepEqual([code, requestCount], [1, 0]);
    assert.match(err, /--records: .*r\.jsonl cannot be written/);
  });

  test("records of an earlier run do not outlive a run that could not begin", LIMIT, async () => {
    const folder = makeFolder();
    const path = writeIn(folder, "r.jsonl", "old\n");
    const args = ["--records", path, "--request-count", "2", "--url", "127.0.0.1:1"];
    const { code } = await runChat(() => args);
    assert.equal(code, 1);
    assert.deepEqual(await readdir(folder), ["r.jsonl"]);
    for (const line of (await readFile(path, "utf8")).trimEnd().split("\n"))
      assert.equal((JSON.parse(line) as Line).error?.type, "connect");
  });
});
