import { checkOutputFiles } from "../../output-files.ts";
import type { GenaiSettings, SettingPath } from "../options/settings.ts";
import type { RuleSet } from "./rule-set.ts";
import { checkPhases, checkServers } from "./run-rules.ts";

/** What each of Rampart's own options needs beside it. */
export function checkOwn(rules: RuleSet): void {
  const { rampart, perfAnalyzer, subcommand } = rules.settings;
  const hasRate = perfAnalyzer.stimulus.kind === "request_rate" || isSweeping(rules.settings, "request_rate");
  const hasConcurrency = perfAnalyzer.stimulus.kind === "concurrency" || isSweeping(rules.settings, "concurrency");
  const hasSchedule = perfAnalyzer.stimulus.kind === "fixed_schedule";
  const needs = (at: SettingPath, flag: string, isThere: boolean, needed: string): void =>
    rules.refuse(
      rules.isChosen(at) && !isThere,
      at,
      flag,
      `${flag} needs ${needed}`,
      `Add ${needed}, or leave it out.`,
    );
  needs("rampart.rateDistribution", "--request-rate-distribution", hasRate, "--request-rate");
  needs("rampart.concurrencyLimit", "--concurrency-limit", hasRate, "--request-rate");
  needs("rampart.concurrencyRampSec", "--concurrency-ramp-duration", hasConcurrency, "--concurrency");
  needs("rampart.rateRampSec", "--request-rate-ramp-duration", hasRate, "--request-rate");
  const isGamma = rampart.rateDistribution === "gamma";
  needs("rampart.rateSmoothness", "--request-rate-smoothness", isGamma, "--request-rate-distribution gamma");
  for (const [at, flag] of [
    ["rampart.hasScheduleAutoOffset", "--fixed-schedule-auto-offset"],
    ["rampart.scheduleStartMs", "--fixed-schedule-start-offset"],
    ["rampart.scheduleEndMs", "--fixed-schedule-end-offset"],
    ["rampart.scheduleSpeedRatio", "--fixed-schedule-speed"],
  ] as const)
    needs(at, flag, hasSchedule, "--fixed-schedule");
  needs("rampart.gracePeriodSec", "--benchmark-grace-period", rampart.durationSec !== null, "--benchmark-duration");
  needs("rampart.cancelDelaySec", "--request-cancellation-delay", rampart.cancelPct > 0, "--request-cancellation-rate");
  checkPhases(rules);
  checkServers(rules);
  needs("rampart.searchLimits", "--search-limits", subcommand === "analyze", "a sweep");
  checkRecordsFile(rules);
  rules.refuse(
    rampart.isDryRun && rampart.searchLimits !== null,
    "rampart.isDryRun",
    "--dry-run",
    "--dry-run cannot tell what a search will measure, which depends on the server",
    "Leave out --search-limits to see the plans of the whole sweep.",
  );
  checkSchedulePart(rules);
}

function checkSchedulePart(rules: RuleSet): void {
  const { scheduleStartMs, scheduleEndMs, hasScheduleAutoOffset } = rules.settings.rampart;
  rules.refuse(
    scheduleStartMs !== null && scheduleEndMs !== null && scheduleEndMs < scheduleStartMs,
    "rampart.scheduleEndMs",
    "--fixed-schedule-end-offset",
    "the schedule ends before it starts",
    `Give ${scheduleStartMs} or more.`,
  );
  rules.refuse(
    scheduleStartMs !== null && hasScheduleAutoOffset,
    "rampart.hasScheduleAutoOffset",
    "--fixed-schedule-auto-offset",
    "the schedule begins either with its first request or at --fixed-schedule-start-offset",
    "Give one of them.",
  );
}

function checkRecordsFile(rules: RuleSet): void {
  const { rampart, subcommand } = rules.settings;
  const at = "rampart.recordsFile";
  const flag = "--records-file";
  if (rampart.recordsFile === "") return;
  rules.refuse(
    subcommand === "analyze",
    at,
    flag,
    `${flag} is the file of one run, and a sweep has many`,
    "Leave it out: each run's profile_export.json has its requests.",
  );
  for (const { message, hint, value } of checkOutputFiles([[flag, rampart.recordsFile]]))
    rules.refuse(true, at, flag, `${value} ${message}`, hint);
}

function isSweeping(settings: GenaiSettings, type: string): boolean {
  return settings.subcommand === "analyze" && settings.analyze.sweeps.some((sweep) => sweep.type === type);
}
