import { execFile } from "node:child_process";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { findPython, installOnce, installPackages } from "./install-once.ts";

/** MLPerf's own LoadGen, to compare Rampart's verdicts with. */

const VERSION = "6.0.17";
const run = promisify(execFile);
const LIMIT_MS = 120_000;

/** A run of LoadGen. */
export interface LoadgenTask {
  readonly scenario: "SingleStream" | "MultiStream" | "Server" | "Offline";
  /** Latencies of the measured system, used in turn. */
  readonly latenciesUs: readonly number[];
  readonly count: number;
  /** Makes answers streams: the time of the first token, which is part of the latency, and the number of tokens, used in turn. */
  readonly streams?: readonly (readonly [firstTokenUs: number, tokenCount: number])[];
  /** Fields of LoadGen's `TestSettings`. */
  readonly settings?: Readonly<Record<string, number>>;
}

/** What LoadGen measured and concluded. */
export interface LoadgenAnswer {
  /** Typed values of its detail log. */
  readonly results: Readonly<Record<string, number | string | boolean>>;
  /** The latencies of each query's samples. */
  readonly latenciesNs: readonly (readonly number[])[];
  /** When each query was due, or issued where nothing is due, since the first one. */
  readonly dueNs: readonly number[];
  /** The latency of each query's first token; empty unless answers are streams and the scenario is Server. */
  readonly firstTokensNs: readonly number[];
}

/** Runs LoadGen, which is installed into the cache first. Throws with its output. */
export async function runLoadgen(asked: LoadgenTask): Promise<LoadgenAnswer> {
  const { scenario, latenciesUs, count, streams = [], settings = {} } = asked;
  const python = await findPython();
  const folder = await installOnce(`loadgen-${VERSION}-${python.version}`, "done", async (draft) => {
    await installPackages(python, [`mlcommons-loadgen==${VERSION}`], join(draft, "site"));
    writeFileSync(join(draft, "done"), "");
  });
  const script = fileURLToPath(new URL("loadgen/drive.py", import.meta.url));
  const task = JSON.stringify({ scenario, latencies_us: latenciesUs, count, streams, settings });
  const { stdout } = await run(python.command, ["-B", script, task], {
    env: { ...process.env, PYTHONPATH: join(folder, "site") },
    timeout: LIMIT_MS,
    maxBuffer: 64 * 1024 * 1024,
  });
  const { results, latencies_ns, due_ns, first_tokens_ns } = JSON.parse(stdout) as Pick<LoadgenAnswer, "results"> & {
    readonly latencies_ns: number[][];
    readonly due_ns: number[];
    readonly first_tokens_ns: number[];
  };
  return { results, latenciesNs: latencies_ns, dueNs: due_ns, firstTokensNs: first_tokens_ns };
}
