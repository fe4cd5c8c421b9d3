import { parseArgs } from "node:util";
import { startMetricsStub } from "../servers/metrics-stub.ts";
import { startTriton } from "../servers/triton.ts";
import { findDeadPort } from "./dead-port.ts";
import { KIND_SERVERS } from "./kind-servers.ts";
import { acceptResults, judgeResult, readMismatches, writeMismatches } from "./mismatches.ts";
import { defaultCommand, type Ports, runGolden } from "./runner.ts";
import { readCovered, readCoveredOf, readTranscript } from "./transcript.ts";

/**
 * `run.ts [--accept] [--command "dist/rampart perf_analyzer"] [--http PORT --grpc PORT [--metrics PORT]] [NAME…]` runs all covered transcripts, or those whose
 * names start with one of the given, and prints what differs otherwise than mismatches.json lists. With ports it uses a Triton that is
 * running already; with ports of another server it runs that server's transcripts. `--accept` writes the differences into mismatches.json; the reasons of new ones are to be written by hand.
 */

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    accept: { type: "boolean", default: false },
    command: { type: "string", default: defaultCommand },
    http: { type: "string" },
    grpc: { type: "string" },
    metrics: { type: "string", default: "8002" },
  },
});

const isChosen = (name: string): boolean => positionals.some((start) => name.startsWith(start));
const names = positionals.length === 0 ? readCoveredOf("triton") : readCovered().filter(isChosen);
/** All the transcripts of one run are of one server: that of the first. */
const startKind = KIND_SERVERS[readTranscript(names[0] ?? "").server];
const kindServer = await startKind?.();
const isRunning = kindServer !== undefined || (values.http !== undefined && values.grpc !== undefined);
const triton = isRunning ? undefined : await startTriton();
const gpus = await startMetricsStub();
const dead = await findDeadPort();
const ports: Ports = {
  http: triton?.httpPort ?? Number(values.http),
  grpc: triton?.grpcPort ?? Number(values.grpc),
  metrics: triton?.metricsPort ?? Number(values.metrics),
  gpus: gpus.port,
  dead,
  ...kindServer?.ports,
};
try {
  const known = readMismatches();
  const wrong: string[] = [];
  const results = await runGolden(names, known, ports, values.command, (result) => {
    const lines = judgeResult(result, known);
    if (lines.length === 0) return;
    wrong.push(result.name);
    console.log(lines.join("\n"));
  });
  const matches = results.filter(({ differences }) => differences.length === 0).length;
  const listed = results.length - matches - wrong.length;
  console.log(`${matches} of ${results.length} match, ${listed} differ as listed, ${wrong.length} otherwise`);
  if (values.accept) writeMismatches(acceptResults(known, results));
  else if (wrong.length > 0) process.exitCode = 1;
} finally {
  await gpus.stop();
  await triton?.stop();
  await kindServer?.stop();
}
