import { LEVEL_UNITS } from "../../load/level-units.ts";
import { largestLevel, rangeOf } from "../../load/levels.ts";
import type { LevelSearch } from "../../load/load-mode.ts";
import { Sequences } from "../../load/sequences.ts";
import { type Share, WHOLE } from "../../load/share.ts";
import type { Plan } from "../../plan/plan.ts";
import { RunError } from "../../plan/problem.ts";
import { inputKindOf } from "../../registry/input-kinds.ts";
import { loadModeOf } from "../../registry/load-modes.ts";
import { membersOf } from "../../registry/mix.ts";
import { createRandom, seedOfNumber } from "../../runtime/random.ts";
import type { LaneOptions } from "../lanes.ts";
import type { MixSession, Session, TargetSession } from "../open/session.ts";
import { type Feed, RequestFeed } from "../send/feed.ts";
import { SessionFeed } from "../send/session-feed.ts";
import { MixedFeed } from "./mixed-feed.ts";

/** Seed for sequence lengths and data streams, in a run with seed 0. */
const SEQUENCE_SEED = 5489;

/** Options of a source of requests, besides the models. */
export interface FeedOptions {
  readonly plan: Plan;
  readonly search: LevelSearch;
  readonly lanes: LaneOptions;
  /** Index of the sender and number of senders. Default: one sender. */
  readonly senders?: Share | undefined;
}

/** Creates the source of requests for known models. @throws RunError when sequences or sessions are not possible */
export function createFeed(session: Session, options: FeedOptions): Promise<Feed> {
  return session.members === undefined ? createTargetFeed(session, options) : createMixedFeed(session, options);
}

/** Like {@link createFeed}, for a target that is not a mix. */
export async function createTargetFeed(
  session: TargetSession,
  { plan, search, lanes, senders = WHOLE }: FeedOptions,
): Promise<RequestFeed> {
  const { service, dataset, shared } = session;
  const { isSync } = lanes;
  if (loadModeOf(plan.load).dataOrder === "in-sessions") return createSessionFeed(session, senders, plan.seed);
  const usesIds = !isSync || service.wire === "grpc-stream";
  const sequences = service.isSequence ? await createSequences(plan, search, dataset, { isSync, senders }) : undefined;
  const isInOrder =
    inputKindOf(plan.inputs).isInOrder?.(plan.inputs) === true || loadModeOf(plan.load).sharesSteps === true;
  const countsCut = plan.behaviour?.countsCutSequences === true;
  return new RequestFeed(service, dataset, { usesIds, sequences, countsCut, shared, isInOrder, senders });
}

/** A member's requests come from any lane, so each one takes the next step of the member's data. */
async function createMixedFeed(
  { dataset, members }: MixSession,
  { plan: { target }, lanes: { isSync }, senders = WHOLE }: FeedOptions,
): Promise<Feed> {
  const feeds = members.map(({ session }, index) => {
    const usesIds = !isSync || session.service.wire === "grpc-stream";
    const feed = new RequestFeed(session.service, session.dataset, { usesIds, isInOrder: true, senders });
    // The mix itself skips the steps of other senders.
    feed.ownPart(WHOLE);
    const stepCount = dataset.streams[index]?.length ?? 0;
    return { feed, stepCount, weight: membersOf(target)[index]?.weight ?? 1 };
  });
  const mixed = new MixedFeed(feeds);
  mixed.ownPart(senders);
  return mixed;
}

async function createSessionFeed(
  { service, dataset }: TargetSession,
  senders: Share,
  seed: number | undefined,
): Promise<RequestFeed> {
  if (service.conversations === undefined) {
    const message = "this kind of server has no conversations, which sessions need";
    throw new RunError("unsupported", message, "Use a concurrency or a request rate.");
  }
  return new SessionFeed(service, dataset, await service.conversations(), { senders, seed });
}

async function createSequences(
  plan: Plan,
  search: LevelSearch,
  dataset: Session["dataset"],
  { isSync, senders }: { readonly isSync: boolean; readonly senders: Share },
): Promise<Sequences> {
  if (!LEVEL_UNITS[search.unit].isScheduled && !isSync) checkEnd(search);
  checkIds(plan, search);
  if (loadModeOf(plan.load).dataOrder === "at-times")
    throw new RunError(
      "unsupported",
      "a fixed schedule sends each entry of the data at its own time, but this model takes whole sequences",
      "Measure sequences with a concurrency or a request rate.",
    );
  return new Sequences({
    plan: plan.sequences,
    streamLengths: dataset.isFromJson ? dataset.streams.map((steps) => steps.length) : [],
    random: createRandom(seedOfNumber(SEQUENCE_SEED, "draw", plan.seed ?? 0)),
    senders,
  });
}

/** Like perf_analyzer, requires an end of the concurrency range for asynchronous sequences. */
function checkEnd({ levels }: LevelSearch): void {
  const range = rangeOf(levels);
  if (range === undefined || (range.end !== null && range.isThreadLimited !== true)) return;
  const message = "The 'end' concurrency can not be 0 for sequence models when using asynchronous API.";
  throw new RunError("unsupported", message, "Give the concurrency an end.");
}

function checkIds({ sequences }: Plan, search: LevelSearch): void {
  const { isScheduled } = LEVEL_UNITS[search.unit];
  const atOnce = isScheduled ? Math.max(sequences.concurrent, search.maxConcurrency ?? 0) : largestLevel(search.levels);
  const { idCount } = sequences;
  if (idCount === null || (atOnce !== undefined && idCount >= atOnce)) return;
  const most = isScheduled ? "number of sequences" : "concurrency";
  throw new RunError(
    "unsupported",
    `sequence id range specified is smaller than the maximum possible ${most}, sequence id collision may occur.`,
    atOnce === undefined ? { say: "end-or-no-ids" } : { say: "more-ids", atOnce },
  );
}
