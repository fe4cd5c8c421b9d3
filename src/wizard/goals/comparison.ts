import type { Answers } from "../answers.ts";
import { nameOf, requestsOf } from "../requests.ts";
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

/** What can be compared, by what the target has. */
const WAYS = {
  model: {
    label: "another model on the same server",
    hint: "both in one run, each with every other request",
    needs: "model",
  },
  server: { label: "the same on another server", hint: "two scenarios, one after the other", needs: "url" },
} as const;

type Way = keyof typeof WAYS;

function waysFor(target: WizardTarget | undefined): Way[] {
  const ways = Object.keys(WAYS) as Way[];
  return ways.filter((way) => target?.asks.includes("url") === true && target.asks.includes(WAYS[way].needs));
}

const AGAINST: Asked = {
  message: "What is it compared with?",
  choices: (answers) => waysFor(wizardTargetOf(answers)).map((way) => ({ value: way, ...WAYS[way] })),
  preset: (answers) => waysFor(wizardTargetOf(answers))[0],
  check: (answer, answers) => {
    const ways = waysFor(wizardTargetOf(answers));
    return ways.includes(answer as Way) ? undefined : `must be one of ${ways.join(", ")}`;
  },
  implied: (given) =>
    given["other-model"] !== undefined ? "model" : given["other-url"] === undefined ? undefined : "server",
};

const OTHER_MODEL: Asked = {
  message: "Which other model?",
  isNeeded: ({ against }) => against === "model",
  choices: ({ model }, { models }) =>
    models
      .filter(({ name, refusal }) => name !== model && refusal === "")
      .map(({ name }) => ({ value: name, label: name })),
  preset: ({ model }, { models }) => {
    const others = models.filter(({ name, refusal }) => name !== model && refusal === "");
    return others.length === 1 ? others[0]?.name : undefined;
  },
  check: (answer, answers, { models, isOffline }) => {
    if (answer.trim() === "") return "must be a model's name";
    if (answer === answers.model) return "is the model itself";
    if (isOffline || wizardTargetOf(answers)?.listsAll === false) return undefined;
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
    if (answer.trim() === "") return "must be host:port or a URL";
    return answer === url ? "is the same server" : undefined;
  },
};

/** Two models, or two servers. */
export const comparisonGoal: Goal = {
  label: "a comparison",
  hint: "of two models, or of two servers",
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
  suits: (target) => waysFor(target).length > 0,
  suffix: ({ against, "other-model": other = "" }) => (against === "model" ? `-or-${other}` : ""),
  compose: (answers, target) => ({
    title:
      answers.against === "model"
        ? `Which is faster, ${nameOf(answers)} or ${answers["other-model"]}?`
        : `${nameOf(answers)}, to be compared with another server.`,
    fields: [
      ...(answers.against === "model" ? mixed(answers, target) : [{ name: "target", value: target.toTarget(answers) }]),
      { name: "load", value: steady(answers, extentOf(answers)), comment: explainArrivals(answers) },
      ...(answers.against === "model" ? [] : requestsOf(answers, target)),
      assertions(answers),
    ],
  }),
  otherTarget: (answers, target) =>
    answers.against === "server" ? target.toTarget({ ...answers, url: answers["other-url"] ?? "" }) : undefined,
};

/** Both models get the same requests, which a constant holds. */
function mixed(answers: Answers, target: WizardTarget): { name: string; value: Source; comment: string }[] {
  const own = requestsOf(answers, target).map(({ value }) => ({ inputs: new Constant("inputs", value) }))[0] ?? {};
  const hasOwnTokenizer = answers.tokenizer !== undefined && answers.tokenizer === answers.model;
  const members = [answers.model ?? "", answers["other-model"] ?? ""].map((model) => ({
    name: model,
    target: target.toTarget({ ...answers, model, ...(hasOwnTokenizer ? { tokenizer: model } : {}) }),
    ...own,
  }));
  return [
    {
      name: "target",
      value: call("mix", members),
      comment: "Every other request goes to the other model, so both are measured under the same conditions.",
    },
  ];
}
