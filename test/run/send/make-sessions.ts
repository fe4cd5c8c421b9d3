import { type DataStep, type Dataset, NO_TENSORS } from "../../../src/inputs/dataset.ts";
import { SessionFeed } from "../../../src/run/send/session-feed.ts";
import type { Conversation } from "../../../src/service/service.ts";
import { makeService } from "./fake-client.ts";

/** Sessions of so many turns; a turn's byte is its number, counted through all sessions. */
export function makeSessions(...turnCounts: number[]): Dataset {
  let value = 0;
  const streams = turnCounts.map((count, session) =>
    Array.from(
      { length: count },
      (_, turn): DataStep => ({
        payload: Uint8Array.of(value++),
        inputs: NO_TENSORS,
        expected: NO_TENSORS,
        sessionId: `s${session}`,
        ...(turn === 0 ? { delayMs: 5 } : {}),
      }),
    ),
  );
  return { streams, isFromJson: true, warnings: [] };
}

/** A conversation that appends the last response to its request; the response "?" is unreadable. */
export function openConversation(): Conversation {
  let heard: number[] = [];
  return {
    nextRequest: ({ bytes }) => ({ bytes: Uint8Array.of(...bytes, ...heard) }),
    addResponse: (reads) => {
      heard = [...(reads[0] ?? [])];
      return heard[0] === 63 ? "unreadable" : undefined;
    },
  };
}

/** A feed of sessions of so many turns. */
export const makeSessionFeed = (...turnCounts: number[]): SessionFeed =>
  new SessionFeed(makeService(), makeSessions(...turnCounts), openConversation);
