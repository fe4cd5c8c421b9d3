import type { DataStep } from "../../inputs/dataset.ts";
import { readTags, type TaggedInput, type TaggedTensor, type TagInput } from "../../inputs/tagged-input.ts";
import { functionOf } from "../../plan/functions.ts";
import { hasTags, PHASE_TAG, TARGET_TAG, type Tags, unknownTags } from "../../plan/groups/tags.ts";
import { parseJson } from "../../plan/objects.ts";
import type { Plan } from "../../plan/plan.ts";
import { problem, UserError } from "../../plan/problem.ts";
import { showValue } from "../../plan/show-value.ts";
import { countRequestTokens } from "../../service/openai/request-text.ts";
import type { ResponseKind } from "../../service/openai/response-kind.ts";
import { describeUserError, readReturned } from "../../service/user-defined/user-error.ts";
import { loadTokenizer } from "../../tokenize/load-tokenizer.ts";
import type { MemberSession, Session } from "../open/session.ts";
import { groupSteps, type RequestGroup, type RequestGroups } from "./request-groups.ts";

type CountTokens = (text: string) => number;

/**
 * Returns the groups of a run's requests: the tags of each input, and in a mix the name of its target. Later sources win: fixed tags, tags
 * of the data, tags from functions; tags of a member, tags of the whole run.
 * @throws UserError when a function fails, when there are too many groups, or when an assertion names tags that no request has
 */
export async function groupRequests(plan: Plan, session: Session): Promise<RequestGroups> {
  const members: readonly MemberSession[] = session.members ?? [{ name: "", plan, session }];
  const tagged: RequestGroup[] = [];
  for (const [member, { name, plan: memberPlan, session: opened }] of members.entries()) {
    const isMixed = session.members !== undefined;
    // A model without sequences uses the first stream only.
    const steps = isMixed ? (opened.dataset.streams[0] ?? []) : opened.dataset.streams.flat();
    const tagger = new Tagger(isMixed ? [memberPlan, plan] : [plan], isMixed ? name : "", memberPlan);
    const isConstant = tagger.isConstant && opened.dataset.hasTags !== true;
    for (const [index, step] of steps.entries())
      tagged.push({ member, tags: isConstant ? tagger.fixed : await tagger.tagsOf(step, index) });
  }
  const groups = groupSteps(tagged, tagged.length);
  checkAssertions(plan, groups);
  return groups;
}

/** Returns the tags of one target's inputs. */
class Tagger {
  readonly fixed: Tags;
  private readonly functions: readonly { readonly name: string; readonly tagInput: TagInput }[];
  private readonly target: string;
  private readonly tokens: Plan["measurement"]["tokens"];
  private countTokens: CountTokens | undefined;

  /**
   * @param plans plans whose tags apply; the last one wins @param target name of the target; empty without a mix @param plan the
   * target's plan
   */
  constructor(plans: readonly Plan[], target: string, plan: Plan) {
    this.fixed = Object.assign(target === "" ? {} : { [TARGET_TAG]: target }, ...plans.map(({ tags }) => tags?.fixed));
    this.functions = plans.flatMap(({ tags }) =>
      tags?.of === undefined ? [] : [{ name: tags.of.function, tagInput: functionOf<TagInput>(tags.of) }],
    );
    this.target = target;
    this.tokens = plan.measurement.tokens;
  }

  /** Whether the tags need no function. */
  get isConstant(): boolean {
    return this.functions.length === 0;
  }

  async tagsOf(step: DataStep, index: number): Promise<Tags> {
    const { tags: stepTags = {} } = step;
    const made: Tags[] = [];
    for (const { name, tagInput } of this.functions) made.push(await this.call(name, tagInput, step, index));
    return Object.assign({}, this.fixed, stepTags, ...made);
  }

  /** Calls a function; calls it again with a tokenizer if it turns out to need one. */
  private async call(name: string, tagInput: TagInput, step: DataStep, index: number): Promise<Tags> {
    const need = { isTokenizerMissing: false };
    const input = toTaggedInput(step, index, this.target, () => {
      if (this.countTokens === undefined) need.isTokenizerMissing = true;
      return this.countTokens === undefined ? Number.NaN : this.countText(step, this.countTokens);
    });
    const place = `${name}, ${step.place ?? `input ${index}`}`;
    let result: unknown;
    try {
      result = tagInput(input);
    } catch (error) {
      if (!need.isTokenizerMissing)
        throw new UserError(
          problem("exception", place, `throws: ${describeUserError(error)}`, "Correct the function."),
        );
    }
    if (!need.isTokenizerMissing) return toTags(result, place);
    this.countTokens = await this.loadCounter(place);
    return this.call(name, tagInput, step, index);
  }

  private async loadCounter(place: string): Promise<CountTokens> {
    if (this.tokens === undefined || this.tokens.tokenizer === "none") {
      const hint = "Name a tokenizer in the target's options, or look at the body.";
      throw new UserError(problem("missing", place, "isl needs the target's tokenizer, and it has none", hint));
    }
    const tokenizer = await loadTokenizer(this.tokens.tokenizer, { revision: this.tokens.revision });
    return (text) => tokenizer.count(text);
  }

  private countText({ payload }: DataStep, countTokens: CountTokens): number {
    const body = new TextDecoder().decode(payload);
    return countRequestTokens(this.tokens?.responses as ResponseKind, body, countTokens, this.tokens?.joinsTexts);
  }
}

function toTaggedInput(step: DataStep, index: number, target: string, countIsl: () => number): TaggedInput {
  return {
    index,
    tags: step.tags ?? {},
    target,
    get isl() {
      return countIsl();
    },
    get body() {
      return parseBody(step.payload);
    },
    get bodyBytes() {
      return step.payload?.length ?? 0;
    },
    get tensors() {
      const { inputs } = step;
      const tensors = [...inputs.keys()].map((name): [string, TaggedTensor] => {
        const { shape, bytes } = inputs.get(name) as { shape?: readonly number[]; bytes: Uint8Array };
        return [name, { shape, bytes }];
      });
      return Object.fromEntries(tensors);
    },
    origin: step.origin,
  };
}

function parseBody(payload: Uint8Array | undefined): unknown {
  return payload && parseJson(new TextDecoder().decode(payload));
}

function toTags(result: unknown, place: string): Tags {
  const tags = result instanceof Promise ? undefined : readReturned(place, result, () => readTags(result));
  if (tags !== undefined) return tags;
  const message = `must return texts, numbers or booleans by the tag's name, which is not "${TARGET_TAG}" or "${PHASE_TAG}"`;
  throw new UserError(problem("invalid-value", place, message, 'Return { length: "long" }.', showValue(result)));
}

/** @throws UserError for assertions on tags that no request has */
function checkAssertions({ assertions }: Plan, { list }: RequestGroups): void {
  const problems = assertions.flatMap(({ where }, index) => {
    if (where === undefined || list.some(({ tags }) => hasTags(tags, where))) return [];
    const known = list.map(({ tags }) => tags);
    return [unknownTags(`assert.${index}`, where, known)];
  });
  if (problems.length > 0) throw new UserError(problems);
}
