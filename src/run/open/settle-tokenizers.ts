import type { SpareThreads } from "../../measure/tokens/token-link.ts";
import type { MixMemberPlan } from "../../plan/groups/mix.ts";
import type { Text } from "../../plan/messages.ts";
import type { Plan, TargetPlan } from "../../plan/plan.ts";
import { RunError, UserError } from "../../plan/problem.ts";
import type { TokensPlan } from "../../plan/tokens.ts";
import { membersOf } from "../../registry/mix.ts";

/** A part of a plan that may have a tokenizer. */
interface WithTokenizer {
  readonly tokenizer: string;
  readonly revision: string;
  readonly ifNotLoaded?: object;
}

/**
 * Replaces each tokenizer that the user did not name and that cannot be loaded by the fields of `ifNotLoaded`. Tokenizers that the user
 * named are not loaded here.
 * @param say receives a sentence for each replaced tokenizer @param spare receives the loaded tokenizers, so that the run need not load
 * them again
 */
export function settleTokenizers(plan: Plan, say: (text: Text) => void, spare: SpareThreads): Promise<Plan> {
  return new Settling(say, spare).settle(plan);
}

class Settling {
  private readonly say: (text: Text) => void;
  private readonly spare: SpareThreads;
  /** Whether a tokenizer can be loaded, by name and revision. */
  private readonly tried = new Map<string, Promise<boolean>>();

  constructor(say: (text: Text) => void, spare: SpareThreads) {
    this.say = say;
    this.spare = spare;
  }

  async settle(plan: Plan): Promise<Plan> {
    const { measurement } = plan;
    return {
      ...plan,
      target: await this.settleTarget(plan.target),
      inputs: await this.settlePart(plan.inputs),
      measurement: { ...measurement, ...(await this.settleTokens(measurement)) },
    };
  }

  private async settleTarget(target: TargetPlan): Promise<TargetPlan> {
    const members = membersOf(target);
    if (members.length === 0) return target;
    const settled: MixMemberPlan[] = [];
    for (const member of members)
      settled.push({
        ...member,
        inputs: await this.settlePart(member.inputs),
        ...(await this.settleTokens(member)),
      });
    return { ...target, members: settled } as TargetPlan;
  }

  private async settleTokens({ tokens }: { readonly tokens?: TokensPlan }): Promise<{ readonly tokens?: TokensPlan }> {
    return tokens === undefined ? {} : { tokens: await this.settlePart(tokens) };
  }

  private async settlePart<P extends object>(part: P): Promise<P> {
    const { ifNotLoaded, ...rest }: Partial<WithTokenizer> = part;
    if (ifNotLoaded === undefined) return part;
    const { tokenizer = "none", revision = "main" } = rest;
    const key = JSON.stringify([tokenizer, revision]);
    const isLoaded = this.tried.get(key) ?? this.canLoad(tokenizer, revision);
    this.tried.set(key, isLoaded);
    return { ...rest, ...((await isLoaded) ? {} : ifNotLoaded) } as P;
  }

  private async canLoad(tokenizer: string, revision: string): Promise<boolean> {
    try {
      await this.spare.start({ tokenizer, revision });
      return true;
    } catch (error) {
      if (!(error instanceof UserError || error instanceof RunError)) throw error;
      const reason =
        error instanceof RunError ? error.text : [`the tokenizer ${tokenizer} `, error.problems[0]?.message ?? ""];
      this.say([reason, "; the server counts tokens instead"]);
      return false;
    }
  }
}
