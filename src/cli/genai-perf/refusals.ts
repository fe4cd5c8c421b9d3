import type { Problem } from "../../plan/problem.ts";
import { formatOf } from "./endpoint-formats.ts";
import type { GivenFlag } from "./parse.ts";
import type { GenaiSettings } from "./settings.ts";

/** What this version cannot do yet: it is said before anything is sent or written. */

/** Everything that was asked for and is not there yet. */
export function findLater(settings: GenaiSettings, later: readonly GivenFlag[]): Problem[] {
  const { endpoint, input, output, perfAnalyzer, rampart } = settings;
  const asked: (readonly [isAsked: boolean, what: string])[] = [
    ...later.map(({ typed }) => [true, typed] as const),
    [formatOf(endpoint) === undefined, `--endpoint-type ${endpoint.type}`],
    [perfAnalyzer.stimulus.kind === "session_concurrency", "--session-concurrency"],
    [input.sessions.count > 0, "--num-sessions"],
    [output.isPlotting, "--generate-plots"],
    [output.isCheckpointing, "--enable-checkpointing"],
    [input.image.widthPx.mean > 0 || input.image.heightPx.mean > 0, "synthetic images (--image-width-mean)"],
    [input.audio.lengthSec.mean > 0, "synthetic audio (--audio-length-mean)"],
    [rampart.rateDistribution === "gamma", "a gamma distribution of request times"],
    [rampart.concurrencyLimit !== null, "a rate with a concurrency cap"],
    [rampart.concurrencyRampSec !== null || rampart.rateRampSec !== null, "a ramp"],
    [rampart.durationSec !== null, "a duration"],
    [rampart.warmupSec !== null, "a warm-up by time"],
    [rampart.hasScheduleAutoOffset || rampart.scheduleStartMs !== null, "an offset in a schedule"],
    [rampart.scheduleEndMs !== null || rampart.scheduleSpeedRatio !== 1, "a part or another speed of a schedule"],
    [rampart.cancelPct > 0, "cancelled requests"],
    [rampart.moreUrls.length > 0, "several URLs"],
    [rampart.searchLimits !== null, "a search"],
    [rampart.recordsFile !== "", "records in JSON Lines"],
    [rampart.isLive, "a live view"],
  ];
  const names = new Set(asked.flatMap(([isAsked, what]) => (isAsked ? [what] : [])));
  return [...names].map((what) => ({ path: what, message: `${what} is not supported yet`, hint: "Leave it out." }));
}
