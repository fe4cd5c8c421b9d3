import { existsSync } from "node:fs";
import { join } from "node:path";
import { toCString } from "../../../runtime/ffi/ffi.ts";
import { Cell, type TritonLibrary } from "./library.ts";

/** Settings for the process with Triton's library. */
export interface ServerSettings {
  readonly library: string;
  /** Triton's installation, with its backends. */
  readonly directory: string;
  readonly modelRepository: string;
  /** The models to load. Models of an ensemble are found automatically. */
  readonly models: readonly string[];
  /** The run's process; when it ends, this process ends too. */
  readonly runPid: number;
  /** Prefix of the names of shared memory between Triton and its Python models. */
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
  // The library does not initialize this number, and might otherwise try to load a broken model up to 4 billion times.
  triton.call("ServerOptionsSetModelLoadRetryCount", options, 0);
  // There is no reason to wait for a model that does not load.
  triton.call("ServerOptionsSetExitTimeout", options, 0);
  const server = new Cell();
  triton.call("ServerNew", server.bytes, options);
  return server.value;
}
