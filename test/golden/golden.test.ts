import assert from "node:assert/strict";
import { readdirSync } from "node:fs";
import { describe, test } from "node:test";
import { startMetricsStub } from "../servers/metrics-stub.ts";
import { startTriton } from "../servers/triton.ts";
import { findDeadPort } from "./dead-port.ts";
import { type Result, requiredShare, runGolden } from "./runner.ts";
import { readCovered, readListedMismatches } from "./transcript.ts";

const timeout = 600_000;
const covered = readCovered();

test("the list of covered transcripts names each one there is", () => {
  const folders = readdirSync(new URL("./transcripts/", import.meta.url)).sort();
  assert.deepEqual([...covered].sort(), folders);
});

test("every mismatch that the README explains is a covered transcript", () => {
  const listed = readListedMismatches();
  assert.ok(listed.length > 0);
  assert.deepEqual(
    listed.filter((name) => !covered.includes(name)),
    [],
  );
});

let running: Promise<readonly Result[]> | undefined;

/** Runs all transcripts once. Not in a hook: Bun ends those after 5 s. */
function runAll(): Promise<readonly Result[]> {
  running ??= startAndRun();
  return running;
}

async function startAndRun(): Promise<readonly Result[]> {
  const triton = await startTriton();
  const gpus = await startMetricsStub();
  try {
    return await runGolden(covered, {
      http: triton.httpPort,
      grpc: triton.grpcPort,
      metrics: triton.metricsPort,
      gpus: gpus.port,
      dead: await findDeadPort(),
    });
  } finally {
    await gpus.stop();
    await triton.stop();
  }
}

describe("transcripts of the real perf_analyzer", () => {
  test("at least 95 % of them match", { timeout }, async () => {
    const results = await runAll();
    const mismatches = results.filter((result) => result.differences.length > 0);
    const text = mismatches.map(({ name, differences }) => [name, ...differences].join("\n  ")).join("\n");
    assert.equal(results.length, covered.length);
    assert.ok(mismatches.length <= covered.length * (1 - requiredShare), text);
  });

  test("those that the README lists as mismatches still are", { timeout }, async () => {
    const results = await runAll();
    const matches = results.filter((result) => result.differences.length === 0).map((result) => result.name);
    assert.deepEqual(
      readListedMismatches().filter((name) => matches.includes(name)),
      [],
    );
  });
});
