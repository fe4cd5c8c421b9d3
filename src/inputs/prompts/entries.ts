import { problem, UserError } from "../../plan/problem.ts";
import type { PromptEntry } from "../../service/openai/prompt-entry.ts";
import type { Tokenizer } from "../../tokenize/tokenizer.ts";
import { readConversations } from "./conversations.ts";
import { readPayloadFile } from "./payload-file.ts";
import { readPrompts, readRankings } from "./prompt-file.ts";
import { PromptMaker } from "./prompt-maker.ts";
import type { PromptSettings } from "./settings.ts";
import { makeRankings, makeSynthetic } from "./synthetic.ts";
import { readTraceCsv } from "./trace-csv.ts";

/**
 * Yields all requests of a run once, in order. Files are read incrementally, so that only one line is in memory (except for batches of
 * several texts or images, which need all lines).
 * @param tokenizer only needed to generate prompts
 * @throws UserError when an entry is not valid, and at the end when there was none
 */
export async function* createEntries(
  settings: PromptSettings,
  tokenizer: Tokenizer | undefined,
): AsyncGenerator<PromptEntry> {
  let hasAny = false;
  for await (const entry of open(settings, new PromptMaker(settings, tokenizer))) {
    hasAny = true;
    yield entry;
  }
  if (hasAny) return;
  const { source } = settings;
  throw new UserError([
    source.kind === "synthetic"
      ? problem("missing", { setting: "inputs.count" }, "leaves no request to send", "Give at least 1.")
      : problem("missing", source.path, "has no requests", "Give a file with at least one request."),
  ]);
}

function open(settings: PromptSettings, maker: PromptMaker): AsyncIterable<PromptEntry> | Iterable<PromptEntry> {
  const { source, isRanking } = settings;
  switch (source.kind) {
    case "synthetic":
      return isRanking ? makeRankings(maker) : makeSynthetic(maker, source.names);
    case "file":
      return isRanking ? readRankings(source.path, maker) : readPrompts(source.path, maker);
    case "payload":
      return readPayloadFile(source.path, maker);
    case "conversations":
      return readConversations(source.path, maker, source.isMultiTurn);
    case "trace":
      return readTraceCsv(source.path, maker, source.dialect);
  }
}
