import { DEFAULT_ISL, DEFAULT_OSL } from "../plan/defaults.ts";
import { countOf } from "../plan/units.ts";
import type { ListedModel } from "../service/service.ts";
import { DEFAULT_TRITON_DIRECTORY } from "../service/triton-c-api/target.ts";
import { REQUEST_PATH, REQUEST_PATH_RULE } from "../transport/request.ts";
import { checkAddress } from "./address.ts";
import { type Answers, parseShapes, type QuestionId } from "./answers.ts";
import { GOAL_QUESTIONS } from "./goal-questions.ts";
import { GOALS, goalOf } from "./goals/goals.ts";
import { numbersOf } from "./goals/loads.ts";
import type { Choice, Question, Surroundings } from "./question.ts";
import { usualAddress, WIZARD_TARGETS, wizardTargetOf } from "./targets.ts";

/** Reports whether the chosen target needs this answer. */
const asksFor =
  (id: QuestionId) =>
  (answers: Answers): boolean =>
    wizardTargetOf(answers)?.asks.includes(id) === true;
const isServer = asksFor("url");
const always = (): boolean => true;
/** Questions of goals before this index precede those about the target's requests. */
const FIRST_LOAD_QUESTION = GOAL_QUESTIONS.findIndex(({ id }) => id === "load");

/** Reports whether the target needs this answer for the inputs of its requests, which a file of requests replaces. */
const sendsInputs =
  (id: QuestionId) =>
  (answers: Answers): boolean =>
    asksFor(id)(answers) && goalOf(answers)?.usesInputs?.(answers) !== false;

/** Returns the goals that use all given options. */
function goalsFor({ given }: Surroundings): Choice[] {
  const ids = GOAL_QUESTIONS.map(({ id }) => id).filter((id) => given[id] !== undefined);
  const all = Object.entries(GOALS);
  const meant = all.filter(([, { asks }]) => ids.every((id) => id in asks));
  return (meant.length > 0 ? meant : all).map(([value, { label, hint }]) => ({ value, label, hint }));
}

function askLength(id: "isl" | "osl", message: string, usual: number): Question {
  return {
    id,
    message,
    isNeeded: sendsInputs(id),
    preset: () => String(usual),
    check: (answer) => (/^[1-9]\d{0,8}$/.test(answer) ? undefined : "must be a whole number of tokens, 1 or more"),
  };
}

/** Names of servers with OpenAI's API. */
const WITH_OPENAI_API = /^(?:vllm|sglang|tgi|nim|llama[._-]?cpp|ollama|llm|chat|trtllm-serve|lmdeploy)$/i;

function checkChoice(question: Question): Question["check"] {
  return (answer, answers, around) => {
    const values = (question.choices?.(answers, around) ?? []).map(({ value }) => value);
    if (values.includes(answer)) return undefined;
    const meant = question.id === "target" && WITH_OPENAI_API.test(answer) ? ": a language model is openai" : "";
    return `must be one of ${values.join(", ")}${meant}`;
  };
}

function choose(question: Omit<Question, "check">): Question {
  const full: Question = { ...question, check: (...args) => checkChoice(full)(...args) };
  return full;
}

/** All questions in order. */
export const QUESTIONS: readonly Question[] = [
  {
    id: "address",
    message: "Which server do you want to measure? (its address; empty: the target inside Rampart)",
    isNeeded: ({ target, url }, { asksAddress }) => asksAddress === true && target === undefined && url === undefined,
    preset: () => "",
    check: (answer) => (answer.trim() === "" ? undefined : checkAddress(answer)),
  },
  choose({
    id: "target",
    message: "What do you want to measure?",
    value: "TARGET",
    help: `What to measure: ${describeLabels(WIZARD_TARGETS)}. Default: what answers at --url; without --url embedded, or triton when --model is given.`,
    isNeeded: always,
    choices: (_answers, { detected, given }) => {
      const known = given.target === undefined ? (detected?.found ?? []).map(({ target }) => target) : [];
      return Object.entries(WIZARD_TARGETS).flatMap(([value, { label, hint }]) =>
        known.length === 0 || known.includes(value) ? [{ value, label, hint }] : [],
      );
    },
    preset: ({ url, model }, { detected }) =>
      detected?.target ?? (url !== undefined || model !== undefined ? "triton" : "embedded"),
  }),
  choose({
    id: "protocol",
    message: "Which protocol?",
    isNeeded: asksFor("protocol"),
    choices: () => [
      { value: "http", label: "HTTP" },
      { value: "grpc", label: "gRPC" },
    ],
    preset: (_answers, { detected }) => detected?.protocol ?? "http",
  }),
  {
    id: "url",
    message: "What is its address?",
    isNeeded: isServer,
    preset: usualAddress,
    check: checkAddress,
  },
  {
    id: "path",
    message: "Which path do requests go to? (with its query)",
    value: "PATH",
    help: "Path and query of requests to an HTTP server. Default: the one in --url, or /.",
    isNeeded: (answers) => asksFor("path")(answers) && !hasPath(answers),
    preset: () => "/",
    check: (answer, answers) => {
      if (hasPath(answers)) return "cannot be given beside an address that has a path";
      return REQUEST_PATH.test(answer) ? undefined : REQUEST_PATH_RULE;
    },
  },
  {
    id: "directory",
    message: "Where is Triton's installation, with lib/libtritonserver.so?",
    value: "DIR",
    help: `For Triton in process: its installation. Default: ${DEFAULT_TRITON_DIRECTORY}.`,
    isNeeded: asksFor("directory"),
    preset: () => DEFAULT_TRITON_DIRECTORY,
    check: (answer) => (answer.trim() === "" ? "must be a folder" : undefined),
  },
  {
    id: "model-repository",
    message: "Which folder has the models?",
    value: "DIR",
    help: "For Triton in process: the folder of the models.",
    isNeeded: asksFor("model-repository"),
    preset: () => undefined,
    check: (answer) => (answer.trim() === "" ? "must be a folder" : undefined),
  },
  {
    id: "model",
    message: "Which model?",
    isNeeded: asksFor("model"),
    choices: (_answers, { models }) =>
      models.map((model) => ({ value: model.name, label: model.name, hint: describeModel(model) })),
    preset: (_answers, { models }) => {
      const usable = models.filter(({ refusal }) => refusal === "");
      return usable.length === 1 ? usable[0]?.name : undefined;
    },
    check: (answer, _answers, { models, isOffline }) => {
      // Without the server's list, any name may be right.
      if (isOffline || models.length === 0) return answer.trim() === "" ? "must be a model's name" : undefined;
      const model = models.find(({ name }) => name === answer);
      if (model === undefined) {
        return `is not ready on the server, which has ${models.map(({ name }) => name).join(", ")}`;
      }
      return model.refusal === "" ? undefined : `cannot be measured: ${model.refusal}`;
    },
  },
  {
    id: "goal",
    message: "What do you want to find out?",
    value: "GOAL",
    help: `What to find out: ${describeLabels(GOALS)}. Default: number for a single number of users or rate, otherwise curve.`,
    isNeeded: always,
    choices: (_answers, around) => goalsFor(around),
    preset: (_answers, around) => {
      const goals = goalsFor(around).map(({ value }) => value);
      const amount = around.given.users ?? around.given.rate;
      const isOne = amount !== undefined && numbersOf(amount).length === 1;
      const usual = isOne ? "number" : "curve";
      return goals.includes(usual) ? usual : goals[0];
    },
    check: (answer) => (Object.hasOwn(GOALS, answer) ? undefined : `must be one of ${Object.keys(GOALS).join(", ")}`),
  },
  ...GOAL_QUESTIONS.slice(0, FIRST_LOAD_QUESTION),
  {
    id: "tokenizer",
    message:
      "Which tokenizer does it have? (a folder with tokenizer.json, a model of Hugging Face's hub, an encoding such as o200k_base, or none)",
    isNeeded: asksFor("tokenizer"),
    preset: ({ model }, { models }) => models.find(({ name }) => name === model)?.tokenizer ?? model,
    check: (answer) => (answer.trim() === "" ? "must be a folder, a model's name or none" : undefined),
  },
  askLength("isl", "How long are prompts? (tokens)", DEFAULT_ISL),
  askLength("osl", "How long are responses, at most? (tokens)", DEFAULT_OSL),
  {
    id: "shapes",
    message: "Which sizes do the inputs with variable shape have?",
    isNeeded: (answers, around) =>
      asksFor("shapes")(answers) &&
      (variableInputs(answers, around).length > 0 || (around.isOffline && around.given.shapes !== undefined)),
    preset: (answers, around) => usualShapes(variableInputs(answers, around)),
    check: checkShapes,
  },
  {
    id: "files",
    message: "Which files are the inputs? (a path, or a pattern such as images/*.jpg)",
    value: "PATTERN",
    help: "For TorchServe: the files to send, as a path or a pattern such as images/*.jpg.",
    isNeeded: sendsInputs("files"),
    preset: () => undefined,
    check: (answer) => (answer.trim() === "" ? "must be a path or a pattern" : undefined),
  },
  ...GOAL_QUESTIONS.slice(FIRST_LOAD_QUESTION),
  {
    id: "save",
    message: "Which file should the scenario be written to?",
    isNeeded: always,
    preset: (answers, { fileExists }) => firstFree(answers, fileExists),
    check: (answer, answers, { fileExists, findFolderProblem }) => {
      if (!/\.m?ts$/.test(answer)) return "must end in .ts";
      if (fileExists(answer)) return "exists already";
      const taken = filesBeside(answer, answers).find(fileExists);
      return taken === undefined ? findFolderProblem(answer) : `needs ${taken} too, which exists already`;
    },
  },
  choose({
    id: "run",
    message: "Run it now?",
    isNeeded: always,
    choices: () => [
      { value: "yes", label: "yes" },
      { value: "no", label: "no" },
    ],
    // If the server does not respond, or the tokenizer is not on this machine, the scenario runs elsewhere.
    preset: (answers, { isOffline, lacksTokenizer }) =>
      (isOffline && isServer(answers)) || lacksTokenizer === true ? "no" : "yes",
  }),
];

function hasPath({ url = "" }: Answers): boolean {
  return /^(?:https?:\/\/)?[^/?]*[/?]./.test(url);
}

/** Lists goals or targets for the help of their option. */
function describeLabels(table: Readonly<Record<string, { readonly label: string }>>): string {
  return Object.entries(table)
    .map(([name, { label }]) => `${name} (${label})`)
    .join(", ");
}

/** Returns the first needed question without an answer. */
export function nextQuestion(answers: Answers, around: Surroundings): Question | undefined {
  return QUESTIONS.find((question) => answers[question.id] === undefined && question.isNeeded(answers, around));
}

/** Returns the scenario's name: the model's name, and the suffix of the goal. */
export function scenarioName(answers: Answers): string {
  const { model = "", target } = answers;
  const name = asksFor("model")(answers) ? model || "scenario" : isServer(answers) ? (target ?? "") : "embedded";
  return `${name}${goalOf(answers)?.suffix(answers) ?? ""}`.replace(/[^\w.-]+/g, "-");
}

function variableInputs({ model }: Answers, { models }: Surroundings): ListedModel["inputs"] {
  return withVariableShape(models.find(({ name }) => name === model)?.inputs ?? []);
}

function withVariableShape(inputs: ListedModel["inputs"]): ListedModel["inputs"] {
  return inputs.filter(({ shape, isOptional }) => !isOptional && shape.some((size) => size < 0));
}

/** Returns the shapes of inputs with variable shape: 1 for each variable size, in the form of `--shapes`. */
export function usualShapes(inputs: ListedModel["inputs"]): string {
  return withVariableShape(inputs)
    .map(({ name, shape }) => `${name}:${shape.map((size) => (size < 0 ? 1 : size)).join(",")}`)
    .join(" ");
}

function checkShapes(answer: string, answers: Answers, around: Surroundings): string | undefined {
  const shapes = parseShapes(answer);
  for (const { name, shape } of variableInputs(answers, around)) {
    const sizes = shapes[name];
    if (sizes === undefined) return `must have the input ${name}, as in ${name}:16`;
    const isGood = sizes.length === shape.length && sizes.every((size) => Number.isInteger(size) && size > 0);
    if (!isGood) return `must give ${name} ${countOf(shape.length, "whole size")} of 1 or more`;
  }
  return undefined;
}

function describeModel({ inputs, maxBatchSize, refusal }: ListedModel): string {
  if (refusal !== "" || inputs.length === 0) return refusal;
  const shapes = inputs.map(({ name, datatype, shape }) => `${name} ${datatype}[${shape.join(",")}]`);
  return `${shapes.join(", ")}${maxBatchSize > 0 ? `, batches of up to ${maxBatchSize}` : ""}`;
}

/** Returns the files that are written or created besides the scenario. @param out the scenario */
export function filesBeside(out: string, answers: Answers): string[] {
  const target = wizardTargetOf(answers);
  if (target === undefined || goalOf(answers)?.other?.(answers, target) === undefined) return [];
  const start = out.replace(/\.m?ts$/, "");
  return [`${start}-other${out.slice(start.length)}`, `${start}.json`, `${start}-other.json`];
}

function firstFree(answers: Answers, fileExists: (path: string) => boolean): string {
  for (let number = 1; ; number++) {
    const path = `./${scenarioName(answers)}${number === 1 ? "" : `-${number}`}.ts`;
    if (![path, ...filesBeside(path, answers)].some(fileExists)) return path;
  }
}
