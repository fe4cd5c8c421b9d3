import { parseArgs } from "node:util";
import { startMetricsStub } from "../servers/metrics-stub.ts";
import { startTriton } from "../servers/triton.ts";
import { findDeadPort } from "./dead-port.ts";
import { defaultCommand, type Ports, requiredShare, runGolden } from "./runner.ts";
import { readCovered } from "./transcript.ts";

/**
 * `run.ts [--command "dist/rampart perf_analyzer"] [--http PORT --grpc PORT [--metrics PORT]] [NAME…]` runs all covered transcripts, or those whose
 * names start with one of the given, and prints how each mismatch differs. With ports it uses a Triton that is running already.
 */

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    command: { type: "string", default: defaultCommand },
    http: { type: "string" },
    grpc: { type: "string" },
    metrics: { type: "string", default: "8002" },
  },
});

const isChosen = (name: string): boolean =>
  positionals.length === 0 || positionals.some((start) => name.startsWith(start));
const names = readCovered().filter(isChosen);
const triton = values.http === undefined || values.grpc === undefined ? await startTriton() : undefined;
const gpus = await startMetricsStub();
const dead = await findDeadPort();
const ports: Ports = {
  http: triton?.httpPort ?? Number(values.http),
  grpc: triton?.grpcPort ?? Number(values.grpc),
  metrics: triton?.metricsPort ?? Number(values.metrics),
  gpus: gpus.port,
  dead,
};
try {
  const results = await runGolden(names, ports, values.command, ({ name, differences }) => {
    if (differences.length > 0) console.log([`MISMATCH ${name}`, ...differences.map((line) => `  ${line}`)].join("\n"));
  });
  const matches = results.filter((result) => result.differences.length === 0);
  console.log(`${matches.length} of ${results.length} match`);
  if (matches.length < results.length * requiredShare) process.exitCode = 1;
} finally {
  await gpus.stop();
  await triton?.stop();
}
