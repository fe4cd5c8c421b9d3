import { wordProblem } from "../../../plan/problem.ts";
import { checkOutputFiles } from "../../output-files.ts";
import { flagOf, LOAD_NAMES, loadOf } from "../loads.ts";
import type { GenaiOption } from "../options/genai-option.ts";
import { RAMPART_OPTIONS } from "../options/rampart-options.ts";
import { isDryRun, rampartFilesOf } from "../options/shared-settings.ts";
import { nameOf } from "../options/subcommands.ts";
import type { RuleSet } from "./rule-set.ts";

/** Checks which settings each of Rampart's own options requires and excludes. */
export function checkOwn(rules: RuleSet): void {
  checkNeeds(rules);
  checkPhases(rules);
  checkRampartFiles(rules);
  const { startMs, endMs, startsAtFirst } = rules.settings.schedule;
  rules.refuse(
    isDryRun(rules.settings.rampart.shared) && rules.settings.rampart.searchLimits !== null,
    "rampart.shared.dry-run",
    "--dry-run cannot predict what a search will measure, which depends on the server",
    "Leave out --search-limits to see the plans of the whole sweep.",
  );
  rules.refuse(
    startMs !== null && endMs !== null && endMs < startMs,
    "schedule.endMs",
    "the schedule ends before it starts",
    `Give ${startMs} or more.`,
  );
  rules.refuse(
    startMs !== null && startsAtFirst,
    "schedule.startsAtFirst",
    "the schedule begins either with its first request or at --fixed-schedule-start-offset",
    "Give one of them.",
  );
}

const OWN: readonly GenaiOption[] = RAMPART_OPTIONS;

function checkNeeds(rules: RuleSet): void {
  const { rampart, perfAnalyzer, subcommand, analyze } = rules.settings;
  const isAnalyzing = subcommand === "analyze";
  for (const kind of LOAD_NAMES) {
    const isGiven =
      perfAnalyzer.stimulus.kind === kind || (isAnalyzing && analyze.sweeps.some(({ type }) => type === kind));
    for (const { at, needs } of OWN) if (needs === kind && at !== undefined) rules.require(at, isGiven, flagOf(kind));
  }
  rules.require("rampart.rateSmoothness", rampart.rateDistribution === "gamma", "--request-rate-distribution gamma");
  rules.require("rampart.gracePeriodSec", rampart.durationSec !== null, "--benchmark-duration");
  rules.require("rampart.cancelDelaySec", rampart.cancelPct > 0, "--request-cancellation-rate");
  rules.require("rampart.searchLimits", isAnalyzing, "a sweep");
}

/** Checks which settings conflict with a duration and a warm-up. */
function checkPhases(rules: RuleSet): void {
  const { given, settings } = rules;
  const isCounted =
    rules.isChosen("perfAnalyzer.measurement.num") &&
    given.get("perfAnalyzer.measurement.num")?.source === given.get("rampart.durationSec")?.source;
  rules.refuse(
    settings.rampart.durationSec !== null && isCounted,
    "rampart.durationSec",
    "a duration cannot be given together with a number of requests or a measurement interval",
    "Leave one of them out.",
  );
  const { stimulus } = settings.perfAnalyzer;
  if (!loadOf(stimulus.kind).sendsOnce) return;
  const why = `is not possible with ${flagOf(stimulus.kind)}, which sends each of its requests once`;
  for (const at of ["rampart.durationSec", "rampart.plan.measurement.warmupMs"] as const)
    rules.refuse(rules.isChosen(at), at, `${nameOf(at)} ${why}`, "Leave it out.");
}

const RECORDS = "rampart.shared.records";

function checkRampartFiles(rules: RuleSet): void {
  const { settings } = rules;
  const files = rampartFilesOf(settings.rampart.shared).map((file) => ({ ...file, flag: nameOf(file.at) }));
  for (const { at, flag } of files) {
    const hint =
      at === RECORDS
        ? "Leave it out: each run's profile_export.json has its requests."
        : "Leave it out: each run has reports of its own.";
    rules.refuse(
      settings.subcommand === "analyze",
      at,
      `${flag} is the file of one run, and a sweep has many runs`,
      hint,
    );
  }
  for (const found of checkOutputFiles(files.map((file) => [file.flag, file.path]))) {
    const { path: flag, message, hint, value } = wordProblem(found);
    const at = files.find((file) => file.flag === flag)?.at ?? RECORDS;
    rules.refuse(true, at, `${value} ${message}`, hint);
  }
}
