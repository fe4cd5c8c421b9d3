import { type UserError, userError } from "../../../plan/problem.ts";
import type { PromptEntry } from "../../../service/openai/prompt-entry.ts";
import { loadOf } from "../loads.ts";
import type { GenaiSettings } from "../options/settings.ts";

/** Checks that requests and load agree on sessions. GenAI-Perf's perf_analyzer fails if they do not. */
export class LoadCheck {
  private readonly ids = new Set<string>();
  private hasTimes = false;
  private readonly file: string;
  private readonly stimulus: GenaiSettings["perfAnalyzer"]["stimulus"];

  constructor({ input, perfAnalyzer }: GenaiSettings) {
    this.file = input.file;
    this.stimulus = perfAnalyzer.stimulus;
  }

  /** @param position index of the request, from 0 @throws UserError */
  add({ sessionId, delayMs, timestampMs }: PromptEntry, position: number): void {
    const { holdsSessions, followsTimes } = loadOf(this.stimulus.kind);
    this.hasTimes ||= timestampMs !== undefined;
    if (holdsSessions) {
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
      `request ${position + 1} has ${what}, which ${followsTimes ? "a fixed schedule does not support" : "only --session-concurrency supports"}`,
      followsTimes
        ? "Leave out session_id and delay, or use --session-concurrency instead of --fixed-schedule."
        : "Add --session-concurrency N, or leave out session_id and delay.",
    );
  }

  /** Called after the last request. @throws UserError */
  finish(): void {
    const { value: sessions = 0 } = this.stimulus;
    const count = this.ids.size;
    if (!loadOf(this.stimulus.kind).holdsSessions || count >= sessions) return;
    throw this.refuse(
      "--session-concurrency",
      `The input data file contains ${count} unique session IDs, which is fewer than the required session concurrency level of ${sessions}.`,
      "Please add more unique session IDs to the file or lower the session concurrency level.",
    );
  }

  /** Describes what the load ignores in the requests, in sentences without a full stop. */
  notes(): string[] {
    if (!this.hasTimes || loadOf(this.stimulus.kind).followsTimes) return [];
    return ["the requests have timestamps, which only --fixed-schedule follows"];
  }

  private refuse(path: string, message: string, hint: string): UserError {
    return userError("mismatch", path, message, hint, this.file === "" ? undefined : this.file);
  }
}
