import type { ExpectedOutput } from "../../inputs/batches.ts";
import { type Share, WHOLE } from "../../load/share.ts";
import type { RequestContent } from "../../service/content.ts";
import type { WireRequest } from "../../transport/request.ts";
import type { Feed, RequestFeed } from "../send/feed.ts";

/**
 * Takes turns by weight, spread as evenly as possible: smooth weighted round robin. After every sum-of-weights turns, each index has had
 * exactly its weight of turns. Where weights have a common divisor, this holds after fewer turns.
 */
export class WeightedTurns {
  private readonly weights: readonly number[];
  private readonly sum: number;
  private readonly credits: number[];

  /** @param weights whole numbers of 1 or more */
  constructor(weights: readonly number[]) {
    this.weights = weights;
    this.sum = weights.reduce((sum, weight) => sum + weight, 0);
    this.credits = weights.map(() => 0);
  }

  /** Returns the index whose turn it is. */
  next(): number {
    const { weights, credits } = this;
    let best = 0;
    for (let index = 0; index < weights.length; index++) {
      const credit = (credits[index] as number) + (weights[index] as number);
      credits[index] = credit;
      if (credit > (credits[best] as number)) best = index;
    }
    credits[best] = (credits[best] as number) - this.sum;
    return best;
  }

  /** Starts over. */
  rewind(): void {
    this.credits.fill(0);
  }
}

/** A member's requests. */
export interface MemberFeed {
  readonly feed: RequestFeed;
  readonly weight: number;
  readonly stepCount: number;
}

/**
 * Returns the requests of a mix: selects the next member by weight, and returns that member's next request. Steps are counted over
 * all members.
 */
export class MixedFeed implements Feed {
  step = 0;
  stamp: Uint8Array | undefined = undefined;
  readonly sequenceId = 0;
  readonly isSequenceEnd = false;
  readonly isCut = false;
  readonly sequences = undefined;
  private readonly members: readonly MemberFeed[];
  private share = WHOLE;
  /** Number of turns of other senders before this sender's next turn. */
  private skipCount = 0;
  /** Number of the first step of each member. */
  private readonly starts: readonly number[];
  private readonly memberTurns: WeightedTurns;

  constructor(members: readonly MemberFeed[]) {
    this.members = members;
    let start = 0;
    this.starts = members.map(({ stepCount }) => {
      start += stepCount;
      return start - stepCount;
    });
    this.memberTurns = new WeightedTurns(members.map(({ weight }) => weight));
  }

  get hasExpectations(): boolean {
    return this.members.some(({ feed }) => feed.hasExpectations);
  }

  setActiveLanes(count: number): void {
    for (const { feed } of this.members) feed.setActiveLanes(count);
  }

  shareSteps(): void {
    for (const { feed } of this.members) feed.shareSteps();
  }

  /** Takes over a part of the load. The turns restart, so that all senders count them alike. */
  ownPart(share: Share): void {
    if (share.index === this.share.index && share.count === this.share.count) return;
    this.share = share;
    this.skipCount = share.index;
    this.memberTurns.rewind();
  }

  rewind(): void {
    this.skipCount = this.share.index;
    this.memberTurns.rewind();
    for (const { feed } of this.members) feed.rewind();
  }

  next(lane: number, sequence: number, slot = lane): WireRequest {
    // Requests of other senders also take turns and steps of data.
    for (; this.skipCount > 0; this.skipCount--) this.members[this.memberTurns.next()]?.feed.skip();
    this.skipCount = this.share.count - 1;
    const member = this.memberTurns.next();
    const { feed } = this.members[member] as MemberFeed;
    const request = feed.next(lane, sequence, slot);
    this.step = (this.starts[member] as number) + feed.step;
    this.stamp = feed.stamp;
    return request;
  }

  contentOf(step: number): RequestContent {
    const member = this.memberOf(step);
    return this.feedOf(member).contentOf(step - (this.starts[member] as number));
  }

  expectedOf(step: number): readonly ExpectedOutput[] {
    const member = this.memberOf(step);
    return this.feedOf(member).expectedOf(step - (this.starts[member] as number));
  }

  private memberOf(step: number): number {
    return this.starts.findLastIndex((start) => start <= step);
  }

  private feedOf(member: number): RequestFeed {
    return (this.members[member] as MemberFeed).feed;
  }
}
