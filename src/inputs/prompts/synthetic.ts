import { defined } from "../../plan/objects.ts";
import { createRandomFor } from "../../runtime/random.ts";
import type { PromptEntry } from "../../service/openai/prompt-entry.ts";
import { drawRounded } from "../lengths.ts";
import { openEncoders } from "../media/encoders.ts";
import { joinBefore, NO_OPENING, type PromptMaker, type Slot } from "./prompt-maker.ts";
import type { SessionSettings } from "./settings.ts";

/** GenAI-Perf's list name for a run without names. */
const DEFAULT_LIST = "synthetic_data.json";

/** Generates single requests or sessions, one list for each name. */
export async function* makeSynthetic(maker: PromptMaker, names: readonly string[]): AsyncGenerator<PromptEntry> {
  const { images, audio, sessions, entryCount } = maker.settings;
  const isInSessions = sessions !== undefined && sessions.count > 0;
  maker.expect(isInSessions ? sessions.count : entryCount);
  const encoders = await openEncoders({
    isJpegNeeded: images !== undefined && images.format !== "png",
    isMp3Needed: audio?.format === "mp3",
  });
  for (const list of names.length === 0 ? [DEFAULT_LIST] : names) {
    if (isInSessions) {
      yield* makeSessions(maker, list, sessions);
      continue;
    }
    for (let position = 0; position < entryCount; position++) {
      const slot = { list, position };
      yield { ...makeEntry(maker, slot, true), ...maker.media(slot, encoders) };
    }
  }
}

/** Generates queries, each with its passages. */
export function* makeRankings(maker: PromptMaker): Generator<PromptEntry> {
  maker.expect(maker.settings.entryCount);
  for (let position = 0; position < maker.settings.entryCount; position++) {
    const query = maker.text(maker.lengths({ list: "queries", position }).input, { list: "queries", position }, 0);
    const slot = { list: "passages", position };
    const { input } = maker.lengths(slot);
    const passages = Array.from({ length: maker.settings.textsPerRequest }, (_, part) => maker.text(input, slot, part));
    yield { texts: [query], passages };
  }
}

/** @param isOpening false for a session's later turns, which have no opening */
function makeEntry(maker: PromptMaker, slot: Slot, isOpening: boolean): PromptEntry {
  const { input, output } = maker.lengths(slot);
  const { frame, prefix, before } = isOpening ? maker.opening(slot) : NO_OPENING;
  const texts = Array.from({ length: maker.settings.textsPerRequest }, (_, part) =>
    joinBefore(prefix, maker.text(input, slot, part, before)),
  );
  return { texts, ...frame, ...defined({ maxTokens: output }) };
}

function* makeSessions(maker: PromptMaker, list: string, sessions: SessionSettings): Generator<PromptEntry> {
  let position = 0;
  for (let session = 0; session < sessions.count; session++) {
    const random = createRandomFor(maker.settings.seed, "session", list, session);
    const sessionId = makeUuid(random);
    const turnCount = drawRounded(random, sessions.turns, 1);
    for (let turn = 0; turn < turnCount; turn++, position++) {
      const entry = makeEntry(maker, { list, position }, turn === 0);
      const isLast = turn === turnCount - 1;
      yield { ...entry, sessionId, ...(isLast ? {} : { delayMs: drawRounded(random, sessions.delayMs, 0) }) };
    }
  }
}

/** Generates a UUID (version 4). */
function makeUuid(random: () => number): string {
  return "xxxxxxxx-xxxx-4xxx-yxxx-xxxxxxxxxxxx".replace(/[xy]/g, (letter) => {
    const digit = Math.floor(random() * 16);
    return (letter === "x" ? digit : (digit & 3) | 8).toString(16);
  });
}
