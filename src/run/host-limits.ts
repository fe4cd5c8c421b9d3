import { availableParallelism } from "node:os";
import { LEVEL_UNITS } from "../load/level-units.ts";
import { largestLevel } from "../load/levels.ts";
import type { LevelSearch } from "../load/load-mode.ts";
import { levelAt } from "../load/search.ts";
import type { Text } from "../plan/messages.ts";
import type { Plan } from "../plan/plan.ts";
import { problem, RunError, UserError } from "../plan/problem.ts";
import { countOf, formatCount } from "../plan/units.ts";
import { loadModeOf } from "../registry/load-modes.ts";
import { membersOf } from "../registry/mix.ts";
import { targetKindOf, urlsOf } from "../registry/service-kinds.ts";
import { type Cancel, type Clock, systemClock } from "../runtime/clock.ts";
import { type HostResources, readHostResources } from "../runtime/machine.ts";
import { runtimeName } from "../runtime/runtime.ts";
import { isOwnAddress } from "../runtime/this-host.ts";
import type { Failure } from "../transport/failure.ts";
import { RESPONSES_BUDGET } from "../transport/growing-bytes.ts";
import { LANES_PER_CONNECTION } from "../transport/grpc/lanes.ts";
import { laneOptionsOf, UNKNOWN_MODEL } from "./lanes.ts";

/**
 * Limits what this thread keeps of responses to its share of a quarter of the free memory. @param threads number of threads that send
 */
export function limitKeptResponses(
  { resources, sharedBy = 1 }: Pick<HostLimits, "resources" | "sharedBy">,
  threads: number,
): void {
  RESPONSES_BUDGET.limitTo(Math.floor((resources.memoryBytes * REQUESTS_RATIO) / sharedBy / threads));
}

/** The setting or resource that limits the number of requests in flight. */
type LimitCause = "asked" | "memory" | "files" | "ports";

/** Limits on a run's use of its host, or of the hosts of its agents. */
export interface HostLimits {
  /** Maximum number of outstanding requests. */
  readonly maxOutstanding: number;
  readonly cause: LimitCause;
  /** Whether the user can raise the number. */
  readonly canRaise: boolean;
  /** Memory in bytes that requests in flight may take. */
  readonly requestBytes: number;
  /** Memory in bytes that the process may use in addition to its use at the start of the load. */
  readonly memoryBytes: number;
  readonly resources: HostResources;
  /** Number of source addresses of connections; 0: the system chooses, which gives one for each server. */
  readonly sourceCount: number;
  /** Number of agents that share the host. Default: 1. */
  readonly sharedBy?: number | undefined;
  /**
   * The agents that send, with limits for all of them together; the other fields are those of the agent with the lowest
   * limit. Absent: this process sends.
   */
  readonly agents?: { readonly count: number; readonly leastName: string } | undefined;
}

const MIB = 1024 * 1024;
/** Default memory of requests in flight: a share of the free memory, or a number of bytes if that is less. */
const REQUESTS_RATIO = 0.25;
const REQUESTS_BYTES = 512 * MIB;
/** Share of the free memory above which the host is in danger. */
const DANGER_RATIO = 0.75;
/** Memory of a connection and of a request in flight, measured and rounded up. Deno uses the most. */
const CONNECTION_BYTES = 24 * 1024;
const STREAM_BYTES = (runtimeName === "deno" ? 24 : 8) * 1024;
/**
 * Files other than connections that a process opens during a run, and that each sending thread opens, with its queries. Measured: 3 to 8.
 */
const OTHER_FILES = 32;
const THREAD_FILES = 12;
/** No limit is below this, so that small hosts can measure too. */
const FEW_REQUESTS = 64;
/** With at most this many lanes, requests share so few connections that they need no limit. */
const FEW_LANES = 64;
const WATCH_MS = 250;

/**
 * Returns the limits of a run, of all its threads together.
 * @param resources resources of the host. Default: read now
 * @param sharedBy number of agents that share the host's memory and ports. Default: 1
 */
export function hostLimitsOf(
  plan: Plan,
  search: LevelSearch,
  resources = readHostResources(),
  sharedBy = 1,
): HostLimits {
  const { client, load } = plan;
  const { workers = 1, sourceAddresses = [] } = client;
  const usesWholeHost = plan.behaviour?.usesWholeHost === true;
  const { bytes, files, ports } = needsOf(plan, search);
  const free = resources.memoryBytes / sharedBy;
  const budget = usesWholeHost ? free * DANGER_RATIO : Math.min(free * REQUESTS_RATIO, REQUESTS_BYTES);
  // A load with a limit asks for this number.
  const asked = client.maxOutstanding ?? loadModeOf(load).maxOutstanding?.(load);
  const memory = Math.max(asked ?? 0, Math.floor(budget / bytes));
  const threadCount = workers === "auto" ? availableParallelism() : workers;
  const threadFiles = threadCount > 1 ? threadCount * THREAD_FILES : 0;
  const spareFiles = resources.fileLimit - resources.openFiles - OTHER_FILES - threadFiles;
  const sourceCount = new Set(sourceAddresses).size;
  const causes: readonly [LimitCause, number][] = [
    ["asked", client.maxOutstanding ?? Number.POSITIVE_INFINITY],
    ["files", Math.max(FEW_REQUESTS, Math.floor(spareFiles / files))],
    ["ports", Math.floor((resources.localPorts * Math.max(1, sourceCount)) / sharedBy / ports)],
    ["memory", Math.max(FEW_REQUESTS, memory)],
  ];
  const [cause, maxOutstanding] = causes.reduce((least, other) => (other[1] < least[1] ? other : least));
  return {
    maxOutstanding,
    cause,
    canRaise: !usesWholeHost,
    requestBytes: budget,
    memoryBytes: free * DANGER_RATIO,
    resources,
    sourceCount,
    sharedBy,
  };
}

/** Threads and limits of an agent. */
export interface AgentLimits {
  readonly name: string;
  readonly limits: HostLimits;
}

/**
 * Returns the joint limits of agents. Each of their threads sends the same share.
 * @param agents one or more @param threads number of each agent's threads
 */
export function limitsOfAgents(
  { client }: Pick<Plan, "client">,
  agents: readonly [AgentLimits, ...AgentLimits[]],
  threads: number,
): HostLimits {
  const least = agents.reduce((a, b) => (b.limits.maxOutstanding < a.limits.maxOutstanding ? b : a));
  const most = agents.length * threads * partOfThread(least.limits, threads);
  const asked = client.maxOutstanding ?? Number.POSITIVE_INFINITY;
  return {
    ...least.limits,
    ...(asked <= most ? { cause: "asked" } : {}),
    maxOutstanding: Math.min(asked, most),
    agents: { count: agents.length, leastName: least.name },
  };
}

/** Returns the maximum number of outstanding requests of each of an agent's threads. */
export function partOfThread({ maxOutstanding }: HostLimits, threads: number): number {
  return Math.max(1, Math.floor(maxOutstanding / threads));
}

/** Resources that one more request in flight needs; 0 files or ports: it shares existing ones. */
interface RequestNeeds {
  readonly bytes: number;
  readonly files: number;
  /** Ports of each source address, for the server with the most connections: connections to other servers may reuse them. */
  readonly ports: number;
}

/** With HTTP, each request in flight has a connection to every server; with gRPC, lanes share connections. */
function needsOf(plan: Plan, search: LevelSearch): RequestNeeds {
  const { laneCount } = laneOptionsOf(plan, search, UNKNOWN_MODEL);
  const members = membersOf(plan.target).map((member) => member.target);
  let bytes = 0;
  let files = 0;
  const ports = new Map<string, number>();
  for (const target of members.length > 0 ? members : [plan.target]) {
    const isShared = target.protocol !== "http" && laneCount <= FEW_LANES;
    const connections = target.protocol === "http" ? 1 : isShared ? 0 : 1 / LANES_PER_CONNECTION;
    const urls = urlsOf(target);
    const serverCount = urls.length;
    const isInProcess = targetKindOf(target).isInProcess === true;
    // When the run starts the target itself, this process also has the target's end of each connection.
    const ends = isInProcess ? 0 : Math.max(1, serverCount) * connections * (serverCount === 0 ? 2 : 1);
    files += ends;
    for (const place of isInProcess ? [] : placesOf(urls)) ports.set(place, (ports.get(place) ?? 0) + connections);
    bytes += STREAM_BYTES + ends * CONNECTION_BYTES;
  }
  return { bytes, files, ports: Math.max(0, ...ports.values()) };
}

/** Returns the host and port of each address; a single place for a target that the run starts. */
function placesOf(urls: readonly string[]): readonly string[] {
  if (urls.length === 0) return ["own"];
  return urls.map((url) => /^=?(?:https?:\/\/)?([^/]*)/i.exec(url.trim())?.[1]?.toLowerCase() ?? url);
}

/** Checks that this host has the source addresses of the plan. @throws UserError */
export async function checkSources({
  client: { sourceAddresses = [] },
}: {
  readonly client: Pick<Plan["client"], "sourceAddresses">;
}): Promise<void> {
  const areOwn = await Promise.all(sourceAddresses.map(isOwnAddress));
  const foreign = sourceAddresses.filter((_, index) => areOwn[index] !== true);
  const hint = "Give addresses of its interfaces: ip addr lists them.";
  const at = { setting: "client.sourceAddresses" } as const;
  if (foreign.length > 0)
    throw new UserError(
      foreign.map((one) => problem("invalid-value", at, "is not an address of this host", hint, one)),
    );
}

/** Returns a warning before the run when its highest level is above the limits. */
export function warnOfLevels(limits: HostLimits, { unit, levels, search }: LevelSearch): readonly Text[] {
  const largest = largestLevel(levels);
  const first = levelAt(levels, 0);
  const { maxOutstanding } = limits;
  if (LEVEL_UNITS[unit].isScheduled || search !== "linear" || largest === undefined || first === undefined) return [];
  // The error of the first level is reported at once.
  if (largest <= maxOutstanding || first > maxOutstanding) return [];
  const [why, hint] = EXPLANATIONS[limits.cause](limits);
  const head = `the run will end before ${countOf(largest, "request")} in flight, at ${whoseLimit(limits)} limit of ${formatCount(maxOutstanding)}: `;
  return [[head, why, ". ", hint]];
}

/**
 * Returns the error of a run that has reached the limit. @param wanted the load's number of requests in flight, if the load was not
 * started because of it
 */
export function limitReached(limits: HostLimits, wanted?: number): RunError {
  const most = `${countOf(limits.maxOutstanding, "request")} in flight`;
  const [why, hint] = EXPLANATIONS[limits.cause](limits);
  const message =
    wanted === undefined
      ? `${limits.agents === undefined ? "the client reached its" : "the agents reached their"} limit of ${most}: `
      : `the load needs ${countOf(wanted, "request")} in flight, above ${whoseLimit(limits)} limit of ${formatCount(limits.maxOutstanding)}: `;
  return new RunError("host-limit", [message, why], hint);
}

function whoseLimit({ agents }: HostLimits): string {
  if (agents === undefined) return "the client's";
  return agents.count === 1 ? "the agent's" : `the ${formatCount(agents.count)} agents'`;
}

/** Names the sending process and its host. */
function nameSender({ agents }: HostLimits): { readonly process: string; readonly host: string } {
  if (agents === undefined) return { process: "this process", host: "this host" };
  return { process: `the agent ${agents.leastName}`, host: `the host of the agent ${agents.leastName}` };
}

/** Describes who shares the host's resources. */
function describeSharing({ sharedBy = 1 }: HostLimits): string {
  return sharedBy === 1 ? "" : `, for ${formatCount(sharedBy)} agents`;
}

const raiseFiles = ({ agents }: HostLimits): string =>
  agents === undefined
    ? "Raise that limit (ulimit -n), or lower the load."
    : "Raise that limit where the agent starts (ulimit -n), use agents on more hosts, or lower the load.";

const EXPLANATIONS: Readonly<Record<LimitCause, (limits: HostLimits) => readonly [why: Text, hint: Text]>> = {
  asked: () => [{ say: "too-many-outstanding" }, { say: "allow-outstanding" }],
  memory: (limits) => {
    const { canRaise, requestBytes, resources, agents } = limits;
    const need = `more could need over ${formatMib(requestBytes)} of memory`;
    const free = `${formatMib(resources.memoryBytes)} are free`;
    if (agents === undefined) return [`${need}; ${free}`, canRaise ? { say: "allow-more-memory" } : "Lower the load."];
    return [
      `${need} at the agent ${agents.leastName}; ${free}${describeSharing(limits)}`,
      { say: "agents-more-memory" },
    ];
  },
  files: (limits) => [
    `${nameSender(limits).process} may open ${formatCount(limits.resources.fileLimit)} files`,
    raiseFiles(limits),
  ],
  ports: (limits) => [
    `${nameSender(limits).host} has ${formatCount(limits.resources.localPorts)} ports for connections to one address${describeSources(limits.sourceCount)}${describeSharing(limits)}`,
    { say: "more-ports" },
  ],
};

function describeSources(count: number): string {
  if (count === 0) return "";
  return count === 1 ? " from one source address" : ` from each of ${count} source addresses`;
}

/**
 * Returns the error of a run whose requests fail because this host has no free file descriptor, or no memory for their
 * responses.
 */
export function hostExhausted(limits: HostLimits, { isMemory, message: why = "" }: Partial<Failure> = {}): RunError {
  if (isMemory === true) {
    const hint = "Have fewer requests in flight, or leave out what needs whole responses, such as check.";
    const { agents } = limits;
    return new RunError("host-limit", `${agents === undefined ? "" : `the agent ${agents.leastName}: `}${why}`, hint);
  }
  const { process: who, host } = nameSender(limits);
  const message = `${host}, not the server, ran out of file descriptors: ${who} may open ${formatCount(limits.resources.fileLimit)} files`;
  return new RunError("host-limit", message, raiseFiles(limits));
}

/**
 * Watches the memory of this process during a load.
 * @param onReached called once, when the process uses more than the limits allow @returns ends the watch
 */
export function watchMemory(
  { memoryBytes, resources }: HostLimits,
  onReached: (error: RunError) => void,
  clock: Clock = systemClock,
  usedBytes: () => number = () => process.memoryUsage.rss(),
): Cancel {
  const atStart = usedBytes();
  const stop = clock.every(WATCH_MS, () => {
    const used = usedBytes() - atStart;
    if (used <= memoryBytes) return;
    stop();
    const message = `the load took ${formatMib(used)} of the ${formatMib(resources.memoryBytes)} of memory that were free`;
    onReached(new RunError("host-limit", message, "Lower the load, or the size of its requests and responses."));
  });
  return stop;
}

function formatMib(bytes: number): string {
  return `${formatCount(Math.round(bytes / MIB))} MiB`;
}
