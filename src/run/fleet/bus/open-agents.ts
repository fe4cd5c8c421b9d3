import { randomUUID } from "node:crypto";
import type { BusPlan, Plan } from "../../../plan/plan.ts";
import { RunError } from "../../../plan/problem.ts";
import { countOf, msToNs, msToSec, nsToMs } from "../../../plan/units.ts";
import { nowNs, sleepUnless } from "../../../runtime/clock.ts";
import { VERSION } from "../../../runtime/version.ts";
import type { FunctionsSource } from "../../../scenario/thread-functions.ts";
import type { RunSignal } from "../../interrupt.ts";
import type { SeatsElsewhere } from "../open-fleet.ts";
import type { Seat, SeatListener } from "../seat.ts";
import {
  type AgentInfo,
  type Claim,
  type ClaimReply,
  claimSubject,
  FIND_SUBJECT,
  filesSubject,
} from "./agent-messages.ts";
import type { Bus } from "./bus.ts";
import { openBus } from "./nats-bus.ts";
import { RunAgent } from "./run-agent.ts";
import { type NotedFiles, noteRunFiles, sendFiles } from "./sent-files.ts";
import { findModules } from "./sent-modules.ts";

const DEFAULT_WAIT_MS = 10_000;
/** Time between two questions who is there; longer with many agents, as all of them reply. */
const ASK_MS = 250;
const ASK_MS_PER_AGENT = 2;
/** Time after which another agent is asked in place of one that does not reply. Its reply counts when it comes later. */
const CLAIM_MS = 2000;
/** Agents that an error names. */
const MOST_SHOWN = 5;
const BUSY = "it takes part in another run";
const SILENT = "it does not reply";

/** The agents of a run. */
export interface Agents extends SeatsElsewhere {
  /** Sends the files of this host that were opened meanwhile to all of them. @throws RunError when one of them is lost */
  sendFiles(plan: Plan): Promise<void>;
  /** Ends their part in the run. */
  close(): Promise<void>;
}

/** What agents are asked for. */
export interface AgentsOptions {
  /** Threads of each agent. */
  readonly workers: number;
  readonly signal: RunSignal;
  /** Where the functions of the plan are. Absent: it names none. */
  readonly functions?: FunctionsSource | undefined;
}

/** Finds agents on the bus and gets hold of them. @throws RunError when there are too few, by name where they refuse */
export async function openAgents(plan: BusPlan, { workers, signal, functions }: AgentsOptions): Promise<Agents> {
  const { agentCount = 1, waitMs = DEFAULT_WAIT_MS, allowLost = 0 } = plan;
  const runId = randomUUID();
  const modules = functions === undefined ? { paths: [], links: [] } : findModules(functions.context.path);
  const bus = await openBus(plan, "rampart conductor");
  const search = new AgentSearch(bus, { runId, version: VERSION });
  const agents = await search.find(agentCount, waitMs, signal.interrupted).catch(async (error: unknown) => {
    await bus.close();
    throw error;
  });
  return new RunAgents({ bus, runId, agents, threads: workers, allowLost, files: noteRunFiles(modules) });
}

/** Asks who is there until there are enough. */
class AgentSearch {
  private readonly bus: Bus;
  private readonly claim: Claim;
  /** Why agents that were heard of do not take part, by id. Those that are being asked have no reason yet. */
  private readonly heard = new Map<string, { readonly name: string; reason: string | undefined }>();
  private readonly agents: RunAgent[] = [];
  /** Ids of the agents that have agreed. */
  private readonly taken = new Set<string>();
  /** Number of agents that are being asked. */
  private askedCount = 0;
  private count = 0;
  /** 0 once the search is over. */
  private wanted = 0;
  private readonly enough = Promise.withResolvers<void>();

  constructor(bus: Bus, claim: Claim) {
    this.bus = bus;
    this.claim = claim;
  }

  /** Returns the agents, which are in touch with this process from the moment at which they take part. */
  async find(count: number, waitMs: number, interrupted: Promise<unknown>): Promise<readonly RunAgent[]> {
    this.count = count;
    this.wanted = count;
    const inbox = this.bus.createInbox();
    const end = this.bus.subscribe(inbox, (agent) => void this.meet(agent as AgentInfo));
    const isOver = Promise.race([this.enough.promise, interrupted]);
    let isInterrupted = false;
    void interrupted.then(() => {
      isInterrupted = true;
    });
    const endNs = nowNs() + msToNs(waitMs);
    while (this.found.length < count && !isInterrupted && nowNs() < endNs) {
      this.bus.publish(FIND_SUBJECT, {}, inbox);
      const askMs = Math.max(ASK_MS, ASK_MS_PER_AGENT * this.heard.size);
      await sleepUnless(Math.min(askMs, nsToMs(endNs - nowNs())), isOver);
    }
    this.wanted = 0;
    end();
    const { found } = this;
    if (found.length >= count) return found;
    await Promise.all(this.agents.map((agent) => agent.close()));
    throw this.tooFew(count, found.length, waitMs);
  }

  /** Those that take part and are still there. */
  private get found(): RunAgent[] {
    return this.agents.filter(({ isLost }) => !isLost);
  }

  /** Asks an agent that was heard of to take part, if another one is wanted. */
  private async meet({ id, name, isBusy }: AgentInfo): Promise<void> {
    const known = this.heard.get(id);
    if (known !== undefined && known.reason !== BUSY && known.reason !== SILENT) return;
    if (isBusy || this.found.length + this.askedCount >= this.wanted) {
      this.heard.set(id, { name, reason: BUSY });
      return;
    }
    const entry: { readonly name: string; reason: string | undefined } = { name, reason: undefined };
    this.heard.set(id, entry);
    this.askedCount++;
    const replied = this.ask(id);
    await sleepUnless(CLAIM_MS, replied);
    this.askedCount--;
    entry.reason = SILENT;
    const reply = await replied;
    entry.reason = reply.isTaken ? undefined : reply.reason;
    if (reply.isTaken) this.add(id, name);
  }

  private add(id: string, name: string): void {
    // It may have been asked twice.
    if (this.taken.has(id)) return;
    this.taken.add(id);
    const agent = new RunAgent(this.bus, this.claim.runId, { id, name }, this.count);
    // The search may have ended while it was asked.
    if (this.found.length >= this.wanted) {
      void agent.close();
      return;
    }
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

/** The agents that take part. The seats go round them, so that those of a share differ by one at most. */
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
