import { existsSync } from "node:fs";
import { join } from "node:path";
import { toCString } from "../../../runtime/ffi/ffi.ts";
import { Cell, type TritonLibrary } from "./library.ts";

/** What the process with Triton's library starts. */
export interface ServerSettings {
  /** Path of the library. */
  readonly library: string;
  /** Triton's installation, with its backends. */
  readonly directory: string;
  readonly modelRepository: string;
  /** The models to load. An ensemble's own are found. */
  readonly models: readonly string[];
  /** The process of the run, with which this one ends. */
  readonly runPid: number;
  /** The beginning of the names of shared memory between Triton and its Python models. */
  readonly memoryPrefix: string;
}

const EXPLICIT_MODELS = 2;

/** Starts a server in this process and returns its address. Takes as long as loading the models. @throws TritonError */
export function startServer(triton: TritonLibrary, settings: ServerSettings): bigint {
  const { directory, modelRepository, models, memoryPrefix } = settings;
  const cell = new Cell();
  triton.call("ServerOptionsNew", cell.bytes);
  const options = cell.value;
  triton.call("ServerOptionsSetModelRepositoryPath", options, toCString(modelRepository));
  triton.call("ServerOptionsSetBackendDirectory", options, toCString(join(directory, "backends")));
  triton.call("ServerOptionsSetRepoAgentDirectory", options, toCString(join(directory, "repoagents")));
  const caches = join(directory, "caches");
  if (existsSync(caches)) triton.call("ServerOptionsSetCacheDirectory", options, toCString(caches));
  const prefix = [toCString("python"), toCString("shm-region-prefix-name"), toCString(memoryPrefix)] as const;
  triton.call("ServerOptionsSetBackendConfig", options, ...prefix);
  triton.call("ServerOptionsSetModelControlMode", options, EXPLICIT_MODELS);
  for (const model of models) triton.call("ServerOptionsSetStartupModel", options, toCString(model));
  triton.call("ServerOptionsSetLogInfo", options, 0);
  // The library leaves this number as it finds it in memory, and would try to load a broken model again up to 4 billion times.
  triton.call("ServerOptionsSetModelLoadRetryCount", options, 0);
  // A model that does not load has nothing to wait for.
  triton.call("ServerOptionsSetExitTimeout", options, 0);
  const server = new Cell();
  triton.call("ServerNew", server.bytes, options);
  return server.value;
}
