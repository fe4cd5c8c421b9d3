import type { PhasedLoad, PreparedPhase } from "../../load/load-mode.ts";
import { type LevelLadder, LoadSearch, type LoadState, ladderOf } from "../../load/search.ts";
import { isPastKnee, type LoadPoint } from "../../measure/knee.ts";
import type { MeasurementModePlan, Plan } from "../../plan/plan.ts";
import type { LevelResult } from "../../result/run-result.ts";
import type { RunSignal } from "../interrupt.ts";
import type { LoadStep } from "../send/messages.ts";

/** The result of a level for the search. `ended`: it is not stable, or ended early. */
export type LevelVerdict = LoadState | "ended";

/** Returns the verdict on a level. */
export function verdictOf({ outcome, limits }: Pick<LevelResult, "outcome" | "limits">): LevelVerdict {
  if (outcome === "over-limit") return "broken";
  if (outcome !== "measured") return "ended";
  // A load that could not be sent is the end, whatever its limits say: more of it cannot be sent either.
  return limits?.reason === undefined ? (limits?.state ?? "kept") : "broken";
}

/** Returns the largest accepted difference between the ends of a search, as a ratio; undefined where levels are not measured for limits. */
export function withinOf(mode: MeasurementModePlan): number | undefined {
  return mode.kind === "until-resolved" ? mode.withinRatio : undefined;
}

/** What the steps of a load have in common. */
interface StepParts {
  readonly phases: readonly PreparedPhase[];
  /** The mode of phases without their own. */
  readonly mode: MeasurementModePlan;
  /** Whether a linear search measures levels again before it ends at them. perf_analyzer uses the first measurement. */
  readonly isConfirmed: boolean;
}

/** Where a search stands in a phase. */
interface Place {
  readonly phaseIndex: number;
  readonly ladder: LevelLadder;
  readonly search: LoadSearch;
  readonly rung: number;
  /** What was measured before, for a search that ends at the knee. */
  readonly points: readonly LoadPoint[];
}

/** A level of a phase that is to be measured once. It knows which one follows, by the search of its phase, and does not change. */
export class Step {
  private readonly parts: StepParts;
  private readonly place: Place;
  readonly phase: PreparedPhase;
  /** Concurrency or request rate. */
  readonly level: number;
  /** The level, for the sender. */
  readonly load: LoadStep;
  readonly mode: MeasurementModePlan;

  private constructor(parts: StepParts, place: Place) {
    const { phaseIndex, ladder, search, rung } = place;
    this.parts = parts;
    this.place = place;
    this.phase = parts.phases[phaseIndex] as PreparedPhase;
    this.level = ladder.levelAt(rung);
    this.load = { phaseIndex, level: this.level, draw: search.count };
    this.mode = this.phase.plan.mode ?? parts.mode;
  }

  /** Returns the first step of a plan's load. */
  static first({ phases }: Pick<PhasedLoad, "phases">, { behaviour, measurement }: Plan): Step | undefined {
    const isConfirmed = behaviour?.measuresLevelsOnce !== true && measurement.latencyLimitMs !== null;
    return Step.of({ phases, mode: measurement.mode, isConfirmed }, 0);
  }

  /** Returns the first step of a phase; undefined after the last one. */
  private static of(parts: StepParts, phaseIndex: number): Step | undefined {
    const phase = parts.phases[phaseIndex];
    if (phase === undefined) return undefined;
    const { search } = phase.load;
    const within = withinOf(phase.plan.mode ?? parts.mode);
    const ladder = ladderOf(search, within);
    const isConfirmed = parts.isConfirmed && phase.label === undefined && search.search === "linear";
    return new Step(parts, {
      ...{ phaseIndex, ladder, rung: ladder.first },
      search: new LoadSearch(ladder, isConfirmed ? "steps" : "none", within),
      points: [],
    });
  }

  get phaseIndex(): number {
    return this.place.phaseIndex;
  }

  get isWarmup(): boolean {
    return this.phase.plan.isWarmup === true;
  }

  /** Number of earlier measurements of the level. */
  get repeat(): number {
    const { search, rung } = this.place;
    return search.timesTried(rung);
  }

  /**
   * Returns the step that follows a verdict on this one: of the same phase, or the first of the next phase. A level that is not stable ends its phase.
   * @param perSec its throughput, which ends a search for the knee. Default: it is not known, and the search continues
   */
  after(verdict: LevelVerdict, perSec?: number): Step | undefined {
    const { parts, place } = this;
    const { search: kind } = this.phase.load.search;
    const points = perSec === undefined ? place.points : [...place.points, { load: this.level, perSec }];
    const isOver = kind === "knee" && isPastKnee(points);
    // In a binary search, an unstable level is one over the limit, like in perf_analyzer.
    if (!isOver && (verdict !== "ended" || kind === "binary")) {
      const search = place.search.with(place.rung, verdict === "ended" ? "broken" : verdict);
      const rung = search.next();
      if (rung !== undefined) return new Step(parts, { ...place, search, rung, points });
    }
    return Step.of(parts, place.phaseIndex + 1);
  }
}

/** Runs steps until none follows or the run is stopped. @param run runs a step, and returns the one that follows it */
export async function runSteps(
  first: Step | undefined,
  signal: Pick<RunSignal, "isStopped">,
  run: (step: Step) => Promise<Step | undefined>,
): Promise<void> {
  for (let step = first; step !== undefined; ) {
    const next: Step | undefined = await run(step);
    step = signal.isStopped ? undefined : next;
  }
}
