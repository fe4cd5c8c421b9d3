import type { FlagReader } from "./flag-values.ts";

/** The original's kinds that nothing here measures yet. */
const LATER_KINDS: readonly string[] = ["tfserving", "torchserve", "triton_c_api", "dynamic_grpc"];

/** What the flags do with their values that say what kind of service is measured. */
export const SERVICE_FLAG_READERS: Readonly<Record<string, FlagReader>> = {
  "--service-kind": (settings, reader, value) => {
    if (value === "triton" || value === "openai") settings.serviceKind = value;
    else {
      const isLater = LATER_KINDS.includes(value);
      const message = isLater
        ? `--service-kind ${value} is not supported yet`
        : `Failed to parse --service-kind. Unsupported type provided: '${value}'.`;
      reader.fail("--service-kind", message, isLater ? undefined : value, "Give triton or openai.");
    }
  },
  "--endpoint": (settings, _reader, value) => {
    settings.endpoint = value;
  },
};
