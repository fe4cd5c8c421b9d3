import { DEFAULT_OSL } from "../../plan/defaults.ts";
import { BY_URL, COMMANDS, NOT_SHOWN, type SharedOption } from "./shared-option.ts";

/** Rampart's own options of what is measured: the server, the load, and what must hold. */

/** How long `rampart http` measures without a number of requests. */
export const HTTP_FOR = "10s";

const FOR_BY_URL = { help: "Measure each number of users for this long. With --slo: at most." } as const;
const REQUESTS_BY_URL = { help: "Measure this number of requests with each number of users instead." } as const;

/** `--users` of the commands that find out by themselves what answers. */
const USERS_BY_URL = {
  kind: "text",
  value: "LEVELS",
  defaultText: "1,2,4,8 and so on up to 256, until throughput stops growing",
  help: "Numbers of users, who each send the next request when the last is done: 16, 1,4,16 or 1:8. With --slo the largest number, MIN:MAX or a list.",
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
    help: "Address of the server, instead of the argument.",
    differs: {
      ...NOT_SHOWN,
      run: {
        help: "Address of the server, instead of the scenario's. May be given several times: requests go to all in turn.",
      },
      http: {
        help: "Address of the server, instead of the argument. May be given several times: requests go to all in turn.",
      },
      doctor: { help: "Server to measure: host:port, or http://host:port. It only gets connections." },
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
    help: "Model to ask.",
    differs: { llm: { help: "Model to measure." }, triton: { help: "Model to measure." } },
  },
  {
    name: "tokenizer",
    isCommon: true,
    kind: "text",
    value: "NAME",
    doors: ["llm", "chat", "init", "mock"],
    defaultText: "the server's own counts",
    help: "Also count tokens with this tokenizer: a folder, a model of Hugging Face's hub, or an encoding of tiktoken.",
    differs: {
      llm: {
        defaultText: "what the server says, or none if that cannot be loaded",
        help: "Tokenizer of the model: a folder, a model of Hugging Face's hub, an encoding such as o200k_base, or none. With none the server counts, and prompts have approximate lengths.",
      },
      mock: {
        defaultText: "none, which counts words",
        help: "Tokenizer of prompts and responses, as that of the client: a folder with a tokenizer.json, a model of Hugging Face's hub, an encoding such as o200k_base, or none.",
      },
    },
  },
  {
    name: "osl",
    isCommon: true,
    kind: "whole",
    isFirst: true,
    doors: ["llm", "chat", "init"],
    min: 1,
    default: 64,
    meant: ["--max-tokens", "--output-tokens"],
    help: "Most tokens of the response.",
    differs: { llm: { default: DEFAULT_OSL } },
  },
  {
    name: "users",
    short: "c",
    kind: "whole",
    isFirst: true,
    doors: ["run", "http", ...BY_URL, "doctor", "init"],
    isCommon: true,
    min: 1,
    meant: ["--concurrency", "--connections", "--vus", "-u"],
    help: "Requests in flight that will be asked for.",
    differs: {
      run: { help: "Requests in flight, instead of the scenario's load, for as long. With --rate: at most." },
      llm: USERS_BY_URL,
      triton: USERS_BY_URL,
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
    meant: ["--request-rate", "--rps", "--qps", "-q"],
    help: "Requests per second that will be asked for.",
    differs: {
      run: { help: "Send N requests per second, instead of the scenario's load, for as long." },
      http: { help: "Send N requests per second, whatever the server does." },
    },
  },
  {
    name: "for",
    short: "z",
    kind: "duration",
    isFirst: true,
    doors: ["run", "http", ...BY_URL, "init"],
    isCommon: true,
    meant: ["--duration", "--time"],
    help: "Measure for this long.",
    differs: {
      llm: { ...FOR_BY_URL, defaultText: "10s; with --slo at most 60s" },
      triton: { ...FOR_BY_URL, defaultText: "5s; with --slo at most 30s" },
      run: { help: "Measure each level for this long." },
      http: { defaultText: `${HTTP_FOR}, without --requests` },
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
    meant: ["--iterations", "--request-count"],
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
    value: "NAME=VALUE,…",
    isFirst: true,
    isRepeatable: true,
    doors: COMMANDS,
    help: "Measure each of these values of an option, such as users=1,8,64, in one report.",
    differs: {
      run: {
        isCommon: true,
        help: "Measure each of these values of a parameter of the scenario, or of an option, such as users=1,8,64, in one report. Several give all combinations.",
      },
    },
  },
  {
    name: "fail-if",
    kind: "text",
    value: "LIMIT",
    meant: ["--assert", "--threshold", "--thresholds", "--slo", "--goodput"],
    isFirst: true,
    doors: [...COMMANDS, "compare"],
    isCommon: true,
    help: "Also fail, with exit code 65, when this is measured: 'p99 > 25ms', 'errorRate > 1%', 'throughput < 100'; may be given several times.",
    differs: {
      http: {
        help: "Fail, with exit code 65, when this is measured: 'p99 > 25ms', 'errorRate > 1%', 'throughput < 100'; may be given several times.",
      },
      compare: {
        help: "Exit with 65 when this is shown: 'p99 > +5%', 'throughput < -3%', 'timeToFirstToken.p99 > +10%', 'p99 > 25ms', 'errorRate > 1%'; may be given several times.",
      },
    },
  },
  {
    name: "header",
    short: "H",
    isCommon: true,
    kind: "text",
    value: '"NAME: VALUE"',
    doors: ["http", ...BY_URL, "chat"],
    help: "Header; may be given several times.",
    differs: NOT_SHOWN,
  },
  {
    name: "insecure",
    short: "k",
    kind: "switch",
    isCommon: true,
    doors: ["http", ...BY_URL, "chat"],
    help: "Accept any certificate.",
    differs: NOT_SHOWN,
  },
];
