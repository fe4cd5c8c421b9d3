import type { Plan } from "../plan/plan.ts";
import { RunError } from "../plan/problem.ts";
import { nowNs } from "../runtime/clock.ts";
import { describeFailure, type Failure, isGivenUp } from "../transport/failure.ts";
import type { EndedCounts } from "./ended-requests.ts";
import { FailureLog } from "./failure-log.ts";
import type { LaneError } from "./observer.ts";
import { Reachability } from "./reachability.ts";
import type { RunSignal } from "./run-signal.ts";

const MAX_LANE_ERRORS = 64;

/** Decides what failed requests do to the run. */
export class FailurePolicy {
  readonly log = new FailureLog();
  /** Whether what fails is before the measurement. */
  isWarmingUp = false;
  readonly laneErrors: LaneError[] = [];
  private readonly plan: Plan;
  private readonly signal: RunSignal;
  private readonly ended: EndedCounts;
  private readonly reachability: Reachability;

  constructor(plan: Plan, signal: RunSignal, ended: EndedCounts) {
    this.plan = plan;
    this.signal = signal;
    this.ended = ended;
    const { target } = plan;
    const urls = target.kind === "embedded" ? [""] : [target.url, ...(target.moreUrls ?? [])];
    this.reachability = new Reachability(new Set(urls).size);
  }

  add(failure: Failure, lane: number): void {
    this.log.add(failure, this.isWarmingUp);
    if (failure.kind === "aborted" || isGivenUp(failure)) return;
    const message = describeFailure(failure);
    if (this.laneErrors.length < MAX_LANE_ERRORS && !this.laneErrors.some((entry) => entry.lane === lane)) {
      const { status, answer } = failure;
      this.laneErrors.push({ lane, message, ...(answer === undefined ? {} : { status, answer }) });
    }
    if (this.plan.failures.maxRatio === 0) {
      this.signal.fail(
        new RunError(kindOf(failure), message, "Give --max-failure-ratio to go on in spite of failed requests."),
      );
      return;
    }
    this.checkReachable(failure);
  }

  /** Ends the run when too large a share of the requests has failed. */
  checkRatio(): void {
    const { maxRatio } = this.plan.failures;
    const { completedCount, failedCount } = this.ended;
    const total = completedCount + failedCount;
    if (maxRatio === null || total === 0 || failedCount / total <= maxRatio) return;
    const example = this.log.list()[0]?.example ?? "";
    this.signal.fail(
      new RunError(
        "failed-request",
        `${failedCount} of ${total} requests failed, more than the ${maxRatio * 100} % allowed; for example: ${example}`,
        "Raise --max-failure-ratio or look at the server.",
      ),
    );
  }

  /** A target that answers nothing any more ends the run in bounded time. */
  private checkReachable(failure: Failure): void {
    const { lastSuccessNs } = this.ended;
    if (failure.kind === "stalled") {
      const silentNs = nowNs() - lastSuccessNs;
      if (silentNs >= this.plan.client.stallTimeoutMs * 1e6) {
        this.signal.fail(
          new RunError(
            "stalled",
            `the target stopped answering: ${describeFailure(failure)}`,
            "Look at the server, or raise --stall-timeout.",
          ),
        );
      }
      return;
    }
    if (!this.reachability.isGone(failure, nowNs(), lastSuccessNs)) return;
    this.signal.fail(
      new RunError(
        "unreachable",
        `the target can no longer be reached: ${describeFailure(failure)}`,
        "Is the server still running?",
      ),
    );
  }
}

function kindOf(failure: Failure): "unreachable" | "stalled" | "failed-request" {
  if (failure.kind === "connect" || failure.kind === "tls" || failure.kind === "closed") return "unreachable";
  return failure.kind === "stalled" ? "stalled" : "failed-request";
}
