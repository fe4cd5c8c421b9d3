import { countOf } from "../../plan/units.ts";
import type { ServerEvent } from "./events.ts";
import type { ResponseKind } from "./response-kind.ts";

/** The end of a stream of events, for kinds of responses with an end mark. */
export interface StreamEnd {
  /** Whether the end mark arrived. Without it, a complete response cannot be distinguished from a truncated one. */
  readonly isMarked: boolean;
  /** Description of the end mark. */
  readonly mark: string;
  readonly eventCount: number;
}

const CHAT_MARK = "[DONE] or a finish_reason";

/** End marks by kind. Other kinds have none. */
const MARKS: Readonly<Partial<Record<ResponseKind, string>>> = {
  chat: CHAT_MARK,
  multimodal: CHAT_MARK,
  completions: CHAT_MARK,
  responses: "response.completed, response.incomplete or response.failed",
  anthropic: "message_stop or a stop_reason",
};

export function hasEndMark(kind: ResponseKind): boolean {
  return MARKS[kind] !== undefined;
}

/** One more event may follow the end mark. */
const EXAMINED = 2;

/**
 * Returns the end of a stream; undefined for a response that is not a stream, and for kinds without an end mark.
 * @param firstRead start of the response; a JSON body is not a stream
 * @param finishReason finish reason of an event, which is an end mark too
 */
export function readStreamEnd(
  kind: ResponseKind,
  firstRead: string,
  events: readonly ServerEvent[],
  finishReason: string | undefined,
): StreamEnd | undefined {
  const mark = MARKS[kind];
  if (mark === undefined || events.length === 0 || /^\s*[{[]/.test(firstRead)) return undefined;
  const isMarked = finishReason !== undefined || events.slice(-EXAMINED).some(isEndMark);
  return { isMarked, mark, eventCount: events.length };
}

/** Explains why a stream without its end mark is a failure if other streams of the server had it. */
export function explainCutStream({ mark, eventCount }: StreamEnd): string {
  const events = eventCount === 1 ? "one event" : countOf(eventCount, "event");
  return `the stream ended after ${events} without its end mark (${mark}), which other streams had`;
}

function isEndMark({ name, data }: ServerEvent): boolean {
  return data === "[DONE]" || name === "message_stop" || /^\{\s*"type"\s*:\s*"message_stop"/.test(data);
}
