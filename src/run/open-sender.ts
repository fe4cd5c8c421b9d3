import type { RecordColumns } from "../measure/records.ts";
import { loadModeOf } from "../registry/load-modes.ts";
import { targetKindOf } from "../registry/service-kinds.ts";
import { HealthMonitor } from "../telemetry/health-monitor.ts";
import { LevelMeter } from "./count/level-meter.ts";
import { createJudge } from "./mix/create-judge.ts";
import type { JudgedRequests, SenderParts } from "./run-parts.ts";
import type { DriverWork } from "./send/driver-work.ts";
import { LocalSender } from "./send/local-sender.ts";
import type { LoadSender, SenderListener } from "./send/messages.ts";
import { type SessionFeed, sessionsOf } from "./send/session-feed.ts";

/** Opens the sender of this thread. @param listener hears of what ends */
export function openSender(parts: SenderParts, listener: SenderListener): LoadSender {
  const { plan, session, feed, driver, groups, requests } = parts;
  const meter = new LevelMeter();
  const judge = createJudge(parts, (values, atNs, group) => {
    meter.addExtracted(values, atNs, group);
    listener.extracted(values, atNs, group);
  });
  const sessions = sessionsOf(feed);
  const judgeAlone: DriverWork["judge"] = (call, slots) => judge.judge(call, slots);
  const judgeCall = requests === undefined ? judgeAlone : passOn(requests, judgeAlone, sessions);
  driver.setWork({
    feed,
    groups,
    needsBodies: judge.needsBodies,
    needsHeaders: judge.needsHeaders,
    createCheck: judge.createCheck,
    canWait: judge.canWait,
    readsFirst: session.service.readsFirst === true,
    onRecords: (records: RecordColumns, count: number) => {
      meter.add(records, count);
      listener.records(records, count);
    },
    judge: sessions?.follow(judgeCall) ?? judgeCall,
    onFailure: (failure, lane, sentNs) => listener.failed(failure, lane, sentNs),
    onLimit: (wanted) => listener.limited(wanted),
    onError: (error) => listener.broken(error),
  });
  const health = new HealthMonitor(driver.clock, targetKindOf(plan.target).isInProcess === true);
  return new LocalSender({ ...parts, meter, health, sessions, timestampsMs: timestampsOf(parts) });
}

/** Wraps a judge so that each judged request is passed on. What sessions send does not follow from the data. */
function passOn(
  requests: JudgedRequests,
  judge: DriverWork["judge"],
  sessions: Pick<SessionFeed, "contentOf"> | undefined,
): DriverWork["judge"] {
  return (call, slots) => {
    const failure = judge(call, slots);
    requests.add(call, slots, failure, sessions?.contentOf(slots.steps[call.slot] as number));
    return failure;
  };
}

/** Returns the due time of each step, when the load follows the data. */
export function timestampsOf({ plan, session }: Pick<SenderParts, "plan" | "session">): readonly number[] {
  if (loadModeOf(plan.load).dataOrder !== "at-times") return [];
  return (session.dataset.streams[0] ?? []).map(({ timestampMs = 0 }) => timestampMs);
}
