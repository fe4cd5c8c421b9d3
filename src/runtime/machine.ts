import { availableParallelism, cpus, release, totalmem, type } from "node:os";
import { runtimeName } from "./runtime.ts";

/** The machine that this process runs on. */
export interface Machine {
  /** The processor's name, as the system reports it; empty when it reports none. */
  readonly cpu: string;
  /** Number of cores that this process may use. */
  readonly cores: number;
  readonly memoryBytes: number;
  /** The system with its release: `Linux 6.1.0`. */
  readonly os: string;
  /** Such as `x64` or `arm64`. */
  readonly architecture: string;
  /** The runtime with its version: `bun 1.4.5`. */
  readonly runtime: string;
}

/** Describes the machine, without anything that identifies it. */
export function describeMachine(): Machine {
  return {
    cpu: readCpuName(),
    cores: availableParallelism(),
    memoryBytes: totalmem(),
    os: `${type()} ${release()}`,
    architecture: process.arch,
    runtime: `${runtimeName} ${process.versions[runtimeName] ?? ""}`.trim(),
  };
}

function readCpuName(): string {
  try {
    return cpus()[0]?.model.trim() ?? "";
  } catch {
    // Bun on Windows throws where the registry does not name the processor.
    return "";
  }
}
