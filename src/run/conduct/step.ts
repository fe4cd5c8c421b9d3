import type { PhasedLoad, PreparedPhase } from "../../load/load-mode.ts";
import { type LevelLadder, LoadSearch, type LoadState, ladderOf } from "../../load/search.ts";
import { isPastKnee, type LoadPoint } from "../../measure/knee.ts";
import type { MeasurementModePlan, Plan } from "../../plan/plan.ts";
import type { LevelResult } from "../../result/run-result.ts";
import type { RunSignal } from "../interrupt.ts";
import type { LoadStep } from "../send/messages.ts";

/** A level's result for the search. `ended`: the level is not stable, or ended early. */
export type LevelVerdict = LoadState | "ended";

export function verdictOf({ outcome, limits }: Pick<LevelResult, "outcome" | "limits">): LevelVerdict {
  if (outcome === "over-limit") return "broken";
  if (outcome !== "measured") return "ended";
  // A load that could not be sent ends the search, whatever its limits say: a higher one cannot be sent either.
  return limits?.reason === undefined ? (limits?.state ?? "kept") : "broken";
}

/** Returns the largest accepted difference between the ends of a search, as a ratio; undefined where levels are not measured for limits. */
export function withinOf(mode: MeasurementModePlan): number | undefined {
  return mode.kind === "until-resolved" ? mode.withinRatio : undefined;
}

/** Parts that all steps of a load share. */
interface StepParts {
  readonly phases: readonly PreparedPhase[];
  /** Mode of phases that set none. */
  readonly mode: MeasurementModePlan;
  /** Whether a linear search measures levels again before it ends at them. perf_analyzer uses the first measurement. */
  readonly isConfirmed: boolean;
}

/** Position of a search in a phase. */
interface Place {
  readonly phaseIndex: number;
  readonly ladder: LevelLadder;
  readonly search: LoadSearch;
  readonly rung: number;
  /** Earlier points, for a search that ends at the knee. */
  readonly points: readonly LoadPoint[];
}

/** A single measurement of a level of a phase. It finds the next step by the search of its phase, and is immutable. */
export class Step {
  private readonly parts: StepParts;
  private readonly place: Place;
  readonly phase: PreparedPhase;
  /** Concurrency or request rate. */
  readonly level: number;
  /** The level as the sender gets it. */
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
   * Returns the step that follows a verdict on this one: in the same phase, or the first of the next phase. An unstable level ends its
   * phase.
   * @param perSec throughput of this step, which ends a search for the knee. Default: unknown, and the search continues
   */
  after(verdict: LevelVerdict, perSec?: number): Step | undefined {
    const { parts, place } = this;
    const { search: kind } = this.phase.load.search;
    const points = perSec === undefined ? place.points : [...place.points, { load: this.level, perSec }];
    const isOver = kind === "knee" && isPastKnee(points);
    // In a binary search, an unstable level counts as over the limit, like in perf_analyzer.
    if (!isOver && (verdict !== "ended" || kind === "binary")) {
      const search = place.search.with(place.rung, verdict === "ended" ? "broken" : verdict);
      const rung = search.next();
      if (rung !== undefined) return new Step(parts, { ...place, search, rung, points });
    }
    return Step.of(parts, place.phaseIndex + 1);
  }
}

/** Runs steps until none follows or the run is stopped. @param run runs a step, and returns the next one */
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
