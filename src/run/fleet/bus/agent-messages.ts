import type { SeatTask, ThreadEvent } from "../sender-thread.ts";
import type { SentLink } from "./sent-modules.ts";

/** Messages between conductors and agents over the bus. */

/** Change this when the messages change; the version of the program is compared too. */
const PREFIX = "rampart.3";

/** Subject on which conductors look for agents. */
export const FIND_SUBJECT = `${PREFIX}.find`;

/** Returns the subject on which an agent is asked to take part in a run. */
export function claimSubject(agentId: string): string {
  return `${PREFIX}.agent.${agentId}`;
}

/** Returns the link of a run between its conductor and one of its agents, from the conductor's side. */
export function linkSubjects(runId: string, agentId: string): { readonly send: string; readonly receive: string } {
  const base = `${PREFIX}.run.${runId}.${agentId}`;
  return { send: `${base}.agent`, receive: `${base}.conductor` };
}

/** Returns the subject on which a run's conductor sends its files once for all agents. */
export function filesSubject(runId: string): string {
  return `${PREFIX}.run.${runId}.files`;
}

/** An agent's description of itself. */
export interface AgentInfo {
  readonly id: string;
  /** Its host's name, and its number among the processes there. */
  readonly name: string;
  readonly version: string;
  /** Whether it takes part in a run. */
  readonly isBusy: boolean;
  /** Id of that run if its conductor has sent nothing yet: it may still be looking for more agents. Absent: it has begun. */
  readonly waitingRunId?: string | undefined;
}

/** A conductor's request for an agent. */
export interface Claim {
  readonly runId: string;
  readonly version: string;
}

/** An agent's reply. */
export type ClaimReply = { readonly isTaken: true } | { readonly isTaken: false; readonly reason: string };

/** A file of the conductor's host, or a piece of one. */
export interface SentPiece {
  readonly kind: "file";
  /** Number among the pieces of all files, in order, from 0. */
  readonly number: number;
  /** Absolute path on the conductor's host. */
  readonly path: string;
  readonly bytes: Uint8Array;
  /** Whether the file begins with this piece. */
  readonly isFirst: boolean;
}

/** A message of the conductor to an agent of its run. */
export type ToAgent =
  /** Files follow. @property folder base of relative paths */
  | {
      readonly kind: "sending-files";
      readonly folder: string;
      readonly links: readonly SentLink[];
      readonly totalBytes: number;
      /** Cache of tokenizers. */
      readonly hubCache: string;
    }
  /** Sent to all agents at once, and again to an agent that missed it. */
  | SentPiece
  /** Pieces were sent to all agents. @property count total number of pieces until now */
  | { readonly kind: "files-sent"; readonly count: number }
  | { readonly kind: "open-seat"; readonly seat: number }
  | { readonly kind: "task"; readonly seat: number; readonly task: SeatTask }
  | { readonly kind: "end-seat"; readonly seat: number }
  /** The run is over. */
  | { readonly kind: "end" };

/** A message of an agent to the conductor of its run. */
export type ToConductor =
  | { readonly kind: "event"; readonly seat: number; readonly event: ThreadEvent }
  | { readonly kind: "gone"; readonly seat: number; readonly reason: string; readonly isCode: boolean }
  | { readonly kind: "seat-ended"; readonly seat: number }
  /** Reply to `files-sent`: numbers of the pieces that did not arrive. */
  | { readonly kind: "files-missing"; readonly numbers: readonly number[] }
  /** The agent has removed everything of the run. */
  | { readonly kind: "ended" }
  /** The agent cannot take part. */
  | { readonly kind: "failed"; readonly reason: string };
