import * as v from "valibot";
import type { Dataset } from "../../inputs/dataset.ts";
import { defined } from "../../plan/objects.ts";
import { userError } from "../../plan/problem.ts";
import type { PlanOf } from "../../plan/schema.ts";
import { concurrencySchema } from "../levels.ts";
import type { LoadMode } from "../load-mode.ts";

/** A fixed number of concurrent sessions of the data: each session once, or repeatedly. */
export type SessionConcurrencyLoadPlan = PlanOf<typeof schema>;

const schema = () =>
  v.object({
    kind: v.literal("session-concurrency"),
    /** Number of concurrent sessions. */
    concurrency: concurrencySchema(),
    ...repeatingEntries(),
  });

/** Entries of a load of sessions. */
export function repeatingEntries() {
  return {
    /** True: the sessions of the data start over when all have begun. Absent: each runs once, and the load ends with the last one. */
    repeats: v.exactOptional(v.literal(true)),
  };
}

/** A fixed number of concurrent conversations, until each one in the data has run once, or for the length of the load. */
export const sessionConcurrencyMode: LoadMode<SessionConcurrencyLoadPlan> = {
  schema,
  prepare: ({ concurrency, repeats }) => ({
    level: concurrency,
    drive: () => ({ kind: "sessions", concurrency, ...defined({ repeats }) }),
  }),
  unit: "concurrency",
  describe: ({ concurrency }) => `sessions, ${concurrency} at a time`,
  askedMean: () => undefined,
  requestCount: ({ repeats }) => (repeats === true ? undefined : null),
  dataOrder: "in-sessions",
  lacksOrder: {
    code: "conflict",
    path: { setting: "load.concurrency" },
    message: "needs payloads with session ids, or prompts with sessions",
    hint: "Use such inputs, or another load.",
  },
  takeData: requireSessions,
  perfAnalyzer: { isExportOnly: true, exported: { unit: "request-rate", value: 0 } },
};

/** Reports too few sessions in perf_analyzer's words, if the sessions come from a file. */
function requireSessions({ concurrency, repeats }: SessionConcurrencyLoadPlan, data: Dataset): Dataset {
  const { streams, sessionCount } = data;
  const count = streams.length;
  if (count >= concurrency || repeats === true) return data;
  if (sessionCount === "default")
    return { ...data, streams: Array.from({ length: concurrency }, (_, index) => streams[index % count] ?? []) };
  if (sessionCount === "given") {
    const message = `has more users than the inputs have chains, which is ${count}: each user sends at least one`;
    const hint = 'Raise count in the inputs, or give the load a time, such as for: "30 s".';
    throw userError("conflict", { setting: "load.concurrency" }, message, hint, String(concurrency));
  }
  throw userError("mismatch", { setting: "load.concurrency" }, ...fewSessions(count, concurrency));
}

/** Returns the message that a file has too few sessions, in perf_analyzer's words. */
export function fewSessions(count: number, concurrency: number): [message: string, hint: string] {
  return [
    `The input data file contains ${count} unique session IDs, which is fewer than the required session concurrency level of ${concurrency}.`,
    "Please add more unique session IDs to the file or lower the session concurrency level.",
  ];
}
