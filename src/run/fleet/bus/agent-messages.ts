import type { SeatTask, ThreadEvent } from "../sender-thread.ts";
import type { SentLink } from "./sent-modules.ts";

/** What conductors and agents say to each other over the bus. */

/** Changes when what is said changes; the version of the program is compared too. */
const PREFIX = "rampart.3";

/** Where conductors ask who is there. */
export const FIND_SUBJECT = `${PREFIX}.find`;

/** Where an agent is asked to take part in a run. */
export function claimSubject(agentId: string): string {
  return `${PREFIX}.agent.${agentId}`;
}

/** The link of a run between its conductor and one of its agents, from the conductor's side. */
export function linkSubjects(runId: string, agentId: string): { readonly send: string; readonly receive: string } {
  const base = `${PREFIX}.run.${runId}.${agentId}`;
  return { send: `${base}.agent`, receive: `${base}.conductor` };
}

/** Where the conductor of a run sends its files once for all of its agents. */
export function filesSubject(runId: string): string {
  return `${PREFIX}.run.${runId}.files`;
}

/** What an agent says of itself. */
export interface AgentInfo {
  readonly id: string;
  /** Name of its host, and its number among the processes there. */
  readonly name: string;
  readonly version: string;
  /** Whether it takes part in a run. */
  readonly isBusy: boolean;
}

/** A conductor's request for an agent. */
export interface Claim {
  readonly runId: string;
  readonly version: string;
}

/** An agent's reply. */
export type ClaimReply = { readonly isTaken: true } | { readonly isTaken: false; readonly reason: string };

/** A file of the conductor's host, or a piece of it. */
export interface SentPiece {
  readonly kind: "file";
  /** Among the pieces of all files, from 0 on, in their order. */
  readonly number: number;
  /** Absolute path there. */
  readonly path: string;
  readonly bytes: Uint8Array;
  /** The first piece begins the file. */
  readonly isFirst: boolean;
}

/** What a conductor says to an agent of its run. */
export type ToAgent =
  /** Files follow. @property folder that of relative paths */
  | {
      readonly kind: "sending-files";
      readonly folder: string;
      readonly links: readonly SentLink[];
      readonly totalBytes: number;
      /** The cache of tokenizers. */
      readonly hubCache: string;
    }
  /** Comes to all agents at once, and once more to one that misses it. */
  | SentPiece
  /** Pieces were sent to all. @property count number of all of them until now */
  | { readonly kind: "files-sent"; readonly count: number }
  | { readonly kind: "open-seat"; readonly seat: number }
  | { readonly kind: "task"; readonly seat: number; readonly task: SeatTask }
  | { readonly kind: "end-seat"; readonly seat: number }
  /** The run is over. */
  | { readonly kind: "end" };

/** What an agent says to the conductor of its run. */
export type ToConductor =
  | { readonly kind: "event"; readonly seat: number; readonly event: ThreadEvent }
  | { readonly kind: "gone"; readonly seat: number; readonly reason: string; readonly isCode: boolean }
  | { readonly kind: "seat-ended"; readonly seat: number }
  /** The reply to `files-sent`: numbers of the pieces that did not come. */
  | { readonly kind: "files-missing"; readonly numbers: readonly number[] }
  /** Nothing of the run is left there. */
  | { readonly kind: "ended" }
  /** It cannot take part. */
  | { readonly kind: "failed"; readonly reason: string };
