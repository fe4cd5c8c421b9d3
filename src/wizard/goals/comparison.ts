import { mix } from "../../scenario/mix.ts";
import { checkAddress } from "../address.ts";
import type { Answers } from "../answers.ts";
import type { Surroundings } from "../question.ts";
import { nameOf, requestsOf } from "../requests.ts";
import type { ScenarioField } from "../source/format.ts";
import { Constant, call, type Source } from "../source/source.ts";
import { type WizardTarget, wizardTargetOf } from "../targets.ts";
import type { Asked, Goal } from "./goal.ts";
import {
  assertions,
  duration,
  explainArrivals,
  extentOf,
  LOAD,
  P99_LIMIT,
  rate,
  steady,
  TTFT_LIMIT,
  users,
} from "./loads.ts";

interface WayOfComparison {
  readonly label: string;
  hint(target: WizardTarget): string;
  suits(target: WizardTarget): boolean;
  /** Reports whether both targets are measured in one run. Otherwise there are two scenarios. */
  isMixed(target: WizardTarget): boolean;
  title(answers: Answers): string;
  /** The other target, as in the title of a second scenario. */
  readonly otherPlace: string;
  toOther(answers: Answers): Answers;
}

const IN_ONE_RUN = "both in one run, each with every other request";
const IN_TWO_RUNS = "two scenarios, one after the other";
/** Reports whether a target is a server that requests are sent to. Targets in process cannot share a run. */
const isServer = ({ asks }: WizardTarget): boolean => asks.includes("url");

const WAYS: Readonly<Record<string, WayOfComparison>> = {
  model: {
    label: "another model",
    hint: (target) => `from the same place; ${isServer(target) ? IN_ONE_RUN : IN_TWO_RUNS}`,
    suits: ({ asks }) => asks.includes("model"),
    isMixed: isServer,
    title: (answers) => `Which is faster, ${nameOf(answers)} or ${answers["other-model"]}?`,
    otherPlace: "with the other model",
    toOther: (answers) => {
      const { model, tokenizer, "other-model": other = "" } = answers;
      const hasOwnTokenizer = tokenizer !== undefined && tokenizer === model;
      return { ...answers, model: other, ...(hasOwnTokenizer ? { tokenizer: other } : {}) };
    },
  },
  server: {
    label: "the same on another server",
    hint: () => IN_TWO_RUNS,
    suits: isServer,
    isMixed: () => false,
    title: (answers) => `${nameOf(answers)}, to be compared with another server.`,
    otherPlace: "on the other server",
    toOther: (answers) => ({ ...answers, url: answers["other-url"] ?? "" }),
  },
  protocol: {
    label: "the other protocol",
    hint: () => IN_ONE_RUN,
    suits: (target) => target.asks.includes("protocol") && !isServer(target),
    isMixed: () => true,
    title: () => "Which is faster, HTTP or gRPC?",
    otherPlace: "over the other protocol",
    toOther: (answers) => ({ ...answers, protocol: answers.protocol === "grpc" ? "http" : "grpc" }),
  },
};

function waysFor(target: WizardTarget | undefined): string[] {
  return target === undefined ? [] : Object.keys(WAYS).filter((way) => WAYS[way]?.suits(target));
}

function wayOf({ against = "" }: Answers): WayOfComparison {
  return (Object.hasOwn(WAYS, against) ? WAYS[against] : WAYS["model"]) as WayOfComparison;
}

function otherModels({ model }: Answers, { models }: Surroundings): string[] {
  return models.filter(({ name, refusal }) => name !== model && refusal === "").map(({ name }) => name);
}

const AGAINST: Asked = {
  message: "What is it compared with?",
  choices: (answers) => {
    const target = wizardTargetOf(answers) as WizardTarget;
    return waysFor(target).map((value) => {
      const { label, hint } = WAYS[value] as WayOfComparison;
      return { value, label, hint: hint(target) };
    });
  },
  preset: (answers, around) => {
    const target = wizardTargetOf(answers);
    const ways = waysFor(target);
    const hasNoOther =
      around.models.length === 1 && target?.lists !== "named" && otherModels(answers, around).length === 0;
    return hasNoOther ? (ways.find((way) => way !== "model") ?? ways[0]) : ways[0];
  },
  check: (answer, answers, around) => {
    const ways = waysFor(wizardTargetOf(answers));
    if (!ways.includes(answer)) return `must be one of ${ways.join(", ")}`;
    return answer === "model" ? findModelProblem(answers, around) : undefined;
  },
  implied: (given) =>
    given["other-model"] !== undefined ? "model" : given["other-url"] === undefined ? undefined : "server",
};

/** Reports that there is no other model before the user searches for one. */
function findModelProblem(answers: Answers, around: Surroundings): string | undefined {
  const { models, isOffline, given } = around;
  const isKnown = !isOffline && models.length > 0 && wizardTargetOf(answers)?.lists !== "named";
  if (!isKnown || given["other-model"] !== undefined || otherModels(answers, around).length > 0) return undefined;
  return `is not possible: there is no other model than ${answers.model} that can be measured`;
}

const OTHER_MODEL: Asked = {
  message: "Which other model?",
  isNeeded: ({ against }) => against === "model",
  choices: (answers, around) => otherModels(answers, around).map((name) => ({ value: name, label: name })),
  preset: (answers, around) => {
    const others = otherModels(answers, around);
    return others.length === 1 ? others[0] : undefined;
  },
  check: (answer, answers, { models, isOffline }) => {
    if (answer.trim() === "") return "must be a model's name";
    if (answer === answers.model) return "is the model itself";
    if (isOffline || wizardTargetOf(answers)?.lists === "named") return undefined;
    const other = models.find(({ name }) => name === answer);
    if (other === undefined)
      return `is not ready on the server, which has ${models.map(({ name }) => name).join(", ")}`;
    return other.refusal === "" ? undefined : `cannot be measured: ${other.refusal}`;
  },
};

const OTHER_URL: Asked = {
  message: "What is the address of the other server?",
  isNeeded: ({ against }) => against === "server",
  preset: () => undefined,
  check: (answer, { url }) => {
    const problem = checkAddress(answer);
    if (problem !== undefined) return problem;
    return answer === url ? "is the same server" : undefined;
  },
};

/** Runs each target several times, because single runs cannot show whether the servers cause a difference. */
const REPEATED: ScenarioField = {
  name: "repeat",
  value: 3,
  comment: "Runs of the same server differ too: several on each side show how much.",
};

/** Compares two models, two servers or two protocols. */
export const comparisonGoal: Goal = {
  label: "a comparison",
  hint: "of two models, servers or protocols",
  asks: {
    against: AGAINST,
    "other-model": OTHER_MODEL,
    "other-url": OTHER_URL,
    load: LOAD,
    users: users("How many users at once?", () => "4"),
    rate: rate("Which rate?", () => "100"),
    for: duration("How long?", () => "30 s"),
    "p99-limit": P99_LIMIT,
    "ttft-limit": TTFT_LIMIT,
  },
  suffix: ({ against, "other-model": other = "" }) =>
    against === "model" ? `-or-${other}` : against === "protocol" ? "-protocols" : "",
  compose: (answers, target) => {
    const isMixed = wayOf(answers).isMixed(target);
    return {
      title: wayOf(answers).title(answers),
      fields: [
        ...(isMixed ? mixed(answers, target) : [{ name: "target", value: target.toTarget(answers) }]),
        { name: "load", value: steady(answers, extentOf(answers)), comment: explainArrivals(answers) },
        ...(isMixed ? [] : [REPEATED]),
        ...(isMixed ? [] : requestsOf(answers, target)),
        assertions(answers),
      ],
    };
  },
  other: (answers, target) => {
    const { isMixed, toOther, otherPlace } = wayOf(answers);
    return isMixed(target) ? undefined : { target: target.toTarget(toOther(answers)), place: otherPlace };
  },
};

/** Returns the members of a mix. Both get the same requests, which are in a constant. */
function mixed(answers: Answers, target: WizardTarget): { name: string; value: Source; comment: string }[] {
  const shared = requestsOf(answers, target).map(({ value }) => ({ inputs: new Constant("inputs", value) }))[0] ?? {};
  const members = [answers, wayOf(answers).toOther(answers)].map((one) => ({
    name: (answers.against === "protocol" ? one.protocol : one.model) ?? "",
    target: target.toTarget(one),
    ...shared,
  }));
  return [
    {
      name: "target",
      value: call({ mix }, members),
      comment: "Requests go to both in turn, so both are measured under the same conditions.",
    },
  ];
}
