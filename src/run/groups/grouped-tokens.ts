import type { ResponseSink } from "../../measure/tokens/packed-responses.ts";
import type { RequestTokens } from "../../measure/tokens/request-tokens.ts";
import type { BeginOptions, LevelTokens, RunTokens } from "../../measure/tokens/run-tokens.ts";
import { columnsOf } from "../../measure/tokens/token-columns.ts";
import type { TokenLink } from "../../measure/tokens/token-link.ts";
import { joinTokens } from "../../measure/tokens/token-measurement.ts";
import type { MeteredTokens } from "../../measure/tokens/token-meter.ts";
import { NO_TOKENS, type Span } from "../../measure/tokens/token-tally.ts";
import { joinTokenTotals, type TotalledTokens } from "../../measure/tokens/token-totals.ts";
import type { Plan } from "../../plan/plan.ts";
import type { RequestGroups } from "./request-groups.ts";

/** The token meter of a member. Without a mix, the target is the only member. */
export interface MemberTokens {
  readonly plan: Plan;
  /** Undefined when its responses have no tokens. */
  readonly link: TokenLink | undefined;
}

/** Measures the tokens of each group of requests separately. */
export class GroupedTokens implements RunTokens {
  readonly responses: ResponseSink;
  private readonly groups: RequestGroups;
  private readonly members: readonly MemberTokens[];
  /** Each group's index among the groups of its member. */
  private readonly indices: readonly number[];

  constructor(groups: RequestGroups, members: readonly MemberTokens[]) {
    this.groups = groups;
    this.members = members;
    const counts = members.map(() => 0);
    this.indices = groups.list.map(({ member }) => {
      const index = counts[member] as number;
      counts[member] = index + 1;
      return index;
    });
    this.responses = this.toSink();
  }

  begin(_plan: Plan, startNs: number, options?: BeginOptions): void {
    for (const [member, { plan, link }] of this.members.entries())
      link?.begin(plan, startNs, options, this.groups.list.filter((group) => group.member === member).length);
  }

  warmUp(): void {
    for (const link of this.links()) link.warmUp();
  }

  reset(): void {
    for (const link of this.links()) link.reset();
  }

  cut(span: Span): void {
    for (const link of this.links()) link.cut(span);
  }

  resume(): void {
    for (const link of this.links()) link.resume();
  }

  mergeLevel(windowCount: number): Promise<LevelTokens> {
    return this.collect((link) => link.mergeGroups(windowCount));
  }

  takeRecent(tap: number): Promise<LevelTokens> {
    return this.collect((link) => link.takeRecentGroups(tap));
  }

  async readTotals(): Promise<TotalledTokens> {
    return joinTokenTotals(await Promise.all(this.links().map((link) => link.readTotals())));
  }

  /** Queries each member for its groups. */
  private async collect(ask: (link: TokenLink) => Promise<readonly MeteredTokens[]>): Promise<LevelTokens> {
    const byMember = await Promise.all(this.members.map(({ link }) => link && ask(link)));
    const groups = this.groups.list.map(({ member }, group) => byMember[member]?.[this.indices[group] as number]);
    const known = groups.filter((group) => group !== undefined);
    const rows = known.flatMap(({ tokenRows }) => tokenRows?.rows() ?? []);
    return {
      tokens: joinTokens(known.map(({ tokens }) => tokens)) ?? NO_TOKENS,
      groupTokens: groups.map((group) => group?.tokens),
      ...(rows.length === 0 ? {} : { tokenRows: columnsOf(rows) }),
    };
  }

  async takeRequests(isLast: boolean): Promise<readonly RequestTokens[]> {
    return (await Promise.all(this.links().map((link) => link.takeRequests(isLast)))).flat();
  }

  private links(): TokenLink[] {
    return this.members.flatMap(({ link }) => link ?? []);
  }

  private toSink(): ResponseSink {
    const sinks = this.groups.list.map(({ member }, group) =>
      this.members[member]?.link?.responsesOf(this.indices[group] as number),
    );
    const sinkOf = (step: number): ResponseSink | undefined => sinks[this.groups.ofStep[step] as number];
    return {
      knowsPrompt: (step) => sinkOf(step)?.knowsPrompt(step) ?? true,
      addPrompt: (step, body, session) => sinkOf(step)?.addPrompt(step, body, session),
      addResponse: (response) => sinkOf(response.step)?.addResponse(response),
      addFailure: (failure) => sinkOf(failure.step)?.addFailure(failure),
    };
  }
}
