import type { Failure } from "../failure.ts";
import type { WireRequest } from "../request.ts";

/** Whether exactly one response to the request is valid. */
export function expectsOneResponse({ messages, callType }: WireRequest): boolean {
  if (callType === undefined) return messages === undefined;
  return callType === "unary" || callType === "client-stream";
}

/** Failure of a call that ended before its last message was complete. */
export const ENDED_INSIDE_MESSAGE: Failure = { kind: "protocol", message: "the response ended inside a message" };

/** Returns the failure of a call that must have one response and whose status is OK; undefined when it has one. */
export function checkResponseCount(messageCount: number): Failure | undefined {
  if (messageCount === 1) return undefined;
  if (messageCount === 0) return { kind: "protocol", message: "status OK without a message" };
  return { kind: "protocol", message: `${messageCount} messages in response to a call that has one` };
}
