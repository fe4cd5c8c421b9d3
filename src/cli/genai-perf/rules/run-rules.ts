import { parseUrl } from "../../../run/target/endpoint.ts";
import type { SettingPath } from "../options/settings.ts";
import type { RuleSet } from "./rule-set.ts";

/** Rules on how long is measured, and where. */

/** It does not matter which: the service has its own. */
const ANY_PORT = 1;

/** What a duration and a warm-up cannot be given beside. */
export function checkPhases(rules: RuleSet): void {
  const { rampart, perfAnalyzer } = rules.settings;
  const { given } = rules;
  const duration = given.get("rampart.durationSec");
  rules.refuse(
    rampart.durationSec !== null &&
      rules.isChosen("perfAnalyzer.measurement.num") &&
      given.get("perfAnalyzer.measurement.num")?.source === duration?.source,
    "rampart.durationSec",
    "--benchmark-duration",
    "a duration cannot be given together with a number of requests or a measurement interval",
    "Leave one of them out.",
  );
  const { kind } = perfAnalyzer.stimulus;
  if (kind !== "fixed_schedule" && kind !== "session_concurrency") return;
  const load = kind === "fixed_schedule" ? "--fixed-schedule" : "--session-concurrency";
  for (const [at, flag] of [
    ["rampart.durationSec", "--benchmark-duration"],
    ["rampart.warmupSec", "--warmup-duration"],
  ] as const)
    rules.refuse(
      rules.isChosen(at),
      at,
      flag,
      `${flag} is not possible with ${load}, which sends each of its requests once`,
      "Leave it out.",
    );
}

/** Addresses of servers, which are looked at before anything is written. */
export function checkServers(rules: RuleSet): void {
  const { endpoint, rampart } = rules.settings;
  checkUrl(rules, "endpoint.url", "--url", endpoint.url);
  for (const url of rampart.moreUrls) checkUrl(rules, "rampart.moreUrls", "--more-urls", url);
}

function checkUrl(rules: RuleSet, at: SettingPath, flag: string, url: string): void {
  rules.refuse(
    !isAddress(url),
    at,
    flag,
    `${url === "" ? "an empty text" : url} is not an address`,
    "Write host:port, http://host:port or https://host:port.",
  );
}

function isAddress(url: string): boolean {
  try {
    parseUrl(url, ANY_PORT);
    return true;
  } catch {
    return false;
  }
}
