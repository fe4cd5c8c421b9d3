import type { ExpectedOutput } from "../../inputs/batches.ts";
import type { Dataset } from "../../inputs/dataset.ts";
import type { RequestContent, Service } from "../../service/service.ts";
import type { MemberRoute } from "../../transport/mixed-client.ts";
import type { WireRequest } from "../../transport/request.ts";
import { RequestFeed } from "../send/feed.ts";
import { WeightedTurns } from "./weighted-turns.ts";

/** A member's requests. */
export interface MemberFeed {
  readonly feed: RequestFeed;
  readonly weight: number;
}

/** Returns the requests of a mix: whose turn it is, by weight, and that member's next request. Steps are counted over all members. */
export class MixedFeed extends RequestFeed {
  private readonly members: readonly MemberFeed[];
  private readonly route: Pick<MemberRoute, "member">;
  private readonly memberTurns: WeightedTurns;

  /** @param service stands for the mix @param dataset the data of the members, a stream each */
  constructor(service: Service, dataset: Dataset, members: readonly MemberFeed[], route: Pick<MemberRoute, "member">) {
    super(service, dataset, { usesIds: false });
    this.members = members;
    this.route = route;
    this.memberTurns = new WeightedTurns(members.map(({ weight }) => weight));
  }

  override get hasExpectations(): boolean {
    return this.members.some(({ feed }) => feed.hasExpectations);
  }

  override setActiveLanes(count: number): void {
    for (const { feed } of this.members) feed.setActiveLanes(count);
  }

  override shareSteps(): void {
    for (const { feed } of this.members) feed.shareSteps();
  }

  override rewind(): void {
    this.memberTurns.rewind();
    for (const { feed } of this.members) feed.rewind();
  }

  override next(lane: number, sequence: number, slot = lane): WireRequest {
    const member = this.memberTurns.next();
    this.route.member = member;
    const { feed } = this.members[member] as MemberFeed;
    const request = feed.next(lane, sequence, slot);
    this.step = (this.streamStarts[member] as number) + feed.step;
    this.stamp = feed.stamp;
    return request;
  }

  override contentOf(step: number): RequestContent {
    const member = this.memberOf(step);
    return this.feedOf(member).contentOf(step - (this.streamStarts[member] as number));
  }

  override expectedOf(step: number): readonly ExpectedOutput[] {
    const member = this.memberOf(step);
    return this.feedOf(member).expectedOf(step - (this.streamStarts[member] as number));
  }

  private memberOf(step: number): number {
    return this.streamStarts.findLastIndex((start) => start <= step);
  }

  private feedOf(member: number): RequestFeed {
    return (this.members[member] as MemberFeed).feed;
  }
}
