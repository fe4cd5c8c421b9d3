import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { RECORD_CANCELLED, RECORD_FAILED, RecordColumns } from "../../../src/measure/records.ts";
import type { MeasurementModePlan } from "../../../src/plan/plan.ts";
import { LiveView } from "../../../src/report/live/live-view.ts";
import { RunState } from "../../../src/report/live/run-state.ts";
import type { ProgressCounts, RunProgress } from "../../../src/result/observer.ts";
import { makeWindow } from "../../measure/make-window.ts";
import { makePlan } from "../../plan/make-plan.ts";
import { makePrepared } from "../make-result.ts";
import { NO_PROGRESS } from "./fake-run.ts";

/** The live view: what it says, and what it leaves on the terminal. */

interface Shown {
  readonly state: RunState;
  readonly view: LiveView;
  /** All text in order; what others wrote to stdout begins with `out:`. */
  readonly texts: string[];
  /** Draws after so many seconds. @param change of the run's state */
  drawAfter(seconds: number, change?: Partial<ProgressCounts>): string;
}

/** @param batches requests that ended, handed over one batch per drawing: latency and first chunk in ms, or how else they ended */
function show(
  errColumns: number | undefined | (() => number),
  batches: (readonly [number, number] | "failed" | "cancelled")[][] = [],
  hasErrColor = false,
  mode?: MeasurementModePlan,
): Shown {
  const texts: string[] = [];
  const sink = {
    out: (text: string): void => void texts.push(`out:${text}`),
    err: (text: string): void => void texts.push(text),
    hasErrColor,
    get errColumns() {
      return typeof errColumns === "function" ? errColumns() : errColumns;
    },
  };
  const plan = makePlan({ target: { isStreaming: true }, ...(mode === undefined ? {} : { measurement: { mode } }) });
  let atNs = 1e9;
  // No request ends before the first level has begun.
  let isDrawing = false;
  const state = new RunState(plan, () => atNs);
  const view = new LiveView(state, sink);
  const records = new RecordColumns((columns, count) => state.onBatch(columns, count));
  const progress = { ...NO_PROGRESS };
  const live: RunProgress = {
    counts: () => progress,
    drainRecords: () => {
      if (!isDrawing) return;
      for (const request of batches.shift() ?? []) fill(records, request, atNs - 1e6);
      records.drain();
    },
  };
  state.onProgress(live);
  view.onProgress();
  state.onPrepared(makePrepared(plan));
  state.onLevelStart("concurrency", 4, false);
  isDrawing = true;
  const drawAfter = (seconds: number, change: Partial<ProgressCounts> = {}): string => {
    atNs += seconds * 1e9;
    Object.assign(progress, change);
    const before = texts.length;
    view.draw();
    return texts.slice(before).join("");
  };
  return { state, view, texts, drawAfter };
}

function fill(
  records: RecordColumns,
  request: readonly [latencyMs: number, firstMs: number] | "failed" | "cancelled",
  endNs: number,
): void {
  const { row } = records;
  const isAnswered = request !== "failed" && request !== "cancelled";
  const [latencyMs, firstMs] = isAnswered ? request : [900, 900];
  records.sendStartNs[row] = endNs - latencyMs * 1e6;
  records.firstByteNs[row] = endNs - (latencyMs - firstMs) * 1e6;
  records.endNs[row] = endNs;
  records.overNs[row] = endNs;
  records.responseCount[row] = 20;
  records.flags[row] = isAnswered ? 0 : RECORD_FAILED | (request === "cancelled" ? RECORD_CANCELLED : 0);
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
    .matchAll(/\u001b\[\d*[AJK]|\u001b\[\?25[lh]|[\s\S]/g)) {
    if (piece === "\n") {
      row++;
      column = 0;
      lines[row] ??= "";
    } else if (piece === "\r") column = 0;
    else if (piece.startsWith("\u001b[?")) continue;
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
    const { state, drawAfter } = show(undefined, [slow, slow, [], fast]);
    assert.match(drawAfter(2, { completedCount: 40 }), /concurrency 4: .* 20\.0 req\/s, p99 [89]\d\d ms/);
    // The second batch ends before the next level begins.
    state.onLevelStart("concurrency", 8, false);
    assert.match(drawAfter(0.5), /concurrency 8: .*nothing was answered/);
    const text = drawAfter(0.5, { completedCount: 50 });
    assert.match(text, /: 50 completed, .* 10\.0 req\/s, p99 (19|20)\.\d ms/);
  });

  test("the progress says what the run waits for, as long as requests are in flight", () => {
    const terminal = show(200);
    terminal.state.onWait(60_000);
    terminal.drawAfter(2.5, { sentCount: 3, outstanding: 3 });
    assert.match(screenOf(terminal.texts)[1] ?? "", /^progress .*waits for 3 requests, at most 58 s$/);
    const file = show(undefined);
    file.state.onWait(60_000);
    assert.match(file.drawAfter(30, { sentCount: 1, outstanding: 1 }), /, waits for 1 request, at most 30 s\n$/);
    assert.doesNotMatch(file.drawAfter(1, { completedCount: 1, outstanding: 0 }), /waits/);
    file.state.onWait(undefined);
    assert.doesNotMatch(file.drawAfter(1, { sentCount: 2, outstanding: 1 }), /waits/);
  });

  test("on a terminal the same lines are drawn over and over", () => {
    const { view, texts, drawAfter } = show(200, [batch]);
    drawAfter(2, { sentCount: 103, completedCount: 99, failedCount: 1, outstanding: 3, openResponses: 20 });
    const screen = screenOf(texts);
    assert.equal(screen[0], "00:02        concurrency 4");
    assert.equal(screen[1], "progress     [########################] 100 % done");
    assert.equal(screen[2], "requests     completed 99 of 100, failed 1, in flight 3");
    // The failed one's time is no latency, and its chunks are not counted.
    const header = ["recent", "req/s", "chunks/s", "first p50", "first p99", "e2e p50", "e2e p90"];
    assert.deepEqual(screen[3]?.split(/ {2,}/), [...header, "e2e p99", "e2e p99.9", "failed"]);
    const [, perSec, chunks, first50, first99, p50, , p99, , failed] = screen[4]?.split(/ {2,}/) ?? [];
    assert.deepEqual([perSec, chunks, failed], ["50.0", "1,000", "1"]);
    for (const [shown, expected] of [
      [first50, 50],
      [first99, 90],
      [p50, 250],
      [p99, 400],
    ] as const) {
      const [, ms] = /^(.+) ms$/.exec(shown ?? "") ?? assert.fail(shown);
      assert.ok(Math.abs(Number(ms) / expected - 1) < 0.01, `${shown} is about ${expected}`);
    }
    assert.match(screen[5] ?? "", /^client +[\d.]+ % of a core, event loop late by [\d.]+ (?:us|ms) at most$/);
    drawAfter(64, { completedCount: 50_000 });
    drawAfter(1);
    const later = screenOf(texts);
    assert.equal(later.length, 6);
    assert.match(later[0] ?? "", /^01:07 /);
    assert.match(later[2] ?? "", /completed 50,000/);
    assert.match(later[4] ?? "", / {3}nothing was answered in the last seconds$/);
    view.finish();
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
    assert.deepEqual([screen[0], screen[1], screen.length], ["a window", "a warning", 8]);
    view.onInterrupt?.();
    assert.deepEqual(screenOf(texts), ["a window", "a warning", ""]);
  });

  test("elsewhere it is a line now and then, without control characters", () => {
    const { view, texts, drawAfter } = show(undefined, [[[250, 50]], ["cancelled", "cancelled"], []]);
    const line = drawAfter(5, { sentCount: 2, completedCount: 1, outstanding: 1, openResponses: 4 });
    assert.match(line, /^ {2}5 s, concurrency 4: 1 completed, 0 failed, 0\.200 req\/s, p99 [\d.]+ ms, 08:15 left\n$/);
    assert.ok(line.trimEnd().length <= 80, line);
    // Each line reports its own seconds.
    assert.match(
      drawAfter(5, { cancelledCount: 2 }),
      /^ {2}10 s, .*0 failed, nothing was answered in the last seconds/,
    );
    view.finish();
    assert.doesNotMatch(texts.join(""), /[\u0000-\u0009\u000b-\u001f]/);
  });

  test("in 80 columns every line is complete, also with long numbers", () => {
    const mode = { kind: "time-windows", windowMs: 1000, stabilityPct: 10, maxTrials: 10 } as const;
    const { state, texts, drawAfter } = show(80, [[], batch], false, mode);
    drawAfter(1);
    assert.equal(screenOf(texts)[5], "windows      0 (at most 10); stable when 3 in a row agree within 10 %");
    for (const [trial, latencyNs] of [1e6, 9e6, 2e6].entries())
      state.onWindow(trial + 1, makeWindow({ latenciesNs: [latencyNs] }), latencyNs);
    drawAfter(3699, { sentCount: 12_345_678, completedCount: 12_345_678, failedCount: 1234, outstanding: 1024 });
    const screen = screenOf(texts);
    assert.match(screen[0] ?? "", /^1:01:40 /);
    assert.equal(screen[5], "windows      3 (at most 10), not stable: throughput varies 0 %, latency 800 %");
    for (const line of screen) assert.ok(line.length < 80, line);
    // Columns without room are left out, the important ones stay.
    assert.match(screen[3] ?? "", /^recent +req\/s .*first p99 .*e2e p99 .*failed$/);
    assert.match(screen.at(-1) ?? "", /at most$/);
  });

  test("a terminal that has become narrower is redrawn from the first line, which it has wrapped", () => {
    let columns = 100;
    const { view, texts, drawAfter } = show(() => columns);
    drawAfter(1, { completedCount: 1 });
    const widths = screenOf(texts).map((line) => line.length);
    columns = 40;
    const text = drawAfter(1);
    const rows = widths.reduce((sum, width) => sum + Math.max(1, Math.ceil(width / 40)), 0);
    assert.ok(text.startsWith(`\r\u001b[${rows - 1}A`), JSON.stringify(text.slice(0, 20)));
    view.discard?.();
  });

  for (const end of ["finish", "onInterrupt", "discard"] as const) {
    test(`the cursor is hidden while it draws, and back after ${end}`, () => {
      const { view, texts, drawAfter } = show(80);
      drawAfter(1);
      drawAfter(1);
      view[end]();
      const marks = texts.join("").match(/\u001b\[\?25[lh]/g);
      assert.deepEqual(marks, ["\u001b[?25l", "\u001b[?25h"]);
    });
  }

  test("failures are red where colors are shown, and nothing is colored elsewhere", () => {
    for (const [hasErrColor, colors] of [
      [true, ["[31m"]],
      [false, null],
    ] as const) {
      const { view, drawAfter } = show(80, [], hasErrColor);
      const text = drawAfter(1, { failedCount: 1 });
      assert.deepEqual(text.match(/\[3\dm/g)?.slice() ?? null, colors?.slice() ?? null);
      view.discard?.();
    }
  });
});
