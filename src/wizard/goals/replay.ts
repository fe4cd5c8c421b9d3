import { countOf } from "../../plan/units.ts";
import type { RunTime } from "../../registry/estimate-time.ts";
import { input } from "../../scenario/inputs.ts";
import { intervals } from "../../scenario/loads/rates.ts";
import { fixedSchedule } from "../../scenario/loads/schedules.ts";
import { sessions } from "../../scenario/loads/sessions.ts";
import type { Answers } from "../answers.ts";
import { pathFrom } from "../paths.ts";
import type { Choice, Surroundings } from "../question.ts";
import { nameOf, requestsOf } from "../requests.ts";
import type { ScenarioField } from "../source/format.ts";
import { call } from "../source/source.ts";
import { type WizardTarget, wizardTargetOf } from "../targets.ts";
import type { Asked, Goal } from "./goal.ts";
import { assertions, duration, P99_LIMIT, TTFT_LIMIT, users } from "./loads.ts";

interface Recording {
  readonly label: string;
  readonly hint: string;
  readonly comment: string;
  /** Reports whether it can be sent to a target. */
  suits(target: WizardTarget): boolean;
  /** Whether its file contains the requests, instead of the target's inputs. */
  readonly hasRequests: boolean;
  /** Required content of the file, which is checked before the run. */
  readonly holds: { readonly pattern: RegExp; readonly problem: string };
  toLoad(answers: Answers): ScenarioField["value"];
  time?(text: string): RunTime | undefined;
}

const RECORDINGS: Readonly<Record<string, Recording>> = {
  requests: {
    label: "requests with their times",
    hint: "a JSON file; each entry has a timestamp in milliseconds",
    comment: "Each entry of the file is sent once, at its timestamp.",
    suits: ({ recorded }) => recorded !== undefined,
    hasRequests: true,
    holds: { pattern: /"timestamp"\s*:/, problem: 'has no entries with a "timestamp" in milliseconds' },
    toLoad: () => call({ fixedSchedule }),
    time: (text) => {
      const lastMs = latestTimestampMs(text);
      return lastMs === undefined
        ? undefined
        : { leastMs: lastMs, mostMs: lastMs, parts: "the last request is due then" };
    },
  },
  conversations: {
    label: "conversations",
    hint: "JSON Lines; entries with the same session_id are the turns of one conversation",
    comment: "Each conversation of the file once: a turn is sent after the answer to the one before it.",
    suits: ({ isStreaming }) => isStreaming === true,
    hasRequests: true,
    holds: { pattern: /"session_id"\s*:/, problem: 'has no entries with a "session_id"' },
    toLoad: ({ users: count = "1" }) => call({ sessions }, Number(count)),
  },
  gaps: {
    label: "only the gaps between requests",
    hint: "a text file with one whole number of microseconds per line",
    comment: "The gaps between requests are those of the file, again and again.",
    suits: () => true,
    hasRequests: false,
    holds: { pattern: /^\s*\d+\s*$/m, problem: "has no lines with a whole number of microseconds" },
    toLoad: ({ file = "", save = "", for: time = "stable" }) =>
      call({ intervals }, pathFrom(save, file), time === "stable" ? {} : { for: time.replace(/^([\d.]+)\s*/, "$1 ") }),
  },
};

function recordingOf({ recording = "" }: Answers): Recording | undefined {
  return Object.hasOwn(RECORDINGS, recording) ? RECORDINGS[recording] : undefined;
}

function recordingsFor(answers: Answers): [string, Recording][] {
  const target = wizardTargetOf(answers);
  return Object.entries(RECORDINGS).filter(([, { suits }]) => target !== undefined && suits(target));
}

const AT_ONCE = users("How many conversations at once?", () => "4");

/** Maximum number of concurrent conversations: the number in the file. */
const CONVERSATIONS: Asked = {
  ...AT_ONCE,
  isNeeded: ({ recording }) => recording === "conversations",
  preset: (answers, around) => String(Math.min(4, countSessions(answers, around))),
  check: (answer, answers, around) => {
    const most = countSessions(answers, around);
    const isTooMany = Number(answer) > most;
    return (
      AT_ONCE.check(answer, answers, around) ??
      (isTooMany ? `is more than the file's ${countOf(most, "conversation")}` : undefined)
    );
  },
};

/** Returns the number of conversations in the file; unlimited if the file is too large to read. */
function countSessions({ file = "" }: Answers, around: Surroundings): number {
  const text = around.readText(file);
  if (text === undefined) return Number.POSITIVE_INFINITY;
  return new Set([...text.matchAll(/"session_id"\s*:\s*("[^"]*"|[\w.]+)/g)].map(([, id]) => id)).size;
}

/** Replays recorded traffic. */
export const replayGoal: Goal = {
  label: "a replay",
  hint: "recorded traffic again, from a file",
  asks: {
    recording: {
      message: "What was recorded?",
      choices: (answers): Choice[] =>
        recordingsFor(answers).map(([value, { label, hint }]) => ({ value, label, hint })),
      preset: (answers) => recordingsFor(answers)[0]?.[0],
      check: (answer, answers) => {
        const names = recordingsFor(answers).map(([name]) => name);
        return names.includes(answer) ? undefined : `must be one of ${names.join(", ")}`;
      },
    },
    file: {
      message: "Which file has it?",
      preset: () => undefined,
      check: checkFile,
    },
    users: CONVERSATIONS,
    for: { ...duration("How long?", () => "30 s", "stable"), isNeeded: ({ recording }) => recording === "gaps" },
    "p99-limit": P99_LIMIT,
    "ttft-limit": TTFT_LIMIT,
  },
  usesInputs: (answers) => recordingOf(answers)?.hasRequests === false,
  suffix: () => "-replay",
  compose: (answers, target) => {
    const recording = recordingOf(answers) as Recording;
    const { file = "", save = "" } = answers;
    const { recorded = "json" } = target;
    const isScheduled = answers.recording !== "conversations";
    return {
      title: `How does ${nameOf(answers)} do under recorded traffic?`,
      fields: [
        { name: "target", value: target.toTarget(answers) },
        { name: "load", value: recording.toLoad(answers), comment: recording.comment },
        ...(recording.hasRequests
          ? [{ name: "inputs", value: call({ [`input.${recorded}`]: input[recorded] }, pathFrom(save, file)) }]
          : requestsOf(answers, target)),
        assertions(answers, isScheduled),
      ],
    };
  },
  time: (answers, _plan, around) => {
    const { time } = recordingOf(answers) ?? {};
    const text = around.readText(answers.file ?? "");
    return text === undefined ? undefined : time?.(text);
  },
  toFlagsPlan: (plan, { recording }) => (recording === "conversations" ? undefined : plan),
};

function checkFile(answer: string, answers: Answers, around: Surroundings): string | undefined {
  if (answer.trim() === "") return "must be a file";
  if (!around.fileExists(answer)) return "does not exist";
  const text = around.readText(answer);
  const { holds } = recordingOf(answers) ?? {};
  return text === undefined || holds === undefined || holds.pattern.test(text) ? undefined : holds.problem;
}

/** Returns the latest `timestamp` of a file of requests, in milliseconds; undefined if it has none. */
function latestTimestampMs(text: string): number | undefined {
  let latestMs: number | undefined;
  for (const [, digits] of text.matchAll(/"timestamp"\s*:\s*([\d.eE+]+)/g))
    latestMs = Math.max(latestMs ?? 0, Number(digits));
  return latestMs;
}
