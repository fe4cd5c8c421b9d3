import { DEFAULT_ISL, DEFAULT_OSL } from "../../plan/defaults.ts";
import { DEFAULT_MOCK } from "../../plan/mock.ts";
import { BY_URL, COMMANDS, NOT_SHOWN, type SharedOption } from "./shared-option.ts";

/** Rampart's own options of the measurement: the server, the load, and the requirements. */

/** Time that `rampart http` measures without a number of requests. */
export const HTTP_FOR = "10s";

const FOR_BY_URL = { help: "Measure each number of users for this long. With --slo: at most." } as const;
const MEASURED_MODEL = { help: "Model to measure." } as const;
const REQUESTS_BY_URL = { help: "Measure this number of requests with each number of users instead." } as const;

/** In the tools that these commands replace, `-u` is the address. */
const AT_URL = { isCommon: false, meant: ["-u", "--host", "--target", "--base-url"] } as const;

/** These commands have `--slo`, which has these names in other tools. */
const BESIDE_SLO = { meant: ["--assert", "--threshold", "--thresholds"] } as const;

const SAVED = "in the scenario that --save writes";

/** Settings that only scenarios have, by their names in other tools. */
const IN_SAVED = {
  "--warmup-request-count": `warmupRequests: <10> ${SAVED}`,
  "--burstiness": `load: rate(5, { distribution: "gamma", smoothness: 0.5 }) ${SAVED}`,
  "--ignore-eos": `extra: { ignore_eos: true } ${SAVED}`,
  "--warmup-percent": `warmupFor: "10 s" ${SAVED}`,
  "--warmup": `warmupFor: "10 s" ${SAVED}`,
  "--batch-size": `batchSize: <8> ${SAVED}`,
  "-b": `batchSize: <8> ${SAVED}`,
  "--endpoint-type": `endpoint: "chat" ${SAVED}`,
  "--extra-inputs": `extra: { temperature: 0 } ${SAVED}`,
  "--input-file": `inputs: input.prompts({ file: "x.jsonl" }) ${SAVED}`,
  "--input-data": `inputs: input.json("x.json") ${SAVED}`,
  "--isl-stddev": `isl: { mean: 550, stddev: 50 } ${SAVED}`,
  "--osl-stddev": `osl: { mean: 128, stddev: 10 } ${SAVED}`,
  "--num-dataset-entries": `count: <100> ${SAVED}`,
} as const;

/** Returns {@link IN_SAVED} for a command without rates. @param target of `rampart init`, which has them */
function inSavedOf(target: "openai" | "triton"): NonNullable<SharedOption["meantAs"]> {
  const init = `rampart init --yes --run --target ${target} --url URL --rate`;
  return {
    "--rate": `${init} <5>`,
    "--request-rate": `${init} <5>`,
    "--request-rate-range": `${init} <1,2>`,
    ...IN_SAVED,
  };
}

/** `--users` of the commands that identify the server themselves. */
const USERS_BY_URL = {
  kind: "text",
  value: "LEVELS",
  defaultText: "1,2,4,8 and so on up to 256, until throughput stops growing",
  help: "Numbers of users: 16, 1,4,16, 1:8 or 1:64:9. Each user sends the next request when the last is done. With --slo the largest number, MIN:MAX or a list. Default with --slo: 1,2,3,4,6,8 and so on up to 256.",
} as const;

/** The options, in the order of the help. */
export const LOAD_OPTIONS: readonly SharedOption[] = [
  {
    name: "url",
    kind: "text",
    value: "URL",
    isFirst: true,
    doors: ["run", "http", ...BY_URL, "chat", "doctor", "init"],
    isCommon: true,
    meant: ["--host", "--base-url"],
    help: "Address of the server, instead of the argument.",
    differs: {
      llm: AT_URL,
      triton: AT_URL,
      run: {
        isRepeatable: true,
        help: "Address of the server, instead of the scenario's. With several, requests go to all in turn.",
      },
      http: {
        isRepeatable: true,
        help: "Address of the server, instead of the argument. With several, requests go to all in turn.",
      },
      doctor: { help: "Server to measure: host:port, or http://host:port. It only gets connections." },
      init: { defaultText: "the usual one of the target, such as localhost:8000", help: "Address of the server." },
    },
  },
  {
    name: "protocol",
    isCommon: true,
    kind: "choice",
    isFirst: true,
    doors: ["doctor", "init"],
    choices: ["http", "grpc"],
    default: "http",
    help: "Protocol of the load. HTTP/1.1 needs a connection for each request in flight.",
    differs: {
      init: {
        default: undefined,
        defaultText: "what the server at --url speaks, or http",
        help: "Protocol of requests.",
      },
    },
  },
  {
    name: "model",
    short: "m",
    isCommon: true,
    kind: "text",
    value: "NAME",
    isFirst: true,
    doors: [...BY_URL, "chat", "init"],
    defaultText: "the server's only model",
    meant: ["--model-names", "--model-name"],
    help: "Model to ask.",
    differs: { llm: MEASURED_MODEL, triton: MEASURED_MODEL, init: MEASURED_MODEL },
  },
  {
    name: "tokenizer",
    isCommon: true,
    kind: "text",
    value: "NAME",
    doors: ["llm", "chat", "init", "mock"],
    defaultText: "the server's own counts",
    meant: ["--processor"],
    help: "Also count tokens with this tokenizer: a folder, a model of Hugging Face's hub, an encoding of tiktoken, or none.",
    differs: {
      llm: {
        defaultText: "what the server says or the model's name, or none if that cannot be loaded",
        help: "Tokenizer of the model: a folder, a model of Hugging Face's hub, an encoding such as o200k_base, or none. With none the server counts, and prompts have approximate lengths.",
      },
      init: {
        defaultText: "what the server says or the model's name, or none if that cannot be loaded",
        help: "For language models: a folder with tokenizer.json, a model of Hugging Face's hub, a tiktoken encoding such as o200k_base, or none: the server counts, and lengths of prompts are approximate.",
      },
      mock: {
        defaultText: "none, which counts words",
        help: "Tokenizer of prompts and responses, as that of the client: a folder with a tokenizer.json, a model of Hugging Face's hub, an encoding such as o200k_base, or none.",
      },
    },
  },
  {
    name: "isl",
    isCommon: true,
    kind: "whole",
    isFirst: true,
    doors: ["llm", "init"],
    min: 1,
    default: DEFAULT_ISL,
    meant: [
      ...["--input-tokens", "--prompt-tokens", "--input-length", "--isl-mean"],
      ...["--random-input-len", "--synthetic-input-tokens-mean"],
    ],
    help: "Length of prompts, in tokens.",
    differs: { init: { help: "Length of prompts of language models, in tokens." } },
  },
  {
    name: "osl",
    isCommon: true,
    kind: "whole",
    isFirst: true,
    doors: ["llm", "chat", "init", "mock"],
    min: 1,
    default: 64,
    meant: [
      ...["--max-tokens", "--output-tokens", "--output-length", "--osl-mean"],
      ...["--random-output-len", "--output-tokens-mean"],
    ],
    help: "Most tokens of the response.",
    differs: {
      llm: { default: DEFAULT_OSL },
      init: { default: DEFAULT_OSL, help: "Most tokens of responses of language models." },
      mock: {
        isFirst: false,
        default: DEFAULT_MOCK.llm.osl,
        help: "Tokens of a response when the request names no limit.",
      },
    },
  },
  {
    name: "shapes",
    kind: "text",
    value: '"NAME:SIZE[,SIZE…] …"',
    isFirst: true,
    doors: ["triton", "init"],
    defaultText: "1 for each",
    help: "Sizes of inputs with variable shape, without the batch dimension.",
  },
  {
    name: "users",
    short: "c",
    kind: "whole",
    isFirst: true,
    doors: ["run", "http", ...BY_URL, "doctor", "init"],
    isCommon: true,
    min: 1,
    meant: ["--concurrency", "--connections", "--vus", "-u", "--max-concurrency", "--concurrency-range"],
    help: "Requests in flight that will be asked for.",
    differs: {
      run: { help: "Requests in flight, instead of the scenario's load, for as long. With --rate: at most." },
      llm: USERS_BY_URL,
      triton: USERS_BY_URL,
      init: {
        defaultText: "4; for a curve 1:4 for embedded and 1,2,4,8,16 for a server; for the limit 64",
        help: "Number of users. For a curve START:END[:STEP] or a list, for the limit the largest number or MIN:MAX, for a spike the normal number.",
      },
      http: {
        default: 1,
        help: "Requests in flight: users who each send the next when the last is done. With --rate: at most.",
      },
    },
  },
  {
    name: "rate",
    short: "r",
    kind: "decimal",
    isFirst: true,
    doors: ["run", "http", "doctor", "init"],
    isCommon: true,
    min: 0.001,
    example: 100,
    meant: ["--request-rate", "--rps", "--qps", "-q", "--request-rate-range"],
    help: "Requests per second that will be asked for.",
    differs: {
      run: { help: "Send N requests per second, instead of the scenario's load, for as long." },
      http: { help: "Send N requests per second, whatever the server does." },
      init: {
        defaultText: "100; for a curve 50,100,200; for the limit 1000; for a spike 50",
        help: "Requests per second. For a curve START:END:STEP or a list, for the limit the highest rate or MIN:MAX, for a spike the normal rate.",
      },
    },
  },
  {
    name: "for",
    short: "z",
    kind: "duration",
    isFirst: true,
    doors: ["run", "http", ...BY_URL, "init"],
    isCommon: true,
    meant: ["-d", "--duration", "--time", "--run-time", "--max-seconds", "--measurement-interval"],
    meantAs: { "--benchmark-duration": "--for <60>s" },
    help: "Measure for this long.",
    differs: {
      llm: { ...FOR_BY_URL, defaultText: "10s; with --slo at most 30s" },
      triton: { ...FOR_BY_URL, defaultText: "5s; with --slo at most 15s" },
      run: { help: "Measure each level for this long." },
      http: { defaultText: `${HTTP_FOR}, without --requests` },
      init: {
        defaultText:
          "2 s for a curve, 10 s for a number and a peak, 1 h for a soak test, otherwise 30 s; for the limit of a language model 60 s",
        help: "Time to measure, such as 5s: for a curve at each level, for the limit at each load at most, for a spike the length of the peak. With number, curve and gaps also stable: until three windows in a row agree.",
      },
    },
  },
  {
    name: "requests",
    short: "n",
    kind: "whole",
    isFirst: true,
    doors: COMMANDS,
    isCommon: true,
    min: 1,
    meant: ["--iterations", "--request-count", "--max-requests", "--num-prompts"],
    help: "Measure this number of requests instead.",
    differs: {
      run: { help: "Measure this number of requests at each level." },
      llm: { ...REQUESTS_BY_URL, isCommon: false },
      triton: { ...REQUESTS_BY_URL, isCommon: false },
    },
  },
  {
    name: "sweep",
    kind: "text",
    value: "NAME=VALUES",
    isFirst: true,
    isRepeatable: true,
    doors: COMMANDS,
    help: "Measure each of these values of an option, such as users=1,8,64 or users=4:16:4, in one report.",
    differs: {
      run: {
        isCommon: true,
        help: "Measure each of these values of a parameter of the scenario, or of an option, such as users=1,8,64 or users=4:16:4, in one report. Several give all combinations.",
      },
    },
  },
  {
    name: "fail-if",
    kind: "text",
    isRepeatable: true,
    value: "LIMIT",
    meant: ["--assert", "--threshold", "--thresholds", "--slo", "--goodput"],
    isFirst: true,
    doors: [...COMMANDS, "compare"],
    isCommon: true,
    help: "Also fail, with exit code 65, when this is measured: 'p99 > 25ms', 'errorRate > 1%', 'throughput < 100'.",
    differs: {
      llm: BESIDE_SLO,
      triton: BESIDE_SLO,
      http: {
        help: "Fail, with exit code 65, when this is measured: 'p99 > 25ms', 'errorRate > 1%', 'throughput < 100'.",
      },
      compare: {
        help: "Exit with 65 when this is shown: 'p99 > +5%', 'throughput < -3%', 'timeToFirstToken.p99 > +10%', 'p99 > 25ms', 'errorRate > 1%'.",
      },
    },
  },
  {
    name: "header",
    short: "H",
    isRepeatable: true,
    meantAs: {
      "-T": '-H "Content-Type: application/json"',
      "-A": '-H "Accept: text/html"',
      "-a": '-H "Authorization: Basic …"',
      "--user": '-H "Authorization: Basic …"',
      "--user-agent": '-H "User-Agent: …"',
    },
    isCommon: true,
    kind: "text",
    value: '"NAME: VALUE"',
    doors: ["http", ...BY_URL, "chat"],
    help: "Header.",
    differs: NOT_SHOWN,
  },
  {
    name: "insecure",
    short: "k",
    kind: "switch",
    isCommon: true,
    doors: ["http", ...BY_URL, "chat"],
    meant: ["--insecure-skip-tls-verify"],
    help: "Accept any certificate.",
    differs: NOT_SHOWN,
  },
  {
    name: "save",
    isCommon: true,
    kind: "text",
    value: "FILE.ts",
    doors: [...BY_URL, "init"],
    meant: ["--out", "--output"],
    meantAs: IN_SAVED,
    help: "Write the scenario that repeats the run. An existing file is kept.",
    differs: {
      llm: { meantAs: inSavedOf("openai") },
      triton: { meantAs: inSavedOf("triton") },
      init: {
        defaultText: "./NAME.ts",
        help: "Write the scenario to this file; its folder is created. An existing file is kept.",
      },
    },
  },
];
