import { messageOf, RunError } from "../plan/problem.ts";
import { type SettingPath, setting } from "../plan/setting-names.ts";
import type { TracePlan } from "../plan/telemetry.ts";
import type { TraceValues } from "../service/service.ts";

/** Trace settings of a server: set for a run, and set back after it. */

/** Asks the server; a refusal rejects with the server's words. */
export interface TraceAccess {
  read(): Promise<TraceValues>;
  /** Resolves with the settings as they are then. */
  write(values: TraceValues): Promise<TraceValues>;
}

/** The settings by their names in the protocol. */
const SETTINGS: Readonly<Record<string, SettingPath>> = {
  log_frequency: "telemetry.trace.logFrequency",
  trace_count: "telemetry.trace.count",
  trace_file: "telemetry.trace.file",
  trace_level: "telemetry.trace.levels",
  trace_rate: "telemetry.trace.rate",
};

/** The settings a plan asks for, by their names in the protocol. */
export function toTraceValues({ file, levels, rate, count, logFrequency }: TracePlan): TraceValues {
  return {
    ...(logFrequency === null ? {} : { log_frequency: [String(logFrequency)] }),
    ...(count === null ? {} : { trace_count: [String(count)] }),
    ...(file === null ? {} : { trace_file: [file] }),
    ...(levels === null ? {} : { trace_level: [...levels] }),
    ...(rate === null ? {} : { trace_rate: [String(rate)] }),
  };
}

/** The settings with their values, for a text to users. */
export function describeTrace(values: TraceValues): string {
  return Object.entries(values)
    .map(([name, value]) => {
      const path = SETTINGS[name];
      return `${path === undefined ? name : setting(path)} ${value.join(",")}`;
    })
    .join(", ");
}

/**
 * Sets what is asked for, or nothing when any of it is refused.
 * @returns what sets the former values back; it rejects when it cannot
 * @throws RunError naming each setting that the server refuses, with the server's words
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
    // Of several settings the server does not say which it means.
    refused = await findRefused(asked, access);
  }
  if (refused.length === 0) return restore;
  const taken: Record<string, readonly string[]> = { ...asked };
  for (const { name } of refused) delete taken[name];
  // The refusal is what the user must hear of, whatever becomes of this.
  if (Object.keys(taken).length > 0) await access.write(pick(former, taken)).catch(() => {});
  throw toRunError(asked, refused);
}

/** A setting that was not taken. */
interface Refused {
  readonly name: string;
  readonly why: string;
}

/** Sets each by itself. */
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
  return error instanceof RunError && error.kind === "refused";
}

/** Settings that the server took without a word but does not have. */
function findIgnored(asked: TraceValues, actual: TraceValues): Refused[] {
  const ignored: Refused[] = [];
  for (const [name, value] of Object.entries(asked)) {
    const now = actual[name];
    // The count sinks with every trace, at once where others send requests too.
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
  const list = refused.map(({ name, why }) => `${describeTrace(pick(asked, { [name]: [] }))}: ${why}`).join("; ");
  const hint =
    "Leave it out, or give a value that the server accepts. A Triton traces when it was started with mode=triton and triton,file=PATH in its trace-config.";
  return new RunError("refused", `failed to set ${list}`, hint);
}

/** The values of the settings that `names` has. */
function pick(values: TraceValues, names: TraceValues): TraceValues {
  const picked: Record<string, readonly string[]> = {};
  for (const name in names) {
    const value = values[name];
    if (value !== undefined) picked[name] = value;
  }
  return picked;
}
