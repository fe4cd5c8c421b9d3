import type { OutputFilesPlan } from "../../plan/output-files-plan.ts";
import type { Plan } from "../../plan/plan.ts";
import { formatRunError, type Problem, problem, UserError, wordError } from "../../plan/problem.ts";
import { escapeControls } from "../../plan/terminal-text.ts";
import type { ServerTargetPlan } from "../../registry/service-kinds.ts";
import { writeReport } from "../../report/output-file.ts";
import { formatSlowServer } from "../../report/warning-text.ts";
import { EXIT, exitCodeOf } from "../../result/exit-codes.ts";
import { probeModels } from "../../run/open/probe.ts";
import { defineScenario } from "../../scenario/define.ts";
import { hold } from "../../scenario/loads/concurrency.ts";
import { payloads } from "../../scenario/prompts.ts";
import { openai } from "../../scenario/targets/llm.ts";
import { toPlan } from "../../scenario/to-plan.ts";
import type { LLM_ENDPOINTS } from "../../service/openai/endpoints.ts";
import { loadTokenizer } from "../../tokenize/load-tokenizer.ts";
import type { Tokenizer } from "../../tokenize/tokenizer.ts";
import { chooseModel } from "../choose-model.ts";
import type { CommandIo } from "../execute.ts";
import { flagCommand } from "../explain-errors.ts";
import { explainQuery } from "../failure-hints.ts";
import { readHeaders } from "../flag-values.ts";
import { type Flag, type FlagValues, unexpectedArgument } from "../flags.ts";
import { DURATIONS_NOTE, type HelpPage } from "../help/page.ts";
import { CHAT_TIMEOUT_MS } from "../options/client-options.ts";
import { type PlanValues, withPlanValues } from "../options/place.ts";
import { sharedOptions } from "../options/shared-options.ts";
import { routeTextAroundReports } from "../output-files.ts";
import { namesAtUrl } from "../setting-names.ts";
import { commandFlags, readAmount, readFiles, readShared } from "../shared-flags.ts";
import { ask, type Question, type TimedResponse } from "./ask.ts";
import { type CountedTokens, formatResponse, toResponseJson } from "./format-response.ts";

/** `rampart chat URL`: sends one question and shows the response's tokens with their times. */

/** Endpoints that return text. */
export const CHAT_ENDPOINTS = [
  "chat",
  "completions",
  "responses",
  "messages",
] as const satisfies readonly (keyof typeof LLM_ENDPOINTS)[];

/** The options of `rampart chat`. */
export const FLAGS: readonly Flag[] = commandFlags("chat", [
  {
    name: "endpoint",
    value: "NAME",
    choices: CHAT_ENDPOINTS,
    default: "chat",
    help: "The API to use: chat completions, completions, responses (OpenAI), or messages (Anthropic).",
  },
]);

const DEFAULT_QUESTION = "Write one sentence about the sea.";

/** The command. */
export const COMMAND = flagCommand({
  operand: { name: "URL", takes: "word" },
  page: helpPage,
  most: 2,
  nameOf: namesAtUrl("chat"),
  run: runChatCommand,
});

/** Runs `rampart chat`. Returns the exit code. */
async function runChatCommand(flags: FlagValues, io: CommandIo, command: string): Promise<number> {
  const { url, text, maxTokens, headers, values, files } = readArguments(flags, command);
  const endpoint = flags.value("endpoint") as (typeof CHAT_ENDPOINTS)[number];
  const name = flags.text("tokenizer");
  const tokenizer = name === undefined || name === "none" ? undefined : await loadTokenizer(name);
  const changes = new Map([["client.requestTimeoutMs", CHAT_TIMEOUT_MS], ...values]);
  const planFor = (model: string): Plan =>
    toPlan(
      defineScenario({
        name: "chat",
        target: openai(url, {
          model,
          endpoint,
          streaming: true,
          tokenizer: "none",
          headers,
          ...(flags.text("api-key-env") === undefined ? {} : { apiKeyEnv: flags.text("api-key-env") as string }),
          ...(flags.has("insecure") ? { tls: { verify: false } } : {}),
        }),
        load: hold(1, { requests: 1 }),
        // In memory: no file is read.
        inputs: payloads("the question"),
      }),
      process.cwd(),
      {},
      (plan) => withPlanValues(plan, changes),
    );
  const model = flags.text("model") ?? (await findModel(planFor("any"), io));
  const question: Question = { text, model, endpoint, maxTokens };
  const out = routeTextAroundReports(io, files);
  out.out(`${escapeControls(model)} at ${url}, ${endpoint}: ${escapeControls(JSON.stringify(text))}\n\n`);
  const asked = await ask(planFor(model), question, (slow) => io.err(formatSlowServer(slow)));
  const counted = asked.answered && tokenizer && countTokens(text, asked.answered, tokenizer);
  const code = report(asked, counted, out);
  if (files.json !== undefined) {
    const response =
      asked.answered === undefined ? { failure: reasonOf(asked, io) } : toResponseJson(asked.answered, counted);
    const json = { url, model, endpoint, question: text, ...response };
    writeReport(files.json, `${JSON.stringify(json, null, 2)}\n`, "outputs.files.json");
  }
  return code;
}

type Asked = Awaited<ReturnType<typeof ask>>;

function countTokens(text: string, { response }: TimedResponse, tokenizer: Tokenizer): CountedTokens {
  const output = response.output.map((piece) => piece.text).join("");
  return { tokenizer: tokenizer.name, inputTokens: tokenizer.count(text), outputTokens: tokenizer.count(output) };
}

function reasonOf({ failed, result }: Asked, { nameOf }: CommandIo): string {
  if (result.error !== undefined) return formatRunError(wordError(result.error, nameOf));
  return failed?.failure.message ?? result.failures[0]?.example ?? "it was not answered";
}

/** Prints the response. Returns the exit code. */
function report(asked: Asked, counted: CountedTokens | undefined, io: CommandIo): number {
  const { answered, result } = asked;
  if (answered === undefined) {
    io.err(`rampart: ${result.error === undefined ? "the request failed: " : ""}${reasonOf(asked, io)}\n`);
    return result.error === undefined ? EXIT.unreachable : exitCodeOf(result.error.code);
  }
  io.out(`${formatResponse(answered, counted)}\n`);
  return EXIT.passed;
}

/** Returns the server's only model. @throws UserError with their names if it has several or none */
async function findModel(plan: Plan, io: CommandIo): Promise<string> {
  const models = await probeModels(plan.target as ServerTargetPlan, {}, plan.client.requestTimeoutMs).catch(
    async (error: unknown) => {
      throw await explainQuery(plan, error, io.nameOf);
    },
  );
  return chooseModel(models.map(({ name }) => name));
}

interface Arguments {
  readonly url: string;
  readonly text: string;
  readonly maxTokens: number;
  readonly headers: Readonly<Record<string, string>>;
  /** Values for the plan of the question, which writes no report. */
  readonly values: PlanValues;
  readonly files: OutputFilesPlan;
}

/** @throws UserError with all problems */
function readArguments(flags: FlagValues, command: string): Arguments {
  const problems: Problem[] = [...flags.problems];
  const named = flags.text("url");
  const [url, text = DEFAULT_QUESTION, ...extra] = [...(named === undefined ? [] : [named]), ...flags.positionals];
  for (const word of extra) problems.push(unexpectedArgument(word));
  if (url === undefined)
    problems.push(problem("missing", "URL", "no address is given", `Write ${command} localhost:8000.`));
  const maxTokens = readAmount(flags, "chat", "osl", problems) ?? Number(flags.value("osl"));
  const values = new Map([...readShared(flags, "chat", problems)].filter(([at]) => !at.startsWith("outputs.")));
  const files = readFiles(flags, sharedOptions("chat"), [], []);
  const headers = readHeaders(flags, problems);
  if (problems.length > 0 || url === undefined) throw new UserError(problems);
  return { url, text, maxTokens, headers, values, files };
}

function helpPage(command: string): HelpPage {
  return {
    usage: [`${command} URL [QUESTION] [options]`],
    about: [
      "Asks a language model one question and shows the response's tokens with their times, to see that the server, its stream and the tokenizer work before a benchmark.",
    ],
    flags: FLAGS,
    flagsNote: DURATIONS_NOTE,
    examples: [`${command} localhost:8000`, `${command} localhost:8000 "What is a tensor?" --model llama`],
    exitCodes:
      "0 answered, 64 wrong usage, 69 server unreachable, stalled or failing, 74 the response could not be written, 1 internal error.",
  };
}
