import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { replacePart } from "../../compile/docs/generated-part.ts";
import { findDeadPort } from "../golden/dead-port.ts";
import { judgeResult, readMismatches } from "../golden/mismatches.ts";
import { runGolden } from "../golden/runner.ts";
import { readCoveredOf } from "../golden/transcript.ts";
import type { TestCase } from "../junit.ts";
import type { MatrixServer, RowResult, RunningServer } from "./row.ts";
import { runRow } from "./run-row.ts";
import { MATRIX } from "./servers.ts";
import { formatMatrix } from "./table.ts";

/** The guide with the table of the matrix, and the name of its part. */
const GUIDE = join(import.meta.dirname, "..", "..", "src", "service", "README.md");
const PART = "matrix";

/**
 * Measures every server of the matrix with every protocol of its own, and runs its golden transcripts; one server at a time. Each row and
 * each transcript is a test. Writes the table into the guide when all servers ran.
 * @param command the command under test, as `RAMPART_COMMAND` has it
 * @param only names of servers, or their beginnings; default: all, and only then the guide is written
 */
export async function runMatrix(command: string, only: readonly string[] = []): Promise<TestCase[]> {
  const servers = MATRIX.filter(({ name }) => only.length === 0 || only.some((start) => name.startsWith(start)));
  const cases: TestCase[] = [];
  const results: RowResult[] = [];
  for (const server of servers) cases.push(...(await runServer(server, command, results)));
  const table = formatMatrix(results, new Date().toISOString().slice(0, 10));
  console.log(`\n${table}\n`);
  const isComplete = only.length === 0 && cases.every(({ failure }) => failure === undefined);
  if (isComplete) writeFileSync(GUIDE, replacePart(readFileSync(GUIDE, "utf8"), PART, table));
  return cases;
}

async function runServer(server: MatrixServer, command: string, results: RowResult[]): Promise<TestCase[]> {
  const startMs = Date.now();
  let running: RunningServer;
  try {
    running = await server.start();
  } catch (error) {
    return [{ name: `${server.name} starts`, failure: String(error), isSkipped: false }];
  }
  console.log(`${server.name} is ready after ${((Date.now() - startMs) / 1000).toFixed(1)} s`);
  const cases: TestCase[] = [];
  try {
    for (const row of running.rows) {
      const result = await runRow(server.name, running.version, row);
      results.push(result);
      cases.push({ name: `${server.name}: ${row.protocol}`, failure: result.problem, isSkipped: false });
    }
    cases.push(...(await runTranscripts(server, running, command)));
  } finally {
    await running.stop();
  }
  return cases;
}

async function runTranscripts(
  { golden }: MatrixServer,
  { ports }: RunningServer,
  command: string,
): Promise<TestCase[]> {
  if (golden === undefined || ports === undefined) return [];
  const known = readMismatches();
  const all = { ...ports, gpus: 0, dead: await findDeadPort() };
  const results = await runGolden(readCoveredOf(golden), known, all, `${command} perf_analyzer`);
  return results.map((result) => {
    const lines = judgeResult(result, known);
    return {
      name: `transcript ${result.name}`,
      failure: lines.length === 0 ? undefined : lines.join("\n"),
      isSkipped: false,
    };
  });
}
