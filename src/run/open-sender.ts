import type { RecordColumns } from "../measure/records.ts";
import { loadModeOf } from "../registry/load-modes.ts";
import { targetKindOf } from "../registry/service-kinds.ts";
import { HealthMonitor } from "../telemetry/health-monitor.ts";
import { LevelMeter } from "./count/level-meter.ts";
import { createJudge } from "./mix/create-judge.ts";
import type { SenderParts } from "./run-parts.ts";
import type { DriverWork } from "./send/driver-work.ts";
import { LocalSender } from "./send/local-sender.ts";
import type { LoadSender, SenderListener } from "./send/messages.ts";
import { sessionsOf } from "./send/session-feed.ts";

/** Opens the sender of this thread. @param listener hears of what ends */
export function openSender(parts: SenderParts, listener: SenderListener): LoadSender {
  const { plan, session, feed, driver, groups } = parts;
  const meter = new LevelMeter();
  const judge = createJudge(parts, (values, atNs, group) => {
    meter.addExtracted(values, atNs, group);
    listener.extracted(values, atNs, group);
  });
  const sessions = sessionsOf(feed);
  const judgeCall: DriverWork["judge"] = (call, slots) => judge.judge(call, slots);
  driver.setWork({
    feed,
    groups,
    needsBodies: judge.needsBodies,
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

/** Returns the due time of each step, when the load follows the data. */
export function timestampsOf({ plan, session }: Pick<SenderParts, "plan" | "session">): readonly number[] {
  if (loadModeOf(plan.load).dataOrder !== "at-times") return [];
  return (session.dataset.streams[0] ?? []).map(({ timestampMs = 0 }) => timestampMs);
}
