import type { Duration } from "../../plan/units.ts";
import type { Flag } from "../flags.ts";

/** Differences between the commands that measure a server by its address alone. */

/** One of the commands. */
export interface UrlKind {
  readonly name: "llm" | "triton";
  /** Key of the wizard's target. */
  readonly target: "openai" | "triton";
  /** Description of what it measures, in sentences. */
  readonly server: string;
  /** True if its responses are tokens. Absent: false. */
  readonly hasTokens?: true;
  /** True if its servers may require a key, without which they do not show their API. Absent: false. */
  readonly hidesApi?: true;
  /** Time for which each number of users is measured. */
  readonly eachFor: Duration;
  /** Longest measurement of a number of users in a search. */
  readonly forAtMost: Duration;
  readonly about: string;
  readonly examples: readonly string[];
}

/** Default numbers of users. Each is measured in turn, until throughput stops growing. */
export const USUAL_USERS: readonly number[] = [1, 2, 4, 8, 16, 32, 64, 128, 256];

/** Numbers of users that are searched without --users: each about 40 % above the one before, because a finer limit takes many more measurements. */
export const SEARCHED_USERS: readonly number[] = [1, 2, 3, 4, 6, 8, 12, 16, 24, 32, 48, 64, 96, 128, 192, 256];

/** The options that both commands have, and no other. */
export const COMMON_FLAGS: readonly Flag[] = [
  {
    name: "slo",
    isCommon: true,
    value: "METRIC=LIMIT",
    meant: ["--goodput", "--limit"],
    meantAs: {
      "--ttft": "--slo ttft=<200>ms",
      "--itl": "--slo itl=<20>ms",
      "--tpot": "--slo itl=<20>ms",
      "--p90": "--slo p90=<25>ms",
      "--p95": "--slo p95=<25>ms",
      "--p99": "--slo p99=<25>ms",
      "--latency": "--slo p99=<25>ms",
      "--percentile": "--slo p<95>=25ms",
    },
    help: "Find the most users who keep this: ttft=200ms, itl=20ms, p99=25ms, ttft.p90=100ms. Without a statistic 99 of 100 requests must keep it.",
    isRepeatable: true,
  },
  {
    name: "gpus",
    isCommon: true,
    value: "N",
    help: "GPUs of the server: also report what each of them does.",
  },
  {
    name: "gpu-hour",
    isCommon: true,
    value: "PRICE",
    help: "Price of a GPU hour: also report the cost of a million tokens, or inferences. Needs --gpus.",
  },
  {
    name: "target-users",
    isCommon: true,
    value: "N",
    help: "Users to serve: also report the GPUs for them. Needs --gpus.",
  },
];

/** The commands by name. */
export const URL_KINDS: Readonly<Record<UrlKind["name"], UrlKind>> = {
  llm: {
    name: "llm",
    target: "openai",
    server: "a server of OpenAI's API",
    hasTokens: true,
    hidesApi: true,
    eachFor: "10 s",
    forAtMost: "30 s",
    about:
      "Measures a language model by its server's address: finds the model and its tokenizer, raises the number of users until throughput stops growing, and reports every level. With --slo it searches the most users who keep the limits.",
    examples: [
      "localhost:8000",
      "localhost:8000 --isl 1000 --osl 200 --slo ttft=1s --slo itl=50ms",
      "localhost:8000 --gpus 8 --gpu-hour 2.5 --target-users 1000",
    ],
  },
  triton: {
    name: "triton",
    target: "triton",
    server: "a server of KServe v2, such as Triton",
    eachFor: "5 s",
    forAtMost: "15 s",
    about:
      "Measures a model on Triton, or another server of KServe v2, by its address: finds protocol, model and inputs, raises the number of users until throughput stops growing, and reports every level. With --slo it searches the most users who keep the limits.",
    examples: [
      "localhost:8001",
      "localhost:8000 --model resnet50 --slo p99=25ms",
      "localhost:8000 --gpus 1 --gpu-hour 2.5",
    ],
  },
};

/** The commands that measure servers that the wizard recognizes, by the wizard's targets. */
export const COMMAND_OF: Readonly<Record<string, string>> = {
  ...Object.fromEntries(Object.values(URL_KINDS).map(({ target, name }) => [target, name])),
  http: "http",
};

/** Whether a command measures servers of one API, not of any. */
export function isOfApi(command: string): boolean {
  return Object.hasOwn(URL_KINDS, command);
}
