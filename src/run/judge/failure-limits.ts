import type { Text } from "../../plan/messages.ts";
import { defined, fieldOf } from "../../plan/objects.ts";
import type { Plan } from "../../plan/plan.ts";
import { RunError } from "../../plan/problem.ts";
import { countOf, formatPct, plural } from "../../plan/units.ts";
import { membersOf } from "../../registry/mix.ts";
import { type ServerTargetPlan, serviceKindOf, targetKindOf, urlsOf } from "../../registry/service-kinds.ts";
import type { LaneError } from "../../result/run-result.ts";
import { nowNs } from "../../runtime/clock.ts";
import { SENT_ERROR } from "../../service/response-faults.ts";
import { describeFailure, type Failure, isCancelled } from "../../transport/failure.ts";
import type { RunSignal } from "../interrupt.ts";
import { describeImpliedPort } from "../open/endpoint.ts";
import { answersNothing } from "../open/silent-server.ts";
import type { SenderState } from "../send/messages.ts";
import { FailureLog } from "./failure-log.ts";
import { Reachability } from "./reachability.ts";
import { hintToRaise, type ResponseCounts } from "./silence.ts";

/** Maximum probability of the observed failures under the allowed ratio, for ending a run of unknown length. */
const MAX_CHANCE = 1e-9;
const NEEDED_EVIDENCE = -Math.log(MAX_CHANCE);
/** Minimum number of ended requests for a decision when the total is unknown. */
const MIN_ENDED = 20;

/** The requests of a run so far. */
export interface FailureShare {
  /** Allowed ratio of failed requests, 0 to 1. */
  readonly maxRatio: number;
  readonly completedCount: number;
  readonly failedCount: number;
  /** Maximum number of requests; infinite when the load is limited by time. */
  readonly totalCount: number;
}

/**
 * Whether the ratio of failed requests is certain to end above the limit. With a known total, no number of later successes can prevent it.
 * Otherwise, the observed failures would have a probability below 1e-9 if the true ratio were at the limit (Chernoff bound of the binomial
 * distribution).
 */
export function isRatioExceeded({ maxRatio, completedCount, failedCount, totalCount }: FailureShare): boolean {
  if (Number.isFinite(totalCount)) return failedCount > maxRatio * totalCount;
  const endedCount = completedCount + failedCount;
  const ratio = failedCount / endedCount;
  if (endedCount < MIN_ENDED || ratio <= maxRatio) return false;
  return endedCount * divergence(ratio, maxRatio) >= NEEDED_EVIDENCE;
}

/** Returns the Kullback-Leibler divergence of two ratios, in nats. */
function divergence(ratio: number, expected: number): number {
  const succeeded = ratio === 1 ? 0 : (1 - ratio) * Math.log((1 - ratio) / (1 - expected));
  return ratio * Math.log(ratio / expected) + succeeded;
}

const MAX_LANE_ERRORS = 64;
/** Number of first responses after which the server counts as rejecting all requests, whatever their content. */
const FEW_REFUSED = 8;
/** The same for a server that reports that it is unavailable or responds with the same error, which may pass or depend on the content. */
const FEW_ALIKE = 32;
/** Not allowed (401, 403, 407), not found (404, 405, 410, 501), moved (301, 302, 307, 308). */
const REFUSING_STATUSES: readonly number[] = [301, 302, 307, 308, 401, 403, 404, 405, 407, 410, 501];
/** PERMISSION_DENIED, UNIMPLEMENTED and UNAUTHENTICATED. */
const REFUSING_GRPC_STATUSES: readonly number[] = [7, 12, 16];

/** Bad gateway, unavailable and gateway timeout: an overloaded server answers some requests with them. */
const UNAVAILABLE_STATUSES: readonly number[] = [502, 503, 504];

/** Timeout, conflict, too early and too many requests: another attempt may succeed. */
const PASSING_STATUSES: readonly number[] = [408, 409, 425, 429];
/** UNKNOWN, INVALID_ARGUMENT, NOT_FOUND and INTERNAL. */
const FAILING_GRPC_STATUSES: readonly number[] = [2, 3, 5, 13];

/** Reports whether the same response to all requests says that none will succeed. */
function failsAlike({ kind, status = 0 }: Failure): boolean {
  if (kind === "http") return status >= 400 && status <= 500 && !PASSING_STATUSES.includes(status);
  return kind === "unreadable" || (kind === "grpc" && FAILING_GRPC_STATUSES.includes(status));
}

function saysUnavailable({ kind, status = 0 }: Failure): boolean {
  return kind === "http" && UNAVAILABLE_STATUSES.includes(status);
}

/** Returns the error of a server that rejects all requests. */
function refused({ target }: Plan, failure: Failure): RunError {
  const isOfModel = lacksModel(target, failure);
  const isUnknown = failure.kind === "http" && failure.status === 404 && !isOfModel;
  const what = isUnknown
    ? "has no such path"
    : isForeign(failure)
      ? "gives no response of this API"
      : "refuses the requests";
  const message = `${urlsOf(target).join(", ")} ${what}: ${describeFailure(failure)}`;
  return new RunError("unreachable", message, hintFor(failure, isUnknown, isOfModel), { failure });
}

/** Whether a response is not of this API, not even an error. */
function isForeign({ kind, message }: Failure): boolean {
  return kind === "unreadable" && !message.startsWith(SENT_ERROR);
}

/** Words of servers that lack a model, unlike: this model's maximum context length is 4096 tokens. */
const LACKING = /\b(?:not (?:found|exist|ready|loaded|available)|unknown|no such|invalid model)/i;

/** Words of servers that lack a path, which may contain the name of a model. */
const LACKING_PATH = /\b(?:cannot (?:get|post)|path|route)\b/i;

/** Reports whether the server says that it lacks the model. */
function lacksModel(target: Plan["target"], { kind, status, message }: Failure): boolean {
  const model = fieldOf(target, "model");
  const isNamed = /\bmodel\b/i.test(message) || (typeof model === "string" && model !== "" && message.includes(model));
  const isNotFound = kind === "http" && status === 404 && !LACKING_PATH.test(message);
  return isNamed && (isNotFound || LACKING.test(message));
}

/** @param isUnknown whether the path does not exist @param isOfModel whether the server says that it lacks the model */
function hintFor(failure: Failure, isUnknown: boolean, isOfModel: boolean): Text {
  if (saysUnavailable(failure)) return "Is it still starting? Look at its log.";
  if (isUnknown || isForeign(failure)) return "Does it serve this API, under this path?";
  const remedy: Text = isOfModel ? { say: "check-model" } : "Correct the requests, or look at the server's log.";
  if (refusesAll(failure)) return isOfModel ? remedy : "Check the address, the method and the key.";
  return [remedy, " ", { say: "allow-all-failures" }];
}

/** Decides how failed requests affect the run. */
export class FailureLimits {
  readonly log = new FailureLog();
  isWarmingUp = false;
  readonly laneErrors: LaneError[] = [];
  private readonly plan: Plan;
  private readonly signal: RunSignal;
  private readonly progress: () => SenderState;
  private readonly reachability: Reachability;
  private readonly waitsForServer: boolean;
  private refusedCount = 0;
  /** The response that all requests have had, without its numbers. */
  private alikeText: string | undefined;
  /** Lanes with a rejected request. */
  private readonly refusedLanes = new Set<number>();

  /** @param progress returns the sender's latest counts */
  constructor(plan: Plan, signal: RunSignal, progress: () => SenderState) {
    this.progress = progress;
    this.plan = plan;
    this.signal = signal;
    this.waitsForServer = plan.behaviour?.waitsForServer === true;
    this.reachability = new Reachability(Math.max(1, new Set(urlsOf(plan.target)).size), this.waitsForServer);
  }

  /** @param sentNs start of sending the request */
  add(failure: Failure, lane: number, sentNs: number): void {
    this.log.add(failure, this.isWarmingUp);
    if (failure.kind === "aborted" || isCancelled(failure)) return;
    const message = describeFailure(failure);
    if (this.laneErrors.length < MAX_LANE_ERRORS && !this.laneErrors.some((entry) => entry.lane === lane)) {
      const { status, response } = failure;
      const facts = defined({ status, response });
      this.laneErrors.push({ lane, message, ...facts });
    }
    if (this.plan.failures.maxRatio === 0) {
      this.signal.fail(new RunError(kindOf(failure), message, { say: "allow-failures" }));
      return;
    }
    this.checkReachable(failure, sentNs);
    this.checkRefused(failure, lane);
    if (!this.isWarmingUp && this.isTooManyForSure()) this.endForRatio();
  }

  /**
   * Ends the run when the ratio of failed requests is above the limit, or the server has answered no request. Call at the end of a
   * measurement.
   */
  checkEnd(): void {
    const { maxRatio } = this.plan.failures;
    const { completedCount, failedCount } = this.progress();
    const total = completedCount + failedCount;
    if (maxRatio !== null && total > 0 && failedCount / total > maxRatio) this.endForRatio();
    const { unanswered } = this.reachability;
    const isMet =
      this.waitsForServer || completedCount > 0 || failedCount === 0 || urlsOf(this.plan.target).length === 0;
    if (isMet || unanswered === undefined || this.signal.isStopped) return;
    const { kind } = unanswered;
    const silentWithin = { timeout: "client.requestTimeoutMs", stalled: "client.stallTimeoutMs" } as const;
    const limit = silentWithin[kind as keyof typeof silentWithin] as
      | (typeof silentWithin)["timeout" | "stalled"]
      | undefined;
    const requests = countOf(failedCount, "request");
    this.signal.fail(
      limit === undefined
        ? cannotConnect(this.plan, unanswered)
        : answersNothing(this.plan, `to ${requests} in time`, hintToRaise(limit)),
    );
  }

  /** Counts the requests that the server has answered, including with an error. */
  responses(): ResponseCounts {
    const { completedCount, failedCount, outstanding } = this.progress();
    const isUnanswered = this.reachability.unanswered !== undefined;
    return { answeredCount: completedCount + (isUnanswered ? 0 : failedCount), outstanding };
  }

  private isTooManyForSure(): boolean {
    const { maxRatio } = this.plan.failures;
    if (maxRatio === null) return false;
    const { completedCount, failedCount, sentCount, quota } = this.progress();
    return isRatioExceeded({ maxRatio, completedCount, failedCount, totalCount: sentCount + quota });
  }

  private endForRatio(): void {
    const { maxRatio } = this.plan.failures;
    const { completedCount, failedCount } = this.progress();
    const total = completedCount + failedCount;
    const limit = formatPct(maxRatio ?? 0, 4);
    const example = this.log.list()[0]?.example ?? "";
    this.signal.fail(
      new RunError(
        "failed-request",
        `${failedCount} of ${total} ${plural(total, "request")} failed, more than the ${limit} allowed; for example: ${example}`,
        { say: "allow-more-failures" },
      ),
    );
  }

  /** Ends the run when the server rejects all requests: its responses say nothing about its speed. */
  private checkRefused(failure: Failure, lane: number): void {
    const { plan } = this;
    const { completedCount, failedCount, activeLanes, outstanding } = this.progress();
    const isRefused = refusesAll(failure);
    if (this.waitsForServer || completedCount > 0 || !(isRefused || saysUnavailable(failure) || this.isAlike(failure)))
      return;
    this.refusedCount++;
    this.refusedLanes.add(lane);
    // Counts of remote senders arrive after their failures. Until they include these failures, they may lack successes
    // too.
    const few = isRefused ? FEW_REFUSED : FEW_ALIKE;
    if (this.signal.isStopped || Math.min(this.refusedCount, failedCount) < few) return;
    // An overloaded server is still busy with the first requests that it accepted. A schedule has any number of them in flight.
    if (!isRefused && (this.refusedLanes.size < activeLanes || outstanding > activeLanes)) return;
    // Requests with other content may have another response.
    if (failsAlike(failure) && !isRefused && this.refusedCount < failedCount) return;
    this.signal.fail(refused(plan, failure));
  }

  /**
   * Whether a response is the same error as that of all requests before. Never if all requests may fail, and for the embedded target,
   * whose errors the user asked for.
   */
  private isAlike(failure: Failure): boolean {
    const { failures, target } = this.plan;
    if (failures.maxRatio === 1 || urlsOf(target).length === 0 || !failsAlike(failure)) return false;
    const text = failure.message.replace(/\d+/g, "");
    this.alikeText ??= text;
    return text === this.alikeText;
  }

  /** Ends the run in bounded time when the target no longer responds. */
  private checkReachable(failure: Failure, sentNs: number): void {
    const { lastSuccessNs, completedCount, outstanding, isSending } = this.progress();
    const context = { failedNs: nowNs(), lastSuccessNs, completedCount, outstanding, sentNs, isSending };
    const reach = this.reachability.judge(failure, context);
    if (reach === "reachable") return;
    // A process that has ended reports the reason.
    const endsUnmet = failure.kind === "connect" || (!this.waitsForServer && failure.isServerGone !== true);
    if (reach === "unreachable" && completedCount === 0 && endsUnmet) {
      this.signal.fail(cannotConnect(this.plan, failure));
      return;
    }
    const [message, hint]: readonly [string, Text] =
      reach === "stalled"
        ? ["the target stopped answering", { say: "look-or-wait" }]
        : [
            "the target can no longer be reached",
            completedCount === 0
              ? "Is the server still running?"
              : `It answered ${countOf(completedCount, "request")} before. Has it stopped? Look at its log.`,
          ];
    this.signal.fail(new RunError(reach, `${message}: ${describeFailure(failure)}`, hint));
  }
}

/** Reports whether a response says that no such request will succeed. */
function refusesAll({ kind, status = 0 }: Failure): boolean {
  if (kind === "http") return REFUSING_STATUSES.includes(status);
  return kind === "grpc" && REFUSING_GRPC_STATUSES.includes(status);
}

/** Whether a target's requests are prompts, which take long, so that there are few of them. */
export function takesPrompts({ target }: Plan): boolean {
  const kind = targetKindOf(target);
  return urlsOf(target).length > 0 && kind.takes(target) === "payloads" && kind.hasShortRequests !== true;
}

/** A longer reason usually quotes the bytes of another protocol. */
const MOST_REASON = 80;

/** Returns the error of a target to which no connection could be opened. */
export function cannotConnect({ target }: Plan, failure: Failure): RunError {
  const urls = [...new Set(describePlaces(target))].join(", ");
  const why = describeFailure(failure);
  const reason = why === "" || why.length > MOST_REASON ? "" : `: ${why}`;
  const what =
    {
      protocol: `does not answer in this protocol${reason}`,
      closed: `closes connections without a complete response${reason}`,
    }[failure.kind as string] ?? "";
  const message = what === "" ? `cannot connect to ${urls}: ${why}` : `${urls} ${what}`;
  return new RunError("unreachable", message, "Is the server running, and is this its address?", { failure });
}

/** Returns the addresses of a target, with the port that is used for an address without one. */
function describePlaces(target: Plan["target"]): string[] {
  const members = membersOf(target);
  if (members.length > 0) return members.flatMap((member) => describePlaces(member.target));
  return urlsOf(target).map((url) => {
    const { defaultPort } = serviceKindOf(target as ServerTargetPlan).address(target as ServerTargetPlan);
    const implied = describeImpliedPort({ url, defaultPort });
    return `${url}${implied && ` (${implied})`}`;
  });
}

function kindOf(failure: Failure): "unreachable" | "stalled" | "failed-request" {
  if (failure.kind === "connect" || failure.kind === "tls" || failure.kind === "closed") return "unreachable";
  return failure.kind === "stalled" || failure.kind === "timeout" ? "stalled" : "failed-request";
}
