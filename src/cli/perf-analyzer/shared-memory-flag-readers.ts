import type { FlagReader } from "./flag-values.ts";

/** What the flags of shared memory do with their values. */
export const SHARED_MEMORY_FLAG_READERS: Readonly<Record<string, FlagReader>> = {
  "--shared-memory": (settings, reader, value) => {
    if (value === "none" || value === "system" || value === "cuda") settings.sharedMemory = value;
    else
      reader.fail(
        "--shared-memory",
        `Failed to parse --shared-memory. Unsupported type provided: '${value}'. The available options are 'system', 'cuda', or 'none'.`,
        value,
        "Give system, cuda or none.",
      );
  },
  "--output-shared-memory-size": (settings, reader, value) => {
    const sizeBytes = reader.integer("--output-shared-memory-size", "--output-shared-memory-size", value);
    if (sizeBytes !== undefined && sizeBytes < 0)
      reader.fail(
        "--output-shared-memory-size",
        "Failed to parse --output-shared-memory-size. The value must be >= 0.",
        value,
        "Give bytes.",
      );
    else settings.outputSharedMemoryBytes = sizeBytes;
  },
};
