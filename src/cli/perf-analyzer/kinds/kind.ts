import type { InputsPlan, TargetPlan } from "../../../plan/plan.ts";
import type { TlsPlan } from "../../../plan/tls.ts";
import type { ServerTargetPlan } from "../../../registry/service-kinds.ts";
import type { LaneError } from "../../../result/run-result.ts";
import type { Rule } from "../rule.ts";
import type { Feature, Settings } from "../settings.ts";

/** A value of `--service-kind`: everything that perf_analyzer mode needs to know about it. */
export interface PerfAnalyzerKind {
  /** Its name and a description, for the help of `--service-kind`: `openai, which …`. */
  readonly help: string;
  /** The features that it has. perf_analyzer's options of other features are ignored, with a note. */
  readonly features: readonly Feature[];
  /** Returns whether it ignores this option too, with a note. Absent: none. */
  ignores?(flag: string): boolean;
  /** True if payloads may belong to sessions. Absent: false. */
  readonly hasSessions?: true;
  /** Adapts settings that this kind determines, such as its only protocol, before rules are checked. Absent: none. */
  prepare?(settings: Settings): void;
  /** Returns perf_analyzer's rules for this kind, in its words if they are known. */
  rules(settings: Settings): readonly Rule[];
  toTarget(settings: Settings, server: ServerPlace): ServerTargetPlan;
  /** Converts `--input-data`. Absent: random data, zeros, JSON files or a directory of tensors. */
  toInputs?(settings: Settings, paths: readonly string[]): InputsPlan;
  /** Returns a sentence for each part of its target that no flag can express. Absent: none. */
  notes?(target: TargetPlan): readonly string[];
  /** Formats a failed request like perf_analyzer's client for this kind. Absent: its message. */
  wordFailure?(error: LaneError): string;
}

/** Address of the server. */
export interface ServerPlace {
  readonly url: string;
  readonly tls: TlsPlan;
}
