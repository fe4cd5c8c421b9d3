import assert from "node:assert/strict";
import { test } from "node:test";
import type { RowResult } from "./row.ts";
import { describeLacks, firstError } from "./run-row.ts";
import { formatMatrix } from "./table.ts";

/** What the matrix makes of the output of its runs. */

const measured: RowResult = {
  server: "A",
  version: "1",
  protocol: "KServe over HTTP",
  isMeasured: true,
  works: "20 requests; the server counts 20",
  lacks: "—",
  problem: undefined,
};

test("the table has its date, how many are measured, and a row for each protocol", () => {
  const failed = { ...measured, protocol: "p | q", isMeasured: false, works: "no", lacks: "it has\nnone" };
  assert.deepEqual(formatMatrix([measured, failed], "2026-11-23").split("\n"), [
    "On 2026-11-23: 1 of 2 are measured.",
    "",
    "| server | version | protocol | measured | what the server lacks, or why it is not measured |",
    "| --- | --- | --- | --- | --- |",
    "| A | 1 | KServe over HTTP | 20 requests; the server counts 20 | — |",
    "| A | 1 | p \\| q | no | it has none |",
  ]);
});

test("notes about the server become what it lacks; those about the client do not", () => {
  const stderr = [
    "rampart: the server does not report the model's configuration: the model is measured without batches and sequences.",
    "rampart: the server has no statistics: its own times are not reported.",
    "rampart: the server does something new.",
    "rampart: the client used 90 % of a core.",
  ].join("\n");
  const lacks =
    "model configuration (no batches, no sequences); statistics (no server times); the server does something new.";
  assert.equal(describeLacks(stderr), lacks);
  assert.equal(describeLacks(""), "—");
});

test("the error of a refused run and that of a failed request are found", () => {
  const refused = "rampart: a note\nerror: failed to get model metadata: HTTP status 404\n  Check the name.\n";
  assert.equal(firstError(refused), "failed to get model metadata: HTTP status 404");
  assert.equal(firstError("Failed to retrieve.\nThread [0] had error: no such model\n"), "no such model");
  assert.equal(firstError(""), "it ended without an error");
});
