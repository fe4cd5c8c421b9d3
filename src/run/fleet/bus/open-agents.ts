import { randomUUID } from "node:crypto";
import { DEFAULT_AGENTS_WAIT_MS } from "../../../plan/defaults.ts";
import type { BusPlan, Plan } from "../../../plan/plan.ts";
import { RunError } from "../../../plan/problem.ts";
import { countOf, msToNs, msToSec, nsToMs } from "../../../plan/units.ts";
import { nowNs, sleepUnless } from "../../../runtime/clock.ts";
import { VERSION } from "../../../runtime/this-program.ts";
import type { FunctionsSource } from "../../../scenario/thread-functions.ts";
import type { RunSignal } from "../../interrupt.ts";
import type { Seat, SeatListener } from "../seat.ts";
import type { SeatsElsewhere } from "../seat-sender.ts";
import {
  type AgentInfo,
  type Claim,
  type ClaimReply,
  claimSubject,
  FIND_SUBJECT,
  filesSubject,
} from "./agent-messages.ts";
import type { Bus } from "./bus.ts";
import { type GuardedBus, openBus } from "./nats-bus.ts";
import { RunAgent } from "./run-agent.ts";
import { type NotedFiles, noteRunFiles, sendFiles } from "./sent-files.ts";
import { findModules } from "./sent-modules.ts";

/** Time between two searches for agents; longer with many agents, because all of them reply. */
const ASK_MS = 250;
const ASK_MS_PER_AGENT = 2;
/** When an agent does not reply within this time, another one is asked. A later reply still counts. */
const CLAIM_MS = 2000;
/** Pause after agents were left to another run, in which its conductor asks for them. */
const YIELD_MS = 4 * ASK_MS;
/** Number of agents that an error message names. */
const MOST_SHOWN = 5;
const BUSY = "it takes part in another run";
const SILENT = "it does not reply";

/** The agents of a run. */
export interface Agents extends SeatsElsewhere {
  /**
   * Sends to all of them the files of this host that were opened since the last call. @throws RunError when one of them
   * is lost
   */
  sendFiles(plan: Plan): Promise<void>;
  /** Ends their part in the run. */
  close(): Promise<void>;
}

/** Request for agents. */
export interface AgentsOptions {
  /** Threads of each agent. */
  readonly workers: number;
  readonly signal: RunSignal;
  /** Module with the functions of the plan. Absent: it names none. */
  readonly functions?: FunctionsSource | undefined;
}

/** Finds agents on the bus and claims them. @throws RunError when there are too few; the message names those that refuse */
export async function openAgents(plan: BusPlan, { workers, signal, functions }: AgentsOptions): Promise<Agents> {
  const { agentCount = 1, waitMs = DEFAULT_AGENTS_WAIT_MS, allowLost = 0 } = plan;
  const modules = functions === undefined ? { paths: [], links: [] } : findModules(functions.context.path);
  const bus = await openBus(plan, "rampart conductor");
  const search = new AgentSearch(bus);
  const agents = await search.find(agentCount, waitMs, signal).catch(async (error: unknown) => {
    await bus.close();
    throw error;
  });
  void signal.interrupted.then(() => {
    for (const agent of agents) agent.hasten();
  });
  return new RunAgents({ bus, runId: search.runId, agents, threads: workers, allowLost, files: noteRunFiles(modules) });
}

function newClaim(): Claim {
  return { runId: randomUUID(), version: VERSION };
}

/** Searches for agents until there are enough. */
class AgentSearch {
  private readonly bus: GuardedBus;
  private claim = newClaim();
  /** Reasons why known agents do not take part, by id. Agents that are being asked have no reason yet. */
  private readonly heard = new Map<string, { readonly name: string; reason: string | undefined }>();
  private readonly agents: RunAgent[] = [];
  /** Ids of the agents that have agreed. */
  private readonly taken = new Set<string>();
  /** Number of agents being asked. */
  private askedCount = 0;
  private count = 0;
  /** End of the pause after agents were left to another run. */
  private resumeAtNs = 0;
  /** Number of agents that are wanted; 0 once the search is over. */
  private wanted = 0;
  private readonly enough = Promise.withResolvers<void>();

  /** Ends of the agents that were left to another run. */
  private readonly leaving: Promise<void>[] = [];

  constructor(bus: GuardedBus) {
    this.bus = bus;
  }

  get runId(): string {
    return this.claim.runId;
  }

  /** Returns the agents. They are in contact with this process from the moment at which they take part. */
  async find(count: number, waitMs: number, signal: RunSignal): Promise<readonly RunAgent[]> {
    this.count = count;
    this.wanted = count;
    const inbox = this.bus.createInbox();
    const end = this.bus.subscribe(inbox, (agent) => void this.meet(agent as AgentInfo));
    const isOver = Promise.race([this.enough.promise, signal.interrupted]);
    const endNs = nowNs() + msToNs(waitMs);
    while (this.found.length < count && !signal.isInterrupted && nowNs() < endNs) {
      if (nowNs() >= this.resumeAtNs) this.bus.publish(FIND_SUBJECT, {}, inbox);
      const askMs = Math.max(ASK_MS, ASK_MS_PER_AGENT * this.heard.size);
      await sleepUnless(Math.min(askMs, nsToMs(endNs - nowNs())), isOver);
    }
    this.wanted = 0;
    end();
    const { found } = this;
    if (found.length >= count) return found;
    await Promise.all([...this.leaving, ...this.agents.map((agent) => agent.close())]);
    signal.checkBefore();
    throw this.tooFew(count, found.length, waitMs);
  }

  /** Agents that take part and are still connected. */
  private get found(): RunAgent[] {
    return this.agents.filter(({ isLost }) => !isLost);
  }

  /** Asks a discovered agent to take part, if another one is wanted. */
  private async meet({ id, name, isBusy, waitingRunId }: AgentInfo): Promise<void> {
    if (waitingRunId !== undefined && waitingRunId < this.claim.runId) this.yieldAgents();
    const known = this.heard.get(id);
    if (known !== undefined && known.reason !== BUSY && known.reason !== SILENT) return;
    if (isBusy || this.found.length + this.askedCount >= this.wanted) {
      this.heard.set(id, { name, reason: BUSY });
      return;
    }
    const entry: { readonly name: string; reason: string | undefined } = { name, reason: undefined };
    this.heard.set(id, entry);
    this.askedCount++;
    const { claim } = this;
    const replied = this.ask(id);
    await sleepUnless(CLAIM_MS, replied);
    this.askedCount--;
    entry.reason = SILENT;
    const reply = await replied;
    entry.reason = reply.isTaken ? undefined : reply.reason;
    if (reply.isTaken) this.add(id, name, claim);
  }

  /**
   * Leaves the agents to another run that waits for more of them: two runs that each have some of the agents would wait for each other. The
   * run whose id comes first keeps its agents.
   */
  private yieldAgents(): void {
    if (this.agents.length === 0 || this.found.length >= this.wanted) return;
    this.resumeAtNs = nowNs() + msToNs(YIELD_MS);
    this.leaving.push(...this.agents.splice(0).map((agent) => agent.close()));
    // A link cannot begin again.
    this.claim = newClaim();
    for (const id of this.taken) {
      const entry = this.heard.get(id);
      if (entry !== undefined) entry.reason = BUSY;
    }
    this.taken.clear();
  }

  private add(id: string, name: string, claim: Claim): void {
    // The agent may have been asked twice.
    if (this.taken.has(id)) return;
    const agent = new RunAgent(this.bus, claim.runId, { id, name }, this.count);
    // While the agent was asked, the search may have ended, or left its agents to another run.
    if (this.found.length >= this.wanted || claim !== this.claim) {
      this.heard.set(id, { name, reason: BUSY });
      this.leaving.push(agent.close());
      return;
    }
    this.taken.add(id);
    this.agents.push(agent);
    if (this.found.length >= this.wanted) this.enough.resolve();
  }

  private async ask(id: string): Promise<ClaimReply> {
    const inbox = this.bus.createInbox();
    const replied = Promise.withResolvers<ClaimReply>();
    const end = this.bus.subscribe(inbox, (reply) => replied.resolve(reply as ClaimReply));
    this.bus.publish(claimSubject(id), this.claim, inbox);
    const reply = await replied.promise;
    end();
    return reply;
  }

  private tooFew(count: number, foundCount: number, waitMs: number): RunError {
    const others = [...this.heard.values()].flatMap(({ name, reason }) =>
      reason === undefined ? [] : [`${name}: ${reason}`],
    );
    const why = others.length === 0 ? "" : ` (${others.slice(0, MOST_SHOWN).join("; ")})`;
    if (this.bus.isOfLaunch) {
      const text = `${countOf(count, "process", "processes")} of the launch should send, and ${foundCount} came within ${msToSec(waitMs)} s${why}`;
      return new RunError("unreachable", text, "Look at what the launcher says about the others.");
    }
    const message = `${countOf(count, "agent is", "agents are")} needed, and ${foundCount} came within ${msToSec(waitMs)} s${why}`;
    return new RunError("unreachable", message, { say: "start-agents" });
  }
}

interface AgentsParts {
  readonly bus: Bus;
  readonly runId: string;
  readonly agents: readonly RunAgent[];
  /** Of each agent. */
  readonly threads: number;
  readonly allowLost: number;
  readonly files: NotedFiles;
}

/** The agents that take part. Seats are assigned round-robin, so that numbers of seats differ by at most one. */
class RunAgents implements Agents {
  readonly count: number;
  readonly threads: number;
  readonly allowLost: number;
  private readonly parts: AgentsParts;

  constructor(parts: AgentsParts) {
    this.parts = parts;
    this.count = parts.agents.length * parts.threads;
    this.threads = parts.threads;
    this.allowLost = parts.allowLost;
  }

  get isConnected(): boolean {
    return this.parts.bus.isConnected;
  }

  open(index: number, listener: SeatListener): Seat {
    const { agents } = this.parts;
    const agent = agents[index % agents.length];
    if (agent === undefined) throw new RangeError(`there is no seat ${index}`);
    return agent.openSeat(index, listener);
  }

  async sendFiles(plan: Plan): Promise<void> {
    const { bus, runId, files, agents } = this.parts;
    await sendFiles(await files.end(plan), agents, {
      mostBytes: bus.mostBytes,
      publish: (piece) => bus.publish(filesSubject(runId), piece),
    });
  }

  async close(): Promise<void> {
    const { bus, agents } = this.parts;
    await Promise.all(agents.map((agent) => agent.close()));
    await bus.close();
  }
}
