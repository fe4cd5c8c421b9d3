import type { AnswerKind } from "./answer-kind.ts";
import type { ServerEvent } from "./events.ts";

/** How a stream of events ended, for kinds of answers whose protocol marks the end. */
export interface StreamEnd {
  /** Whether the mark came. Without it nobody can tell a whole answer from one that was cut short. */
  readonly isMarked: boolean;
  /** What the mark is, in words. */
  readonly mark: string;
  readonly eventCount: number;
}

const CHAT_MARK = "[DONE] or a finish_reason";

/** Other kinds of answers just end. */
const MARKS: Readonly<Partial<Record<AnswerKind, string>>> = {
  chat: CHAT_MARK,
  multimodal: CHAT_MARK,
  completions: CHAT_MARK,
  responses: "response.completed, response.incomplete or response.failed",
  anthropic: "message_stop or a stop_reason",
};

/** The mark may have one more event behind it. */
const EXAMINED = 2;

/**
 * How a stream ended; undefined for what is no stream, and for kinds without an end mark.
 *
 * @param firstRead the beginning of what was read: a JSON body is no stream
 * @param finishReason what an event said it was, which is a mark too
 */
export function readStreamEnd(
  kind: AnswerKind,
  firstRead: string,
  events: readonly ServerEvent[],
  finishReason: string | undefined,
): StreamEnd | undefined {
  const mark = MARKS[kind];
  if (mark === undefined || events.length === 0 || /^\s*[{[]/.test(firstRead)) return undefined;
  const isMarked = finishReason !== undefined || events.slice(-EXAMINED).some(isEndMark);
  return { isMarked, mark, eventCount: events.length };
}

/** Why a stream without its end mark is a failure, where others of the same server had theirs. */
export function explainCutStream({ mark, eventCount }: StreamEnd): string {
  const events = eventCount === 1 ? "one event" : `${eventCount} events`;
  return `the stream ended after ${events} without its end mark (${mark}), which other streams had`;
}

function isEndMark({ name, data }: ServerEvent): boolean {
  return data === "[DONE]" || name === "message_stop" || /^\{\s*"type"\s*:\s*"message_stop"/.test(data);
}
