import assert from "node:assert/strict";
import { readdirSync } from "node:fs";
import { test } from "node:test";
import { startMetricsStub } from "../servers/metrics-stub.ts";
import { startTriton } from "../servers/triton.ts";
import { findDeadPort } from "./dead-port.ts";
import { KIND_SERVERS } from "./kind-servers.ts";
import { judgeResult, readMismatches } from "./mismatches.ts";
import { type Ports, runGolden } from "./runner.ts";
import { readCovered, readCoveredOf } from "./transcript.ts";

const timeout = 600_000;
const covered = readCovered();
const mismatches = readMismatches();

test("the list of covered transcripts is complete", () => {
  const folders = readdirSync(new URL("./transcripts/", import.meta.url)).sort();
  assert.deepEqual([...covered].sort(), folders);
});

test("every listed mismatch is a covered transcript and has a reason", () => {
  const bad = Object.entries(mismatches).filter(([name, { reason }]) => !covered.includes(name) || reason === "");
  assert.deepEqual(
    bad.map(([name]) => name),
    [],
  );
});

test("transcripts of the real perf_analyzer match, or differ exactly as listed", { timeout }, async () => {
  const { ports, stop } = await openTriton();
  const gpus = await startMetricsStub();
  try {
    const names = readCoveredOf("triton");
    const results = await runGolden(names, mismatches, { ...ports, gpus: gpus.port, dead: await findDeadPort() });
    assert.equal(results.length, names.length);
    const wrong = results.flatMap((result) => judgeResult(result, mismatches));
    assert.equal(wrong.join("\n"), "");
  } finally {
    await gpus.stop();
    await stop();
  }
});

for (const [server, start] of Object.entries(KIND_SERVERS))
  test(`transcripts against the server of ${server} match, or differ exactly as listed`, { timeout }, async () => {
    const { ports, stop } = await start();
    try {
      const names = readCoveredOf(server);
      const results = await runGolden(names, mismatches, { ...ports, gpus: 0, dead: await findDeadPort() });
      assert.ok(results.length > 0);
      const wrong = results.flatMap((result) => judgeResult(result, mismatches));
      assert.equal(wrong.join("\n"), "");
    } finally {
      await stop();
    }
  });

type TritonPorts = Pick<Ports, "http" | "grpc" | "metrics">;

/** The Triton that `run-all.ts` started for the transcripts, or one of their own. */
async function openTriton(): Promise<{ ports: TritonPorts; stop(): Promise<void> }> {
  const [http, grpc, metrics] = ["HTTP", "GRPC", "METRICS"].map((name) =>
    Number(process.env[`RAMPART_TEST_TRITON_${name}`]?.split(":")[1]),
  ) as [number, number, number];
  if (http > 0 && grpc > 0 && metrics > 0) return { ports: { http, grpc, metrics }, stop: async () => {} };
  const { httpPort, grpcPort, metricsPort, stop } = await startTriton();
  return { ports: { http: httpPort, grpc: grpcPort, metrics: metricsPort }, stop };
}
