import { join } from "node:path";
import { after } from "node:test";
import { messageOf } from "../../../src/plan/problem.ts";
import { defineScenario } from "../../../src/scenario/define.ts";
import { hold } from "../../../src/scenario/loads/concurrency.ts";
import { tritonInProcess } from "../../../src/scenario/targets/triton-in-process.ts";
import { toPlan } from "../../../src/scenario/to-plan.ts";
import { DEFAULT_TRITON_TARGET } from "../../../src/service/triton/target.ts";
import type { TritonInProcessTargetPlan } from "../../../src/service/triton-c-api/target.ts";
import { runCommand } from "../../cli/perf-analyzer/run-command.ts";
import type { Aim, ConformanceRow, Fault } from "../../conformance/row.ts";
import { installTriton, readInstallation } from "../../servers/triton-install.ts";
import { MODEL, modelRepositories } from "./conformance-server.ts";

/** Triton's library in a process of each run's own, with a Python model that answers once, and one that streams its answers. */

let directory = "";
/** The environment of this process, which other tests need. */
let before: NodeJS.ProcessEnv | undefined;
after(() => {
  if (before === undefined) return;
  for (const name of Object.keys(process.env)) if (!(name in before)) delete process.env[name];
  Object.assign(process.env, before);
});

/** The models need the environment of Triton's Python in the process with the library, which has that of this one. */
async function prepare(): Promise<void> {
  before ??= { ...process.env };
  const { backends, env } = readInstallation(await installTriton());
  directory = join(backends, "..");
  const bun = join(import.meta.dirname, "../../../node_modules/.bin");
  Object.assign(process.env, env, { PATH: `${env["PATH"]}:${bun}` });
}

function target({ url }: Aim, isStreaming: boolean): TritonInProcessTargetPlan {
  const { modelVersion, batchSize, shapes, outputSharedMemoryBytes, parameters, composingModels } =
    DEFAULT_TRITON_TARGET;
  return {
    kind: "triton-c-api",
    directory,
    modelRepository: url,
    model: MODEL,
    protocol: "grpc",
    modelVersion,
    batchSize,
    isStreaming,
    shapes,
    sharedMemory: "none",
    outputSharedMemoryBytes,
    parameters,
    composingModels,
  };
}

async function flagErrors(...flags: readonly string[]): Promise<string> {
  const places = ["--triton-server-directory", "/triton", "--model-repository", "/models"];
  const kind = ["-m", MODEL, "--service-kind", "triton_c_api", ...places];
  return (await runCommand([...kind, ...flags, "--dry-run"])).err;
}

async function scenarioErrors(options: object): Promise<string> {
  const target = tritonInProcess({ modelRepository: "/models", model: MODEL, ...options });
  try {
    toPlan(defineScenario({ name: "refused", target, load: hold(1) }), "/");
  } catch (error) {
    return messageOf(error);
  }
  return "";
}

const row = (isStreaming: boolean): ConformanceRow => ({
  name: isStreaming ? "triton in process, decoupled" : "triton in process",
  wire: "grpc",
  prepare,
  start: modelRepositories(isStreaming),
  startsSlowly: true,
  target: (aim) => target(aim, isStreaming),
  hasStatistics: true,
  // Triton counts a request when the model's function has returned, whatever the answer is and when it comes.
  countedAsSuccess: new Set<Fault>(isStreaming ? ["error", "silent", "huge"] : ["silent", "huge"]),
  // A model crashes the process with the library, which does not come back.
  ending: { faults: new Set<Fault>(["close", "break"]), error: /has ended \(signal SIGABRT\); .*made to crash/s },
  losesCancelled: true,
  failures: {
    error: { kind: "model" },
    silent: { kind: "stalled" },
    close: { kind: "closed" },
    break: { kind: "closed" },
    huge: { kind: "limit" },
  },
  cannot: {
    ...(isStreaming
      ? {}
      : { "a connection closed within an answer": "the only answer of a request arrives whole or not at all" }),
    "answers of another content type": "the library's answers have no content type",
    TLS: "there is no network",
    "several servers": "a run starts one process with the library",
  },
  refusals: {
    TLS: [
      { ask: () => flagErrors("--ssl-grpc-use-ssl"), error: /--ssl-grpc-use-ssl has no effect with / },
      { ask: () => scenarioErrors({ tls: { caFile: "ca.pem" } }), error: /tls/ },
    ],
    "several servers": [
      { ask: () => flagErrors("-u", "a:1", "-u", "b:1"), error: /-u has no effect with / },
      { ask: () => scenarioErrors({ urls: ["a:1", "b:1"] }), error: /urls/ },
    ],
  },
});

export const rows: readonly ConformanceRow[] = [row(false), row(true)];
