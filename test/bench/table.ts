import { cpus, release } from "node:os";
import { formatThreeDigits } from "../../src/report/model/values.ts";
import { type Client, copyName, executableName, type Load, originalName } from "./clients.ts";
import { type Goal, judgeGoal, renderGoals, renderTable } from "./goals.ts";
import type { Sample, SleepLateness } from "./measure.ts";
import { median } from "./median.ts";

export type Case = {
  title: string;
  load: Load;
  /** Goal of a case with a core each: CPU per request, of perf_analyzer's. At a rate it is 1. Absent: there is none. */
  mostCpuRatio?: number;
  /** A short run is made too, so that the cost of a request without the start is known. */
  hasShort?: boolean;
};

/** Samples of every round, by case title and client name. */
export type Samples = Map<string, Map<string, Sample[]>>;

/** Times to the first request, ms, by way (`http`, `grpc`) and client name. */
export type Starts = Map<string, Map<string, number[]>>;

const HTTP = "HTTP, 16 concurrent";
const GRPC = "gRPC, 16 concurrent";
const HTTP_1 = "HTTP, 1 concurrent";
const GRPC_1 = "gRPC, 1 concurrent";
const GRPC_256 = "gRPC, 256 concurrent";
const HTTP_256 = "HTTP, 256 concurrent";
const BULK = "HTTP, tensors of 1 MiB, 16 concurrent";
const HTTP_SHARED = "HTTP shared memory, 16 concurrent";
const GRPC_SHARED = "gRPC shared memory, 16 concurrent";

const TWO_THREADS = "HTTP, 256 concurrent, two threads that send";
/** Whether two threads that send, their conductor and the server have a core each. */
const HAS_CORES_OF_TWO = cpus().length >= 4;

/** Requests per second. */
const HIGH_RATE = 30_000;
/** In place of the goal of a case that the executable runs alone. */
const NO_PEER = Number.POSITIVE_INFINITY;

export const cases: Case[] = [
  { ...pinned(HTTP, { way: "http" }), hasShort: true },
  { ...pinned(GRPC, { way: "grpc" }, 0.12), hasShort: true },
  { title: pinnedTitle(HTTP_256), load: { way: "http", concurrency: 256, isPinned: true }, hasShort: true },
  { title: TWO_THREADS, load: { way: "http", concurrency: 256, workers: 2 } },
  { title: pinnedTitle(BULK), load: { way: "http", concurrency: 16, isPinned: true, isBulk: true } },
  { ...pinned(GRPC_256, { way: "grpc", concurrency: 256 }, 0.12), hasShort: true },
  { title: HTTP_1, load: { way: "http", concurrency: 1 } },
  { title: GRPC_1, load: { way: "grpc", concurrency: 1 } },
  pinned("HTTP sequences, 16 concurrent", { way: "http", sequences: true }),
  pinned("gRPC sequences, 16 concurrent", { way: "grpc", sequences: true }),
  pinned("gRPC streams, 16 concurrent", { way: "stream" }, 0.2),
  pinned(HTTP_SHARED, { way: "http", sharedMemory: true }),
  pinned(GRPC_SHARED, { way: "grpc", sharedMemory: true }),
  pinned("TensorFlow Serving, 16 concurrent", { way: "grpc", serviceKind: "tfserving" }),
  pinned("TorchServe, 16 concurrent", { way: "http", serviceKind: "torchserve" }),
  pinned("dynamic gRPC, 16 concurrent", { way: "grpc", serviceKind: "dynamic_grpc" }),
  pinned("HTTP rate of 5,000/s", { way: "http", ratePerSec: 5000 }),
  pinned("gRPC rate of 5,000/s", { way: "grpc", ratePerSec: 5000 }),
  // About half of what one core sends at a rate. perf_analyzer falls behind.
  pinned("HTTP rate of 30,000/s", { way: "http", ratePerSec: HIGH_RATE }, NO_PEER),
  pinned("HTTP rate of 30,000/s, two threads that send", { way: "http", ratePerSec: HIGH_RATE, workers: 2 }, NO_PEER),
];

/** A case whose client and server are held to a core each, by the title of what is measured there. */
function pinned(what: string, load: Omit<Load, "concurrency"> & Partial<Load>, mostCpuRatio = 1 / 3): Case {
  return { title: pinnedTitle(what), load: { concurrency: 16, isPinned: true, ...load }, mostCpuRatio };
}

function pinnedTitle(what: string): string {
  return `${what}, a core each`;
}

/** Heads the table of starts; `--only` compares with it as with a case's title. */
export const startTitle = "start to first request";

/** The design allows this much; users do not notice a start as short as that. */
const MOST_START_MS = 60;

/** What the executable has to show against the others. A goal whose numbers are missing is not passed. */
export function judge(samples: Samples, starts: Starts): Goal[] {
  const middle = (title: string, name: string, field: Field) =>
    median((samples.get(title)?.get(name) ?? []).map((sample) => sample[field]));
  const ratio = (title: string, other: string, field: Field) =>
    middle(title, executableName, field) / middle(title, other, field);
  const ofWrk = (what: string) => ratio(pinnedTitle(what), "wrk", "cpuUsPerRequest");
  const ownCpu = (what: string) => middle(pinnedTitle(what), executableName, "cpuUsPerRequest");
  const startMs = (way: string) => median(starts.get(way)?.get(executableName) ?? []);
  const peers = (title: string, field: Field) => describePeers(samples, title, field);
  const ofWrkGoals = (what: string): Judged[] => [
    [`${what}: CPU per request, of wrk's`, ofWrk(what), 1, peers(pinnedTitle(what), "cpuUsPerRequest")],
    [
      `${what}: CPU per request without the start, of wrk's`,
      ratio(pinnedTitle(what), "wrk", "cpuUsPerFurther"),
      1,
      peers(pinnedTitle(what), "cpuUsPerFurther"),
    ],
  ];
  const bulk = pinnedTitle(BULK);
  const oneThread = middle(pinnedTitle(HTTP_256), executableName, "requestsPerSec");
  const twoThreads = middle(TWO_THREADS, executableName, "requestsPerSec");
  const goals: Judged[] = [
    ...ofWrkGoals(HTTP),
    ...ofWrkGoals(HTTP_256),
    [
      `${BULK}: requests/s of the plain copy, of ours`,
      1 / ratio(bulk, copyName, "requestsPerSec"),
      1.25,
      peers(bulk, "requestsPerSec"),
    ],
    [
      "HTTP, 256 concurrent: requests/s of one thread, of those of two",
      oneThread / twoThreads,
      HAS_CORES_OF_TWO ? 1 / 1.6 : undefined,
      listTools(
        [
          ["one thread", oneThread],
          ["two", twoThreads],
        ],
        "requests/s",
      ),
    ],
    ...[["HTTP", HTTP, HTTP_SHARED] as const, ["gRPC", GRPC, GRPC_SHARED] as const].map(
      ([way, plain, shared]): Judged => [
        `${way}: CPU per request in shared memory, of plain`,
        ownCpu(shared) / ownCpu(plain),
        1,
        listTools(
          [
            ["plain", ownCpu(plain)],
            ["shared memory", ownCpu(shared)],
          ],
          "µs CPU/request",
        ),
      ],
    ),
    ["HTTP: p50 at concurrency 1, of perf_analyzer's", ratio(HTTP_1, originalName, "p50Us"), 1, peers(HTTP_1, "p50Us")],
    ["gRPC: p50 at concurrency 1, of perf_analyzer's", ratio(GRPC_1, originalName, "p50Us"), 1, peers(GRPC_1, "p50Us")],
    ["HTTP: start to first request, ms", startMs("http"), MOST_START_MS, describeStarts(starts, "http")],
    ["gRPC: start to first request, ms", startMs("grpc"), MOST_START_MS, describeStarts(starts, "grpc")],
    ...cases.flatMap((one) => (one.load.isPinned ? goalsOfPinned(one, { ratio, middle, peers }) : [])),
  ];
  return goals.map((goal) => judgeGoal(...goal));
}

type Field = keyof Sample;

/** Of a goal: text, measured, limit and the same of other tools. */
type Judged = [text: string, measured: number, limit: number | undefined, peers?: string];

const PEER_UNITS: Partial<Record<Field, string>> = {
  cpuUsPerRequest: "µs CPU/request",
  cpuUsPerFurther: "µs CPU/request",
  requestsPerSec: "requests/s",
  p50Us: "µs p50",
  lateP99Us: "µs p99 late",
};

/** The medians of all tools in a case: `rampart 8.67, wrk 6.40 µs CPU/request`. Empty where nothing was measured. */
function describePeers(samples: Samples, title: string, field: Field): string {
  const tools = [...(samples.get(title) ?? [])].map(
    ([name, own]) => [name, median(own.map((sample) => sample[field]))] as const,
  );
  return listTools(tools, PEER_UNITS[field] ?? "");
}

function describeStarts(starts: Starts, way: string): string {
  return listTools(
    [...(starts.get(way) ?? [])].map(([name, times]) => [name, median(times)] as const),
    "ms",
  );
}

function listTools(tools: readonly (readonly [name: string, value: number])[], unit: string): string {
  const known = tools.filter(([, value]) => Number.isFinite(value));
  return known.length === 0
    ? ""
    : `${known.map(([name, value]) => `${name} ${formatThreeDigits(value)}`).join(", ")} ${unit}`;
}

/** What a goal of a case with a core each is judged by. */
interface Judging {
  ratio(title: string, other: string, field: Field): number;
  middle(title: string, name: string, field: Field): number;
  peers(title: string, field: Field): string;
}

/** Of a case with a core each. The rate has to be kept besides. */
function goalsOfPinned({ title, load, mostCpuRatio, hasShort }: Case, { ratio, middle, peers }: Judging): Judged[] {
  if (mostCpuRatio === undefined) return [];
  const what = title.slice(0, title.lastIndexOf(","));
  const text = `${what}: CPU per request, of perf_analyzer's`;
  const cpu = ratio(title, originalName, "cpuUsPerRequest");
  const cpuPeers = peers(title, "cpuUsPerRequest");
  if (load.ratePerSec === undefined) {
    const further = ratio(title, originalName, "cpuUsPerFurther");
    const furtherText = `${what}: CPU per request without the start, of perf_analyzer's`;
    const whole: Judged = [text, cpu, mostCpuRatio, cpuPeers];
    return hasShort ? [whole, [furtherText, further, mostCpuRatio, peers(title, "cpuUsPerFurther")]] : [whole];
  }
  const lateMs = middle(title, executableName, "lateP99Us") / 1000;
  const mostLateMs = load.workers === undefined || HAS_CORES_OF_TWO ? 1 : undefined;
  return [
    ...(mostCpuRatio === NO_PEER ? [] : [[text, cpu, 1, cpuPeers] satisfies Judged]),
    [`${what}: p99 lateness at the server, ms`, lateMs, mostLateMs, peers(title, "lateP99Us")],
  ];
}

/** The whole result as Markdown. */
export function renderReport(
  about: { rounds: number; starts: number; clients: Client[]; floor?: SleepLateness | undefined },
  samples: Samples,
  starts: Starts,
): string {
  const date = new Date().toISOString().slice(0, 10);
  const versions = about.clients.flatMap(({ name, version }) => (version === "" ? [] : [`${name} ${version}`]));
  const machine = `${cpus()[0]?.model.trim() ?? "unknown CPU"}, ${cpus().length} cores, Linux ${release()}`;
  const head = `Measured ${date} on ${machine}; ${about.rounds} rounds interleaved, medians; ${versions.join(", ")}.`;
  const how =
    "`simple` at `-b 8` (1,024 tensor bytes each way) against the Go stub in test/servers on the same machine, which counts the requests. " +
    "CPU is user and system time of the client's whole process tree, start included; without the start it is what the run costs more than one of 2 s, for each request more; p50 and p99 are the tool's own; " +
    "connections are those the server accepted, the ones for metadata and statistics included. " +
    "Two threads that send share two cores with the server, which is then the limit: with more, `npm run bench -- --only threads` shows what they add. " +
    "`plain copy` writes the bytes of the same requests and reads the responses, and does nothing else; of gRPC on perf_analyzer's connections. " +
    "Where it says so, client and server are held to a core each; sequences have `-b 1` and perf_analyzer's default length; " +
    "shared memory is `system`, inputs and outputs; requests to TorchServe are a file of 1,024 bytes as a form. A request is late against the constant schedule that fits best, by when the server's system got it, " +
    "while cores are kept awake where the system allows it (PM QoS)." +
    (about.floor === undefined ? "" : ` ${describeFloor(about.floor)}`);
  const tables = cases.flatMap((one) => renderCase(one, about.clients, samples));
  return [
    head,
    how,
    ...tables,
    ...renderStarts(about.starts, about.clients, starts),
    renderGoals(judge(samples, starts)),
  ].join("\n\n");
}

function describeFloor({ p50Us, p99Us, p999Us }: SleepLateness): string {
  const [p50, p99, p999] = [p50Us, p99Us, p999Us].map(formatUs);
  return `A thread that does nothing but sleep woke ${p50} µs late on the client's core (p99 ${p99}, p99.9 ${p999}).`;
}

function renderCase({ title, load, hasShort = false }: Case, clients: Client[], samples: Samples): string[] {
  const byClient = samples.get(title);
  if (byClient === undefined) return [];
  const base = median((byClient.get(executableName) ?? []).map((sample) => sample.cpuUsPerRequest));
  const rows = clients.flatMap(({ name }) => {
    const own = byClient.get(name);
    if (own === undefined || own.length === 0) return [];
    const of = (field: Field) => median(own.map((sample) => sample[field]));
    const cpuUs = of("cpuUsPerRequest");
    const speed = Math.round(of("requestsPerSec")).toLocaleString("en");
    const rest = [
      speed,
      formatUs(of("p50Us")),
      formatUs(of("p99Us")),
      of("peakMb").toFixed(0),
      of("connections").toFixed(0),
      of("serverCores").toFixed(2),
    ];
    const late = load.ratePerSec === undefined ? [] : [formatUs(of("lateP50Us")), formatUs(of("lateP99Us"))];
    const further = hasShort ? [of("cpuUsPerFurther").toFixed(2)] : [];
    return [[name, cpuUs.toFixed(2), ...further, `${(cpuUs / base).toFixed(2)} x`, ...rest, ...late]];
  });
  const header = [
    title,
    "CPU µs/request",
    ...(hasShort ? ["without the start"] : []),
    "of rampart's",
    "requests/s",
    "p50 µs",
    "p99 µs",
    "peak MB",
    "connections",
    "server's cores",
  ];
  const late = load.ratePerSec === undefined ? [] : ["late p50 µs", "late p99 µs"];
  return [renderTable([...header, ...late], rows)];
}

function renderStarts(count: number, clients: Client[], starts: Starts): string[] {
  if (starts.size === 0) return [];
  const rows = clients.flatMap(({ name }) => {
    const of = (way: string) => median(starts.get(way)?.get(name) ?? []);
    return Number.isNaN(of("http")) ? [] : [[name, of("http").toFixed(1), of("grpc").toFixed(1)]];
  });
  return [
    renderTable([`${startTitle}, ms (${count} starts in random order, of files just copied)`, "HTTP", "gRPC"], rows),
  ];
}

function formatUs(value: number): string {
  return Number.isNaN(value) ? "–" : value.toFixed(value < 100 ? 1 : 0);
}
