import {
  DEFAULT_AGENTS_WAIT_MS,
  DEFAULT_MAX_RESPONSE_BYTES,
  DEFAULT_STALL_TIMEOUT_MS,
  MOST_RESPONSE_BYTES,
} from "../../plan/defaults.ts";
import { BUS_FORM, clientsOf, isAddress, isBusUrl, MOST_AGENTS, MOST_WORKERS } from "../../plan/plan.ts";
import { COMMANDS, MEASURING, NOT_SHOWN, type SharedOption } from "./shared-option.ts";

/** Rampart's own options of the client: how it sends, when a request or the run fails, and which threads and hosts send. */

/** Time that `rampart chat` waits for a response. */
export const CHAT_TIMEOUT_MS = 60_000;

/** Time that the conductor of a Kubernetes Job waits for the other pods, whose images may have to be pulled first. */
export const PODS_WAIT_MS = 300_000;

/** Commands that take part in a run over a bus. */
const ON_BUS = [...MEASURING, "agent"] as const;

/** Commands whose load agents can send. */
const WITH_AGENTS = [...MEASURING, "k8s"] as const;

const ENDS_ABOVE = {
  defaultText: "no limit",
  help: "The run ends when a larger share of requests fails: 1%.",
} as const;

const BUS_FILES = [
  ["bus-creds", "credsFile", "File with the credentials of a user of the bus."],
  ["bus-nkey", "nkeyFile", "File with the seed of an NKey of the bus."],
  ["bus-ca", "caFile", "PEM file with the certificates to trust the bus by. With it the connection uses TLS."],
  ["bus-cert", "certFile", "PEM file with the certificate that the bus asks for."],
  ["bus-key", "keyFile", "PEM file with its private key."],
] as const;
/** The options, in the order of the help. */
export const CLIENT_OPTIONS: readonly SharedOption[] = [
  {
    name: "client",
    kind: "choice",
    setting: "client.kind",
    doors: [...COMMANDS, "perf_analyzer"],
    choices: clientsOf(),
    default: "own",
    help: "Library that sends the requests: Rampart's own, or a general one to compare with.",
    differs: { http: { choices: clientsOf("http") }, llm: { choices: clientsOf("http") } },
  },
  {
    name: "stall-timeout",
    kind: "duration",
    setting: "client.stallTimeoutMs",
    default: DEFAULT_STALL_TIMEOUT_MS,
    help: "A request fails when no byte arrives for this long.",
  },
  {
    name: "timeout",
    isCommon: true,
    kind: "duration",
    setting: "client.requestTimeoutMs",
    defaultText: "no limit",
    meant: ["--request-timeout", "--max-time"],
    doors: [...MEASURING, "chat"],
    help: "A request fails when its response is not complete after this long, however often bytes arrive.",
    differs: { ...NOT_SHOWN, chat: { default: CHAT_TIMEOUT_MS } },
  },
  {
    name: "max-response-bytes",
    kind: "whole",
    setting: "client.maxResponseBytes",
    min: 1,
    max: MOST_RESPONSE_BYTES,
    unit: "bytes",
    default: DEFAULT_MAX_RESPONSE_BYTES,
    example: 1_000_000_000,
    help: "A request fails when its response is longer: its body, or all messages for it, decompressed.",
  },
  {
    name: "max-error-rate",
    kind: "percent",
    setting: "failures.maxRatio",
    meant: ["--max-failure-ratio"],
    help: "Share of failed requests that does not end the run: 1%.",
    differs: {
      run: ENDS_ABOVE,
      http: ENDS_ABOVE,
      llm: ENDS_ABOVE,
      triton: ENDS_ABOVE,
      "genai-perf": {
        defaultText: "none may fail, but the run lasts",
        help: "Share of requests that may fail: 1%. With more of them the run ends, and the exit code is 1.",
      },
    },
  },
  {
    name: "max-in-flight",
    kind: "whole",
    setting: "client.maxOutstanding",
    meant: ["--max-outstanding"],
    doors: COMMANDS,
    min: 1,
    example: 50_000,
    defaultText: "what memory, open files and ports allow",
    help: "Most requests in flight, above which the run ends with its report and exit code 66.",
  },
  {
    name: "source-address",
    kind: "text",
    value: "ADDRESS",
    setting: "client.sourceAddresses",
    isRepeatable: true,
    defaultText: "what the system chooses",
    meant: ["--local-addr", "--local-address", "--interface", "--bind-address"],
    help: "Address of this host that connections to the servers, and to pages of metrics at their hosts, come from, in turn where there are several. Each has ports of its own, so that more connections can be open.",
    resolve: (text) =>
      isAddress(text)
        ? { value: text }
        : { message: "is not an IP address", hint: "Give an address of this host, such as 10.0.0.5.", given: text },
  },
  {
    name: "workers",
    isCommon: true,
    kind: "text",
    value: "N|auto",
    setting: "client.workers",
    defaultText: "1, the main thread",
    meant: ["--threads", "--max-workers", "--workers-max"],
    help: "Number of threads that send, each its share of the load, where one core is not enough. The report, and files of single requests, are those of one. auto begins with one, and adds one after each level for which the client was the limit: a level never changes its threads. Not with shared memory or targets inside this process.",
    differs: NOT_SHOWN,
    resolve: (text) => {
      const count = text === "auto" ? text : /^\d+$/.test(text) ? Number(text) : 0;
      if (count === "auto" || (count >= 1 && count <= MOST_WORKERS)) return { value: count };
      return { message: `is neither a number of threads up to ${MOST_WORKERS} nor auto`, hint: "Give 4, or auto." };
    },
  },
  {
    name: "bus",
    kind: "text",
    setting: "client.bus.url",
    resolve: (text) =>
      isBusUrl(text)
        ? { value: text }
        : {
            message: "must be the address of a NATS server",
            hint: isBusUrl(`nats://${text}`) ? `Write nats://${text}.` : `Give ${BUS_FORM}.`,
          },
    value: "URL",
    doors: [...ON_BUS, "k8s"],
    differs: {
      agent: {
        isFirst: true,
        help: "NATS server on which to wait for runs: nats://USER:PASSWORD@HOST:4222, or tls://…",
      },
      k8s: {
        defaultText: "one of the manifest's own, with a random login",
        help: "NATS server that is there already, at its address in the cluster and with a login: nats://USER:PASSWORD@HOST:4222, or tls://…",
      },
    },
    help: "Let agents on other hosts send the load, which wait on this NATS server with rampart agent: nats://USER:PASSWORD@HOST:4222, or tls://…",
  },
  {
    name: "agents",
    kind: "whole",
    setting: "client.bus.agentCount",
    doors: WITH_AGENTS,
    min: 1,
    max: MOST_AGENTS,
    example: 2,
    default: 1,
    help: "Number of agents that send, each its share of the load, with as many threads as --workers says.",
    differs: {
      k8s: {
        isCommon: true,
        default: undefined,
        help: "Number of pods that send, each its share of the load; one more conducts.",
      },
    },
  },
  {
    name: "fleet",
    kind: "choice",
    value: "mpi",
    setting: "client.fleet",
    choices: ["mpi"],
    doors: ["perf_analyzer", "genai-perf"],
    help: "Under mpirun, let the ranks send one load: rank 0 measures and reports, and the others send for it. Without this option each rank measures for itself.",
  },
  {
    name: "allow-lost",
    kind: "whole",
    setting: "client.bus.allowLost",
    doors: MEASURING,
    min: 0,
    max: MOST_AGENTS,
    example: 1,
    default: 0,
    help: "Number of agents that may be lost during the run. It continues without their share of the load, and the report says what is missing.",
  },
  {
    name: "agents-wait",
    kind: "duration",
    setting: "client.bus.waitMs",
    doors: WITH_AGENTS,
    default: DEFAULT_AGENTS_WAIT_MS,
    help: "Longest wait for the agents.",
    differs: {
      k8s: { default: PODS_WAIT_MS, help: "Longest wait for the NATS server, and for all pods that send." },
    },
  },
  ...BUS_FILES.map(
    ([name, key, help]): SharedOption => ({
      ...{ name, help, kind: "text", value: "FILE", setting: `client.bus.${key}`, doors: ON_BUS },
    }),
  ),
];
