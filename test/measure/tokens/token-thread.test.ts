// Runs on: bun, deno, node.
import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { ResponsePacker } from "../../../src/measure/tokens/packed-responses.ts";
import {
  MeterDesk,
  type MeteredRun,
  type RequestFile,
  type TokenTask,
} from "../../../src/measure/tokens/token-thread.ts";
import { RunError } from "../../../src/plan/problem.ts";
import { addAnswers, FAILURE, TOKENS } from "./added-responses.ts";

const RUN: MeteredRun = {
  ...{ plan: TOKENS, recordsFile: "", model: "m", originEpochNs: 0n, startEpochNs: 0n },
  ...{ keepsRows: false, goodputs: [] },
};

/** The thread's side in this thread, with a file that a test makes. */
function openDesk(file: RequestFile): {
  handle: (...tasks: TokenTask[]) => void;
  responses: ResponsePacker;
  desk: MeterDesk;
} {
  const desk = new MeterDesk({ countTokens: (text) => text.split(" ").length, openRecords: () => file });
  const responses = new ResponsePacker((packed) => void desk.handle({ kind: "packed", packed }));
  const handle = (...tasks: TokenTask[]): void => {
    for (const task of tasks) desk.handle(task);
  };
  handle({ kind: "begin", run: { ...RUN, recordsFile: "records.jsonl" } });
  return { handle, responses, desk };
}

describe("the file of single requests", () => {
  test("gets every response of the measurement and every failure, and is put into place at the end", () => {
    const seen: string[] = [];
    const { handle, responses } = openDesk({
      onMeasured: ({ answered }) => seen.push(`measured ${answered?.times.contentNs.length}`),
      onFailure: ({ isWarmup }) => seen.push(isWarmup ? "failed in the warm-up" : "failed"),
      finish: () => seen.push("finished"),
      discard: () => seen.push("discarded"),
    });
    handle({ kind: "warm-up" });
    addAnswers(responses);
    responses.addFailure(FAILURE);
    responses.flush();
    handle({ kind: "reset" });
    addAnswers(responses);
    responses.addFailure(FAILURE);
    responses.flush();
    handle({ kind: "cut" }, { kind: "finish" });
    assert.deepEqual(seen, ["failed in the warm-up", "measured 2", "measured 3", "failed", "finished"]);
  });

  test("that cannot be written ends neither the run nor the measurement, and is reported at the end", () => {
    const full = new RunError("internal", "the disk is full", "");
    let discardCount = 0;
    const { handle, responses, desk } = openDesk({
      onMeasured: () => {
        throw full;
      },
      finish: () => assert.fail("an incomplete file may not be put into place"),
      discard: () => discardCount++,
    });
    handle({ kind: "reset" });
    addAnswers(responses);
    responses.flush();
    handle({ kind: "cut" });
    assert.equal(desk.handle({ kind: "merge", windowCount: 1 })[0]?.tokens.count, 2);
    assert.throws(() => desk.handle({ kind: "finish" }), full);
    assert.equal(discardCount, 1);
  });
});
