import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { RECORD_FAILED, RecordColumns } from "../../../src/measure/records.ts";
import { createLiveView, type LiveView } from "../../../src/report/live/live-view.ts";
import type { RunProgress } from "../../../src/result/observer.ts";
import { makePlan } from "../../plan/make-plan.ts";
import { makePrepared, makeResult } from "../make-result.ts";

/** The live view: what it says, and what it leaves on the terminal. */

interface Shown {
  readonly view: LiveView;
  /** All text in order; what others wrote to stdout begins with `out:`. */
  readonly texts: string[];
  /** Draws after so many seconds. @param change of the run's state */
  drawAfter(seconds: number, change?: Partial<RunProgress>): string;
}

/** @param batches requests that ended, handed over one batch per drawing: latency and first chunk in ms, or `failed` */
function show(errColumns: number | undefined, batches: (readonly [number, number] | "failed")[][] = []): Shown {
  const texts: string[] = [];
  const sink = {
    out: (text: string): void => void texts.push(`out:${text}`),
    err: (text: string): void => void texts.push(text),
    errColumns,
  };
  const plan = makePlan({ target: { isStreaming: true } });
  let atNs = 1e9;
  // No request ends before the first level has begun.
  let isDrawing = false;
  const view = createLiveView(plan, sink, () => atNs);
  const records = new RecordColumns((columns, count) => view.onBatch?.(columns, count));
  const progress = {
    sentCount: 0,
    completedCount: 0,
    failedCount: 0,
    cancelledCount: 0,
    outstanding: 0,
    openResponses: 0,
  };
  view.onProgress?.({
    ...progress,
    get sentCount() {
      return progress.sentCount;
    },
    get completedCount() {
      return progress.completedCount;
    },
    get failedCount() {
      return progress.failedCount;
    },
    get cancelledCount() {
      return progress.cancelledCount;
    },
    get outstanding() {
      return progress.outstanding;
    },
    get openResponses() {
      return progress.openResponses;
    },
    drainRecords: () => {
      if (!isDrawing) return;
      for (const request of batches.shift() ?? []) fill(records, request);
      records.drain();
    },
  });
  view.onPrepared?.(makePrepared(plan));
  view.onLevelStart?.("concurrency", 4, false);
  isDrawing = true;
  const drawAfter = (seconds: number, change: Partial<RunProgress> = {}): string => {
    atNs += seconds * 1e9;
    Object.assign(progress, change);
    const before = texts.length;
    view.draw();
    return texts.slice(before).join("");
  };
  return { view, texts, drawAfter };
}

function fill(records: RecordColumns, request: readonly [latencyMs: number, firstMs: number] | "failed"): void {
  const { row } = records;
  const [latencyMs, firstMs] = request === "failed" ? [900, 900] : request;
  records.sendStartNs[row] = 5e9;
  records.firstByteNs[row] = 5e9 + firstMs * 1e6;
  records.endNs[row] = 5e9 + latencyMs * 1e6;
  records.responseCount[row] = 20;
  records.flags[row] = request === "failed" ? RECORD_FAILED : 0;
  records.commit();
}

/** What is left on a terminal after these texts, as far as the view's own control sequences go. */
function screenOf(texts: readonly string[]): string[] {
  const lines = [""];
  let row = 0;
  let column = 0;
  for (const [piece] of texts
    .join("")
    .replaceAll("out:", "")
    .matchAll(/\u001b\[\d*[AJK]|[\s\S]/g)) {
    if (piece === "\n") {
      row++;
      column = 0;
      lines[row] ??= "";
    } else if (piece === "\r") column = 0;
    else if (piece.endsWith("A") && piece.length > 1) row -= Number(piece.slice(2, -1));
    else if (piece === "\u001b[J") lines.splice(row, lines.length, (lines[row] ?? "").slice(0, column));
    else if (piece === "\u001b[K") lines[row] = (lines[row] ?? "").slice(0, column);
    else {
      lines[row] = (lines[row] ?? "").slice(0, column) + piece + (lines[row] ?? "").slice(column + 1);
      column++;
    }
    assert.ok(row >= 0);
  }
  return lines;
}

describe("the live view", () => {
  const batch = [...Array.from({ length: 98 }, () => [250, 50] as const), [400, 90] as const, "failed" as const];

  test("rates and latencies are those of the present level alone", () => {
    const slow = Array.from({ length: 40 }, () => [900, 800] as const);
    const fast = Array.from({ length: 10 }, () => [20, 10] as const);
    const { view, drawAfter } = show(undefined, [slow, slow, [], fast]);
    assert.match(
      drawAfter(2, { completedCount: 40 }),
      /concurrency 4: .* 20\.0 requests\/s, .*latency p50 [89]\d\d ms/,
    );
    // The second batch ends before the next level begins.
    view.onLevelStart?.("concurrency", 8, false);
    assert.match(drawAfter(0.5), /concurrency 8: .* 0\.0 requests\/s, .*nothing was answered/);
    const text = drawAfter(0.5, { completedCount: 50 });
    assert.match(
      text,
      /completed 50 of 100 .* 10\.0 requests\/s, 200 chunks\/s, .*latency p50 (19|20)\.\d ms p99 (19|20)\.\d ms/,
    );
  });

  test("on a terminal four lines are drawn over and over", () => {
    const { view, texts, drawAfter } = show(200, [batch]);
    drawAfter(2, { sentCount: 103, completedCount: 99, failedCount: 1, outstanding: 3, openResponses: 20 });
    const screen = screenOf(texts);
    assert.match(screen[0] ?? "", /^00:02 {2}concurrency 4: completed 99 of 100 \(100 %\), failed 1, outstanding 3$/);
    // The failed one's time is no latency, and its chunks are not counted.
    assert.equal(screen[1]?.trim(), "50.0 requests/s, 1,000 chunks/s, sent 103");
    const times = /^ +first chunk p50 (.*) ms p99 (.*) ms, latency p50 (\d+) ms p99 (\d+) ms$/;
    const [, first50, first99, p50, p99] = times.exec(screen[2] ?? "") ?? assert.fail(screen[2]);
    for (const [shown, expected] of [
      [first50, 50],
      [first99, 90],
      [p50, 250],
      [p99, 400],
    ] as const)
      assert.ok(Math.abs(Number(shown) / expected - 1) < 0.025, `${shown} is about ${expected}`);
    assert.match(screen[3] ?? "", /^ +client: \d+ % of a core, event loop late by [\d.]+ ms at most$/);
    drawAfter(64, { completedCount: 50_000 });
    drawAfter(1);
    const later = screenOf(texts);
    assert.equal(later.length, 4);
    assert.match(later[0] ?? "", /^01:07 .*completed 50,000/);
    assert.equal(later[2]?.trim(), "nothing was answered in the last seconds");
    view.finish(makeResult(makePlan(), []));
    assert.deepEqual(screenOf(texts), [""]);
  });

  test("lines are cut to the terminal's width", () => {
    const { view, texts, drawAfter } = show(30);
    drawAfter(1, { cancelledCount: 5 });
    for (const line of screenOf(texts)) assert.ok(line.length < 30);
    view.discard?.();
  });

  test("other output appears above the view, which is redrawn below it", () => {
    const { view, texts, drawAfter } = show(100);
    drawAfter(1);
    view.sink.out("a window\n");
    drawAfter(1);
    view.sink.err("a warning\n");
    drawAfter(1);
    const screen = screenOf(texts);
    assert.deepEqual([screen[0], screen[1], screen.length], ["a window", "a warning", 6]);
    view.onInterrupt?.();
    assert.deepEqual(screenOf(texts), ["a window", "a warning", ""]);
  });

  test("elsewhere it is a line now and then, without control characters", () => {
    const { view, texts, drawAfter } = show(undefined, [[[250, 50]], [], []]);
    const line = drawAfter(5, { sentCount: 2, completedCount: 1, outstanding: 1, openResponses: 4 });
    assert.match(
      line,
      /^rampart: 5 s: concurrency 4: completed 1 of 100 \(1 %\), .*; 0\.2 requests\/s, 4\.8 chunks\/s, .*\n$/,
    );
    // Each line tells its own seconds.
    assert.match(
      drawAfter(5, { completedCount: 9, cancelledCount: 2 }),
      /^rampart: 10 s: .*failed 0, cancelled 2, .*; 2\.0 requests\/s, 0\.0 chunks\/s, sent 2; nothing .*; client/,
    );
    view.finish(makeResult(makePlan(), []));
    assert.doesNotMatch(texts.join(""), /[\u0000-\u0009\u000b-\u001f]/);
  });
});
