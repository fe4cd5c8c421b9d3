import { ONLY_ONE, wordProblem } from "../../../plan/problem.ts";
import { checkOutputFiles } from "../../output-files.ts";
import { flagOf, LOAD_NAMES, loadOf } from "../loads.ts";
import type { ValueName } from "../options/asked.ts";
import { type GenaiOption, valueNameOf } from "../options/genai-option.ts";
import { RAMPART_OPTIONS } from "../options/rampart-options.ts";
import { rampartFilesOf, sharedKeyOf } from "../options/shared.ts";
import { nameOf } from "../options/subcommands.ts";
import type { RuleSet } from "./rule-set.ts";

/** Checks the settings that each of Rampart's own options requires and excludes. */
export function checkOwn(rules: RuleSet): void {
  checkNeeds(rules);
  checkPhases(rules);
  checkRampartFiles(rules);
  rules.refuse(
    rules.isDryRun && rules.get("rampart.search_limits") !== null,
    sharedKeyOf("dry-run"),
    "--dry-run cannot predict what a search will measure, which depends on the server",
    "Leave out --search-limits to see the plans of the whole sweep.",
  );
  const startMs = rules.get("rampart.schedule_start");
  const endMs = rules.get("rampart.schedule_end");
  rules.refuse(
    startMs !== null && endMs !== null && endMs < startMs,
    "rampart.schedule_end",
    "the schedule ends before it starts",
    `Give ${startMs} or more.`,
  );
  rules.refuse(
    startMs !== null && rules.get("rampart.schedule_auto_offset"),
    "rampart.schedule_auto_offset",
    "the schedule begins either with its first request or at --fixed-schedule-start-offset",
    ONLY_ONE,
  );
}

const OWN: readonly GenaiOption[] = RAMPART_OPTIONS;

function checkNeeds(rules: RuleSet): void {
  const isAnalyzing = rules.subcommand === "analyze";
  const swept = isAnalyzing ? rules.get("analyze").map(({ type }): string => type) : [];
  const kinds: readonly string[] = [rules.get("perf_analyzer.stimulus").kind, ...swept];
  for (const kind of LOAD_NAMES)
    for (const option of OWN)
      if (option.needs === kind) rules.require(valueNameOf(option) as ValueName, kinds.includes(kind), flagOf(kind));
  const isGamma = rules.get("rampart.request_rate_distribution") === "gamma";
  rules.require("rampart.request_rate_smoothness", isGamma, "--request-rate-distribution gamma");
  rules.require("rampart.grace_period", rules.get("rampart.duration") !== null, "--benchmark-duration");
  rules.require("rampart.cancel_delay", rules.get("rampart.cancel_percentage") > 0, "--request-cancellation-rate");
  rules.require("rampart.search_limits", isAnalyzing, "a sweep");
}

/** Checks the settings that conflict with a duration and a warm-up. */
function checkPhases(rules: RuleSet): void {
  const duration = "rampart.duration";
  const number = "perf_analyzer.measurement.num";
  const isCounted = rules.isChosen(number) && rules.given.get(number)?.source === rules.given.get(duration)?.source;
  rules.refuse(
    rules.get(duration) !== null && isCounted,
    duration,
    "a duration cannot be given together with a number of requests or a measurement interval",
    ONLY_ONE,
  );
  const { kind } = rules.get("perf_analyzer.stimulus");
  if (!loadOf(kind).sendsOnce) return;
  const why = `is not possible with ${flagOf(kind)}, which sends each of its requests once`;
  for (const name of [duration, "rampart.warmup_duration"] as const)
    rules.refuse(rules.isChosen(name), name, `${nameOf(name)} ${why}`, "Leave it out.");
}

const RECORDS = sharedKeyOf("records");

function checkRampartFiles(rules: RuleSet): void {
  const files = rampartFilesOf(rules.values).map((file) => ({ ...file, flag: nameOf(file.of) }));
  for (const { of, flag } of files) {
    const hint =
      of === RECORDS
        ? "Leave it out: each run's profile_export.json has its requests."
        : "Leave it out: each run has reports of its own.";
    rules.refuse(rules.subcommand === "analyze", of, `${flag} is the file of one run, and a sweep has many runs`, hint);
  }
  for (const found of checkOutputFiles(files.map((file) => [file.flag, file.path]))) {
    const { path: flag, message, hint, value } = wordProblem(found);
    const of = files.find((file) => file.flag === flag)?.of ?? RECORDS;
    rules.refuse(true, of, `${value} ${message}`, hint);
  }
}
