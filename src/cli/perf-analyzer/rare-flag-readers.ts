import type { FlagReader } from "./flag-values.ts";
import { LOAD_FLAG_READERS } from "./load-flag-readers.ts";
import { SERVICE_FLAG_READERS } from "./service-flag-readers.ts";
import { SHARED_MEMORY_FLAG_READERS } from "./shared-memory-flag-readers.ts";
import { SSL_FLAG_READERS } from "./ssl-flag-readers.ts";
import { TELEMETRY_FLAG_READERS } from "./telemetry-flag-readers.ts";

/** What the flags do with their values that most command lines have none of: loaded where one is given. */
export const RARE_FLAG_READERS: Readonly<Record<string, FlagReader>> = {
  ...LOAD_FLAG_READERS,
  ...SERVICE_FLAG_READERS,
  ...SHARED_MEMORY_FLAG_READERS,
  ...SSL_FLAG_READERS,
  ...TELEMETRY_FLAG_READERS,
};
