import { parseDurationNs } from "../plan/units.ts";
import type { ListedModel } from "../service/service.ts";
import { DEFAULT_TRITON_DIRECTORY } from "../service/triton-c-api/target.ts";
import { REQUEST_PATH, REQUEST_PATH_RULE } from "../transport/request.ts";
import { type Answers, parseShapes, type QuestionId } from "./answers.ts";
import { WIZARD_TARGETS, wizardTargetOf } from "./targets.ts";

/** The environment of the questions. */
export interface Surroundings {
  /** Models that are ready on the server; empty before the query. */
  readonly models: readonly ListedModel[];
  /** Whether the server is not queried. */
  readonly isOffline: boolean;
  /** What answers at the address; absent before the query, and when it is unknown. */
  readonly detected?: Detected | undefined;
  /** Whether the user is asked for an address first, before the target is known. */
  readonly asksAddress?: boolean;
  fileExists(path: string): boolean;
  /** Returns why a file cannot be written to a path; undefined when it can. */
  findFolderProblem(path: string): string | undefined;
}

/** The answers that a server itself gives. */
export interface Detected {
  /** Key of `WIZARD_TARGETS`. */
  readonly target: string;
  readonly protocol: "http" | "grpc";
}

/** An answer to choose. */
export interface Choice {
  readonly value: string;
  readonly label: string;
  readonly hint?: string;
}

/** A question of the wizard. Questions only compute; `prompts.ts` prints and asks. */
export interface Question {
  readonly id: QuestionId;
  readonly message: string;
  /** Placeholder for the value of the flag. */
  readonly value: string;
  readonly help: string;
  isNeeded(answers: Answers, around: Surroundings): boolean;
  /** Absent for free text. */
  choices?(answers: Answers, around: Surroundings): Choice[];
  /** The default answer; undefined when there is none. */
  preset(answers: Answers, around: Surroundings): string | undefined;
  /** Returns the problem of an answer; undefined when it is valid. */
  check(answer: string, answers: Answers, around: Surroundings): string | undefined;
}

/** Whether the chosen target needs this answer. */
const asksFor =
  (id: QuestionId) =>
  (answers: Answers): boolean =>
    wizardTargetOf(answers)?.asks.includes(id) === true;
const isServer = asksFor("url");
const always = (): boolean => true;

function checkChoice(question: Question): Question["check"] {
  return (answer, answers, around) => {
    const values = (question.choices?.(answers, around) ?? []).map(({ value }) => value);
    return values.includes(answer) ? undefined : `must be one of ${values.join(", ")}`;
  };
}

/** Creates a question with a fixed set of answers. */
function choose(question: Omit<Question, "check">): Question {
  const full: Question = { ...question, check: (...args) => checkChoice(full)(...args) };
  return full;
}

/** All questions in order. */
export const QUESTIONS: readonly Question[] = [
  {
    id: "address",
    message: "Which server do you want to measure? (its address; empty: the target inside Rampart)",
    value: "",
    help: "",
    isNeeded: ({ target, url }, { asksAddress }) => asksAddress === true && target === undefined && url === undefined,
    preset: () => "",
    check: () => undefined,
  },
  choose({
    id: "target",
    message: "What do you want to measure?",
    value: "TARGET",
    help: `What to measure: ${describeTargets()}. Default: what answers at --url; without --url embedded, or triton when --model is given.`,
    isNeeded: always,
    choices: () => Object.entries(WIZARD_TARGETS).map(([value, { label, hint }]) => ({ value, label, hint })),
    preset: ({ url, model }, { detected }) =>
      detected?.target ?? (url !== undefined || model !== undefined ? "triton" : "embedded"),
  }),
  choose({
    id: "protocol",
    message: "Which protocol?",
    value: "PROTOCOL",
    help: "http or grpc. Default: what the server at --url speaks, or http.",
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
    value: "URL",
    help: "Address of the server. Default: localhost:8000 for HTTP, localhost:8001 for gRPC, localhost:8500 for tfserving, localhost:8080 for torchserve.",
    isNeeded: isServer,
    preset: (answers) =>
      wizardTargetOf(answers)?.usualUrl ?? (answers.protocol === "grpc" ? "localhost:8001" : "localhost:8000"),
    check: (answer) => (answer.trim() === "" ? "must be host:port or a URL" : undefined),
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
    value: "MODEL",
    help: "Model to measure. Default: the server's model, if it has only one.",
    isNeeded: asksFor("model"),
    choices: (_answers, { models }) =>
      models.map((model) => ({ value: model.name, label: model.name, hint: describeModel(model) })),
    preset: (_answers, { models }) => {
      const usable = models.filter(({ refusal }) => refusal === "");
      return usable.length === 1 ? usable[0]?.name : undefined;
    },
    check: (answer, _answers, { models, isOffline }) => {
      if (isOffline) return answer.trim() === "" ? "must be a model's name" : undefined;
      const model = models.find(({ name }) => name === answer);
      if (model === undefined) {
        const names = models.map(({ name }) => name).join(", ");
        return `is not ready on the server, which has ${names === "" ? "no model" : names}`;
      }
      return model.refusal === "" ? undefined : `cannot be measured: ${model.refusal}`;
    },
  },
  {
    id: "tokenizer",
    message: "Which tokenizer does it have? (a folder with tokenizer.json, or a model of Hugging Face's hub)",
    value: "TOKENIZER",
    help: "For language models: a folder with tokenizer.json, a model of Hugging Face's hub, or a tiktoken encoding such as o200k_base. Default: the model's name.",
    isNeeded: asksFor("tokenizer"),
    preset: ({ model }) => model,
    check: (answer) => {
      if (answer.trim() === "") return "must be a folder or a model's name";
      return answer === "none" ? "must be a tokenizer: it is needed to generate prompts" : undefined;
    },
  },
  {
    id: "shapes",
    message: "Which sizes do the inputs with variable shape have?",
    value: '"NAME:SIZE[,SIZE…] …"',
    help: "Sizes of inputs with variable shape, without the batch dimension. Default: 1 for each.",
    isNeeded: (answers, around) => asksFor("shapes")(answers) && variableInputs(answers, around).length > 0,
    preset: (answers, around) =>
      variableInputs(answers, around)
        .map(({ name, shape }) => `${name}:${shape.map((size) => (size < 0 ? 1 : size)).join(",")}`)
        .join(" "),
    check: checkShapes,
  },
  {
    id: "files",
    message: "Which files are the inputs? (a path, or a pattern such as images/*.jpg)",
    value: "PATTERN",
    help: "For TorchServe: the files to send, as a path or a pattern such as images/*.jpg, relative to the scenario's folder.",
    isNeeded: asksFor("files"),
    preset: () => undefined,
    check: (answer) => (answer.trim() === "" ? "must be a path or a pattern" : undefined),
  },
  choose({
    id: "load",
    message: "Which load?",
    value: "LOAD",
    help: "ramp (rising concurrency), hold (one concurrency) or rate (requests per second). Default: ramp.",
    isNeeded: always,
    choices: () => [
      { value: "ramp", label: "rising concurrency", hint: "one row per level: where does it stop scaling?" },
      { value: "hold", label: "one concurrency" },
      { value: "rate", label: "requests per second", hint: "independent of the server's responses" },
    ],
    preset: () => "ramp",
  }),
  {
    id: "levels",
    message: "Which levels?",
    value: "LEVELS",
    help: "START:END[:STEP] for ramp, a concurrency for hold, requests per second for rate. Default: 1:4, 4 or 100.",
    isNeeded: always,
    preset: ({ load }) => ({ ramp: "1:4", hold: "4", rate: "100" })[load ?? ""],
    check: (answer, { load }) => checkLevels(answer, load),
  },
  {
    id: "for",
    message: "How long at each level? (a duration such as 5 s, or stable)",
    value: "DURATION",
    help: "Time at each level, such as 5s, or stable: until three windows in a row agree. Default: 2 s.",
    isNeeded: always,
    preset: () => "2 s",
    check: (answer) => (answer === "stable" ? undefined : checkDuration(answer, "or stable")),
  },
  {
    id: "p99-limit",
    message: "Which p99 latency must it stay below? (a duration such as 50 ms, or none)",
    value: "DURATION",
    help: "The p99 latency must be below this, or none. Default: 50 ms for embedded, none for a server.",
    isNeeded: always,
    preset: (answers) => (isServer(answers) ? "none" : "50 ms"),
    check: (answer) => (answer === "none" ? undefined : checkDuration(answer, "or none")),
  },
  {
    id: "out",
    message: "Which file should the scenario be written to?",
    value: "FILE",
    help: "File to write; its folder is created. An existing file is never overwritten. Default: ./NAME.ts.",
    isNeeded: always,
    preset: (answers, { fileExists }) => firstFree(scenarioName(answers), fileExists),
    check: (answer, _answers, { fileExists, findFolderProblem }) => {
      if (!/\.m?ts$/.test(answer)) return "must end in .ts";
      return fileExists(answer) ? "exists already" : findFolderProblem(answer);
    },
  },
  choose({
    id: "run",
    message: "Run it now?",
    value: "",
    help: "",
    isNeeded: always,
    choices: () => [
      { value: "yes", label: "yes" },
      { value: "no", label: "no" },
    ],
    preset: () => "yes",
  }),
];

/** Whether the address has a path or a query. */
function hasPath({ url = "" }: Answers): boolean {
  return /^(?:https?:\/\/)?[^/?]*[/?]./.test(url);
}

/** Lists the targets for the help of `--target`. */
function describeTargets(): string {
  return Object.entries(WIZARD_TARGETS)
    .map(([name, { label }]) => `${name} (${label})`)
    .join(", ");
}

/** Returns the first question that is needed and not answered. */
export function nextQuestion(answers: Answers, around: Surroundings): Question | undefined {
  return QUESTIONS.find((question) => answers[question.id] === undefined && question.isNeeded(answers, around));
}

/** Returns the scenario's name: the model's name. */
export function scenarioName(answers: Answers): string {
  const { model = "", target } = answers;
  const name = asksFor("model")(answers) ? model || "scenario" : isServer(answers) ? (target ?? "") : "embedded";
  return name.replace(/[^\w.-]+/g, "-");
}

function variableInputs({ model }: Answers, { models }: Surroundings): ListedModel["inputs"] {
  const inputs = models.find(({ name }) => name === model)?.inputs ?? [];
  return inputs.filter(({ shape, isOptional }) => !isOptional && shape.some((size) => size < 0));
}

function checkShapes(answer: string, answers: Answers, around: Surroundings): string | undefined {
  const shapes = parseShapes(answer);
  for (const { name, shape } of variableInputs(answers, around)) {
    const sizes = shapes[name];
    if (sizes === undefined) return `must have the input ${name}, as in ${name}:16`;
    const isGood = sizes.length === shape.length && sizes.every((size) => Number.isInteger(size) && size > 0);
    if (!isGood) return `must give ${name} ${shape.length} whole sizes of 1 or more`;
  }
  return undefined;
}

function checkLevels(answer: string, load: string | undefined): string | undefined {
  const numbers = answer.split(":").map((part) => (part.trim() === "" ? Number.NaN : Number(part)));
  const areGood = numbers.every((value) => value > 0 && (load === "rate" ? value < Infinity : Number.isInteger(value)));
  if (load === "ramp") {
    const [start = 0, end = 0] = numbers;
    const isGood = areGood && (numbers.length === 2 || numbers.length === 3) && start <= end;
    return isGood ? undefined : "must be START:END or START:END:STEP, such as 1:8";
  }
  if (areGood && numbers.length === 1) return undefined;
  return load === "rate" ? "must be requests per second, such as 100" : "must be a concurrency, such as 4";
}

function checkDuration(answer: string, otherwise: string): string | undefined {
  const ns = parseDurationNs(answer);
  return ns !== undefined && ns > 0 ? undefined : `must be a duration with its unit, such as 5 s, ${otherwise}`;
}

function describeModel({ inputs, maxBatchSize, refusal }: ListedModel): string {
  if (refusal !== "" || inputs.length === 0) return refusal;
  const shapes = inputs.map(({ name, datatype, shape }) => `${name} ${datatype}[${shape.join(",")}]`);
  return `${shapes.join(", ")}${maxBatchSize > 0 ? `, batches of up to ${maxBatchSize}` : ""}`;
}

function firstFree(name: string, fileExists: (path: string) => boolean): string {
  for (let number = 1; ; number++) {
    const path = `./${name}${number === 1 ? "" : `-${number}`}.ts`;
    if (!fileExists(path)) return path;
  }
}
