import { fewSessions } from "../../../load/sessions/session-concurrency.ts";
import type { LoadPlan } from "../../../plan/load-plan.ts";
import { fieldOf } from "../../../plan/objects.ts";
import { type UserError, userError } from "../../../plan/problem.ts";
import { loadModeOf } from "../../../registry/load-modes.ts";
import type { PromptEntry } from "../../../service/openai/prompt-entry.ts";

/** Checks that requests and load agree on sessions. GenAI-Perf's perf_analyzer fails if they do not. */
export class LoadCheck {
  private readonly ids = new Set<string>();
  private hasTimes = false;
  private readonly load: LoadPlan;
  private readonly file: string;

  /** @param file file of the requests, as the user wrote it; empty: they are generated */
  constructor(load: LoadPlan, file: string) {
    this.load = load;
    this.file = file;
  }

  private get holdsSessions(): boolean {
    return loadModeOf(this.load).dataOrder === "in-sessions";
  }

  private get followsTimes(): boolean {
    return loadModeOf(this.load).dataOrder === "at-times";
  }

  /** @param position index of the request, from 0 @throws UserError */
  add({ sessionId, delayMs, timestampMs }: PromptEntry, position: number): void {
    this.hasTimes ||= timestampMs !== undefined;
    if (this.holdsSessions) {
      if (sessionId !== undefined) this.ids.add(sessionId);
      else
        throw this.refuse(
          "--session-concurrency",
          `request ${position + 1} belongs to no session`,
          'Give every line of payload:FILE a "session_id", or leave --session-concurrency out.',
        );
      return;
    }
    // Sending the turns of a session without their order and delays would measure something else.
    if (sessionId === undefined && delayMs === undefined) return;
    const what = sessionId === undefined ? "a delay" : "a session";
    throw this.refuse(
      "--input-file",
      `request ${position + 1} has ${what}, which ${this.followsTimes ? "a fixed schedule does not support" : "only --session-concurrency supports"}`,
      this.followsTimes
        ? "Leave out session_id and delay, or use --session-concurrency instead of --fixed-schedule."
        : "Add --session-concurrency N, or leave out session_id and delay.",
    );
  }

  /** Call after the last request. @throws UserError */
  finish(): void {
    const sessions = fieldOf(this.load, "concurrency") ?? 0;
    const count = this.ids.size;
    if (!this.holdsSessions || count >= sessions) return;
    throw this.refuse("--session-concurrency", ...fewSessions(count, sessions));
  }

  /** Describes parts of the requests that the load ignores, in sentences without a full stop. */
  notes(): string[] {
    if (!this.hasTimes || this.followsTimes) return [];
    return ["the requests have timestamps, which only --fixed-schedule follows"];
  }

  private refuse(path: string, message: string, hint: string): UserError {
    return userError("mismatch", path, message, hint, this.file === "" ? undefined : this.file);
  }
}
