import { parseLatency } from "../mock/latency.ts";
import { startMock } from "../mock/server.ts";
import type { MockHandlers } from "../mock/services/service.ts";
import { MOCK_SERVICES } from "../mock/services/table.ts";
import { warmUpMock } from "../mock/warm-up.ts";
import type { NameOf } from "../plan/messages.ts";
import {
  DEFAULT_MOCK,
  MAX_MOCK_RESPONSE_BYTES,
  MAX_MOCK_TOKENS,
  type MockLatencyPlan,
  type MockPlan,
} from "../plan/mock.ts";
import { type Problem, problem, UserError } from "../plan/problem.ts";
import { EXIT } from "../result/exit-codes.ts";
import type { CommandIo } from "./execute.ts";
import { flagCommand } from "./explain-errors.ts";
import { readNumber, readPercent } from "./flag-values.ts";
import type { Flag, FlagValues } from "./flags.ts";
import type { HelpPage } from "./help/page.ts";
import { formatNotation } from "./options/shared-option.ts";
import { inScenario } from "./setting-names.ts";
import { commandFlags } from "./shared-flags.ts";

/** `rampart mock`: a mock server with KServe v2 and OpenAI's API. */

const inMock: NameOf = (path) => (path === "inputs.tokenizer" ? "--tokenizer" : inScenario(path));
const MAX_PORT = 65_535;
const { llm: DEFAULT_LLM } = DEFAULT_MOCK;

/** Its options. */
export const FLAGS: readonly Flag[] = commandFlags("mock", [
  { name: "host", value: "HOST", default: "127.0.0.1", help: "Address to listen on." },
  {
    name: "http-port",
    meant: ["--port", "-p"],
    isCommon: true,
    value: "PORT",
    default: "8000",
    help: "Port for HTTP; 0 takes a free one.",
  },
  { name: "grpc-port", isCommon: true, value: "PORT", default: "8001", help: "Port for gRPC; 0 takes a free one." },
  {
    name: "latency",
    isCommon: true,
    value: "LATENCY",
    default: `${DEFAULT_MOCK.latency.ms}ms`,
    help: "Time before each response: 5ms, or drawn from uniform:1ms:9ms, normal:5ms:1ms (mean and deviation) or exponential:5ms.",
  },
  {
    name: "error-rate",
    isCommon: true,
    value: "PERCENT",
    default: formatNotation("percent", 100 * DEFAULT_MOCK.errorRatio),
    meant: ["--error-ratio"],
    help: "Share of requests that get an error: 1%.",
  },
  {
    name: "response-bytes",
    value: "BYTES",
    default: `${DEFAULT_MOCK.responseBytes}`,
    help: "Bytes of extra output per response.",
  },
  {
    name: "ttft",
    isCommon: true,
    value: "LATENCY",
    defaultText: "the value of --latency",
    help: "Time to first token of the language model; takes what --latency takes.",
  },
  {
    name: "itl",
    isCommon: true,
    value: "DURATION",
    default: `${DEFAULT_LLM.tokenGapMs}ms`,
    help: "Time between tokens of the language model.",
  },
  {
    name: "tokens-per-event",
    value: "N",
    default: `${DEFAULT_LLM.tokensPerEvent}`,
    help: "Tokens in one event of a stream.",
  },
  {
    name: "reasoning-tokens",
    value: "N",
    default: `${DEFAULT_LLM.reasoningTokens}`,
    help: "Number of reasoning tokens (reasoning_content) at the beginning of a chat response.",
  },
  {
    name: "cut-rate",
    value: "PERCENT",
    default: formatNotation("percent", 100 * DEFAULT_LLM.cutRatio),
    meant: ["--cut-ratio"],
    help: "Share of the language model's streams that are cut off in the middle: 1%.",
  },
  ...Object.entries(MOCK_SERVICES).map(
    ([name, { value, help }]): Flag => ({ name, help, meant: [`--grpc-${name}`], ...(value && { value }) }),
  ),
]);

/** The command. */
export const COMMAND = flagCommand({ page: helpPage, nameOf: inMock, run: runMockCommand });

/** Serves until Ctrl-C. Returns the exit code. */
async function runMockCommand(flags: FlagValues, io: CommandIo): Promise<number> {
  const { plan, host, httpPort, grpcPort } = readFlags(flags);
  const services = await createServices(flags, plan);
  const server = await startMock(plan, { host, httpPort, grpcPort }, services);
  await warmUpMock();
  const [http, grpc] = [`${host}:${server.httpPort}`, `${host}:${server.grpcPort}`];
  const others = services.map((service) => `; ${service.describe(http, grpc)}`).join("");
  const interrupted = new Promise<void>((resolve) => {
    io.onInterrupt(() => resolve());
  });
  io.out(`listening: http ${http}, grpc ${grpc}, model simple; openai http ${http}/v1${others}; Ctrl-C stops\n`);
  await interrupted;
  await server.stop();
  return EXIT.passed;
}

/** @throws UserError */
async function createServices(flags: FlagValues, plan: MockPlan): Promise<MockHandlers[]> {
  const services: MockHandlers[] = [];
  for (const [name, service] of Object.entries(MOCK_SERVICES))
    if (flags.has(name)) services.push(await service.create(plan, flags.text(name) ?? ""));
  return services;
}

function readFlags(flags: FlagValues): { plan: MockPlan; host: string; httpPort: number; grpcPort: number } {
  const problems: Problem[] = [...flags.problems];
  const latency = readLatency(flags, "latency", problems) ?? DEFAULT_MOCK.latency;
  const number = (name: string, max: number, min = 0): number =>
    readNumber(flags, name, { min, max, isWhole: true }, problems, flags.value(name)) ?? min;
  const ratio = (name: string): number => (readPercent(name, flags.value(name), problems) ?? 0) / 100;
  const read = {
    plan: {
      latency,
      errorRatio: ratio("error-rate"),
      responseBytes: number("response-bytes", MAX_MOCK_RESPONSE_BYTES),
      llm: {
        firstToken: readLatency(flags, "ttft", problems) ?? latency,
        tokenGapMs: readGap(flags, problems),
        osl: number("osl", MAX_MOCK_TOKENS, 1),
        tokensPerEvent: number("tokens-per-event", MAX_MOCK_TOKENS, 1),
        reasoningTokens: number("reasoning-tokens", MAX_MOCK_TOKENS),
        cutRatio: ratio("cut-rate"),
        ...readTokenizer(flags),
      },
    },
    host: flags.value("host"),
    httpPort: number("http-port", MAX_PORT),
    grpcPort: number("grpc-port", MAX_PORT),
  };
  if (problems.length > 0) throw new UserError(problems);
  return read;
}

/** Undefined if the flag is not given. */
function readLatency(flags: FlagValues, name: string, problems: Problem[]): MockLatencyPlan | undefined {
  const text = flags.text(name);
  if (text === undefined) return undefined;
  const latency = parseLatency(text);
  const hint = "Write for example 5ms, uniform:1ms:9ms, normal:5ms:1ms or exponential:5ms; 10min is the most.";
  if (latency === undefined) problems.push(problem("invalid-value", `--${name}`, "is not a latency", hint, text));
  return latency;
}

function readTokenizer(flags: FlagValues): { tokenizer?: string } {
  const tokenizer = flags.text("tokenizer") ?? "none";
  return tokenizer === "none" ? {} : { tokenizer };
}

function readGap(flags: FlagValues, problems: Problem[]): number {
  const text = flags.value("itl");
  const latency = parseLatency(text);
  if (latency?.kind === "constant") return latency.ms;
  const hint = "Write for example 10ms; 10min is the most.";
  problems.push(problem("invalid-value", "--itl", "is not a duration", hint, text));
  return 0;
}

function helpPage(command: string): HelpPage {
  return {
    usage: [`${command} [options]`],
    about: [
      "Starts a small server to measure when there is no other, until Ctrl-C. It serves the model `simple` as Triton does (KServe v2, over HTTP and gRPC): sum and difference of two INT32[16], batches of up to 8. Over HTTP it also serves a language model of any name: v1/chat/completions, v1/completions, v1/responses, v1/embeddings, v1/models (OpenAI), v1/ranking (NIM) and v1/messages (Anthropic), as whole responses or streams.",
    ],
    flags: FLAGS,
    examples: [
      `${command} --latency normal:5ms:1ms --error-rate 1%`,
      `${command} --ttft 50ms --itl 10ms --osl 128`,
      "rampart chat localhost:8000                     in another terminal",
      "rampart perf_analyzer -m simple -u localhost:8000",
    ],
  };
}
