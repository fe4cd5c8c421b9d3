import type { Problem } from "../../plan/problem.ts";
import { formatOf } from "./endpoint-formats.ts";
import type { LaterSetting } from "./read-settings.ts";
import { type GenaiSettings, isDefault } from "./settings.ts";
import type { GivenSettings } from "./settings-builder.ts";

/** What this version cannot do yet: it is said before anything is sent or written. */

/** Everything that was asked for and is not there yet. @param later settings that nothing obeys, whatever their value */
export function findLater(settings: GenaiSettings, given: GivenSettings, later: readonly LaterSetting[]): Problem[] {
  const { endpoint, input, output, perfAnalyzer, rampart } = settings;
  const { image, audio, sessions } = input;
  const asked: (readonly [isAsked: boolean, what: string])[] = [
    [formatOf(endpoint) === undefined, `--endpoint-type ${endpoint.type}`],
    [perfAnalyzer.stimulus.kind === "session_concurrency", "--session-concurrency"],
    [sessions.count > 0, "--num-sessions"],
    [
      given.has("endpoint.serverMetricsUrls") && !isDefault(settings, "endpoint.serverMetricsUrls"),
      "--server-metrics-urls",
    ],
    [output.isPlotting, "--generate-plots"],
    [output.isCheckpointing, "--enable-checkpointing"],
    [image.widthPx.mean > 0 || image.heightPx.mean > 0, "--image-width-mean"],
    [audio.lengthSec.mean > 0, "--audio-length-mean"],
    [rampart.rateDistribution === "gamma", "--request-rate-distribution gamma"],
  ];
  const places = [
    ...later.map(({ place, flag }) => (place.startsWith("-") ? flag : `${place}: ${flag}`)),
    ...asked.flatMap(([isAsked, what]) => (isAsked ? [what] : [])),
  ];
  return places.map((what) => ({ path: what, message: `${what} is not supported yet`, hint: "Leave it out." }));
}
