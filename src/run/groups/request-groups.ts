import { MAX_GROUPS, type Tags } from "../../plan/groups/tags.ts";
import { problem, UserError } from "../../plan/problem.ts";

/** Requests with the same tags. */
export interface RequestGroup {
  readonly tags: Tags;
  /** Index of the member of a mix that gets the requests; 0 without a mix. */
  readonly member: number;
}

/** The groups of a run's requests. The step of the data determines a request's group. */
export class RequestGroups {
  readonly list: readonly RequestGroup[];
  readonly ofStep: Uint8Array;
  /** Number of requests sent so far, by group. */
  readonly sentCounts: number[];

  constructor(list: readonly RequestGroup[], ofStep: Uint8Array) {
    this.list = list;
    this.ofStep = ofStep;
    this.sentCounts = list.map(() => 0);
  }

  countSent(step: number): void {
    const group = this.ofStep[step] as number;
    this.sentCounts[group] = (this.sentCounts[group] as number) + 1;
  }

  tagsOf(step: number): Tags {
    return (this.list[this.ofStep[step] as number] as RequestGroup).tags;
  }
}

/**
 * Groups steps by their tags.
 * @param steps the member and the tags of each step, in the order of the steps
 * @throws UserError when there are more than 100 different sets of tags
 */
export function groupSteps(steps: Iterable<RequestGroup>, stepCount: number): RequestGroups {
  const list: RequestGroup[] = [];
  const known = new Map<string, number>();
  const ofStep = new Uint8Array(stepCount);
  let step = 0;
  let last: (RequestGroup & { readonly index: number }) | undefined;
  for (const group of steps) {
    // Most steps have the same tags as the step before.
    if (group.tags === last?.tags && group.member === last.member) {
      ofStep[step++] = last.index;
      continue;
    }
    const key = JSON.stringify([group.member, Object.entries(group.tags).sort(([a], [b]) => (a < b ? -1 : 1))]);
    let index = known.get(key);
    if (index === undefined) {
      index = known.size;
      known.set(key, index);
      list.push(group);
    }
    last = { ...group, index: Math.min(index, MAX_GROUPS) };
    ofStep[step++] = last.index;
  }
  if (list.length <= MAX_GROUPS) return new RequestGroups(list, ofStep);
  const message = `the requests have ${list.length} different sets of tags, more than ${MAX_GROUPS}`;
  const hint = `Use fewer values, such as "short" and "long" instead of numbers.${describeValues(list)}`;
  throw new UserError([problem("invalid-value", "tags", message, hint)]);
}

function describeValues(list: readonly RequestGroup[]): string {
  const values = new Map<string, Set<string>>();
  for (const { tags } of list)
    for (const [name, value] of Object.entries(tags)) {
      const known = values.get(name);
      if (known === undefined) values.set(name, new Set([value]));
      else known.add(value);
    }
  const counts = [...values].map(([name, set]) => `${name} ${set.size}`);
  return counts.length === 0 ? "" : ` Values now: ${counts.join(", ")}.`;
}
