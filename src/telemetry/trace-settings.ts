import type { SettingPath, Text } from "../plan/messages.ts";
import { messageOf, RunError } from "../plan/problem.ts";
import type { TracePlan } from "../plan/telemetry.ts";
import type { TraceValues } from "../service/service.ts";

/** Access to a server's trace settings. Calls reject with the server's message if it rejects the request. */
export interface TraceAccess {
  read(): Promise<TraceValues>;
  /** Returns the settings after the change. */
  write(values: TraceValues): Promise<TraceValues>;
}

/** The plan's settings by their names in the protocol. */
const SETTINGS: Readonly<Record<string, SettingPath>> = {
  log_frequency: "telemetry.trace.logFrequency",
  trace_count: "telemetry.trace.count",
  trace_file: "telemetry.trace.file",
  trace_level: "telemetry.trace.levels",
  trace_rate: "telemetry.trace.rate",
};

/** Returns the settings that a plan requests, by their names in the protocol. */
export function toTraceValues({ file, levels, rate, count, logFrequency }: TracePlan): TraceValues {
  return {
    ...(logFrequency === null ? {} : { log_frequency: [String(logFrequency)] }),
    ...(count === null ? {} : { trace_count: [String(count)] }),
    ...(file === null ? {} : { trace_file: [file] }),
    ...(levels === null ? {} : { trace_level: [...levels] }),
    ...(rate === null ? {} : { trace_rate: [String(rate)] }),
  };
}

/** Returns the settings with their values, for a message. */
export function describeTrace(values: TraceValues): Text {
  return Object.entries(values).map(([name, value], index) => {
    const setting = SETTINGS[name];
    return [index === 0 ? "" : ", ", setting === undefined ? name : { setting }, ` ${value.join(",")}`];
  });
}

/**
 * Applies all requested settings, or none if the server rejects one.
 * @returns a function that restores the previous values; rejects if that fails
 * @throws RunError with each rejected setting and the server's reason
 */
export async function setTrace(asked: TraceValues, access: TraceAccess): Promise<() => Promise<void>> {
  const former = await access.read();
  const restore = async (): Promise<void> => {
    await access.write(pick(former, asked));
  };
  let refused: Refused[];
  try {
    refused = findIgnored(asked, await access.write(asked));
  } catch (error) {
    if (!isRefusal(error)) throw error;
    // The server does not report which of several settings it rejects.
    refused = await findRefused(asked, access);
  }
  if (refused.length === 0) return restore;
  const taken: Record<string, readonly string[]> = { ...asked };
  for (const { name } of refused) delete taken[name];
  // Ignore a failure here: the rejection is what the user needs to see.
  if (Object.keys(taken).length > 0) await access.write(pick(former, taken)).catch(() => {});
  throw toRunError(asked, refused);
}

/** A setting that the server did not apply. */
interface Refused {
  readonly name: string;
  readonly why: string;
}

/** Applies each setting separately to find the rejected ones. */
async function findRefused(asked: TraceValues, access: TraceAccess): Promise<Refused[]> {
  const refused: Refused[] = [];
  for (const [name, value] of Object.entries(asked)) {
    try {
      refused.push(...findIgnored({ [name]: value }, await access.write({ [name]: value })));
    } catch (error) {
      if (!isRefusal(error)) throw error;
      refused.push({ name, why: messageOf(error) });
    }
  }
  return refused;
}

function isRefusal(error: unknown): boolean {
  return error instanceof RunError && error.code === "refused";
}

/** Returns settings that the server accepted but did not apply. */
function findIgnored(asked: TraceValues, actual: TraceValues): Refused[] {
  const ignored: Refused[] = [];
  for (const [name, value] of Object.entries(asked)) {
    const now = actual[name];
    // Each trace decreases the count, possibly at once if other clients send requests.
    if (now !== undefined && (name === "trace_count" || isSame(now, value))) continue;
    const why = now === undefined ? "the server has no such setting" : `the server keeps it at ${now.join(",")}`;
    ignored.push({ name, why });
  }
  return ignored;
}

function isSame(a: readonly string[], b: readonly string[]): boolean {
  return [...a].sort().join() === [...b].sort().join();
}

function toRunError(asked: TraceValues, refused: readonly Refused[]): RunError {
  const list = refused.map(({ name, why }, index): Text => {
    return [index === 0 ? "" : "; ", describeTrace(pick(asked, { [name]: [] })), `: ${why}`];
  });
  const hint =
    "Omit the setting, or use a value that the server accepts. To trace, start the server with mode=triton and triton,file=PATH in its trace-config.";
  return new RunError("refused", ["failed to set ", ...list], hint);
}

/** Returns the values of the settings in `names`. */
function pick(values: TraceValues, names: TraceValues): TraceValues {
  const picked: Record<string, readonly string[]> = {};
  for (const name in names) {
    const value = values[name];
    if (value !== undefined) picked[name] = value;
  }
  return picked;
}
