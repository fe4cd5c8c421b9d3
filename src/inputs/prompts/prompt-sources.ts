import { problem, UserError } from "../../plan/problem.ts";
import type { PromptEntry } from "../../service/openai/prompt-entry.ts";
import type { Tokenizer } from "../../tokenize/tokenizer.ts";
import { readConversations } from "./conversations.ts";
import { readPayloadFile } from "./payload-file.ts";
import { readPrompts, readRankings } from "./prompt-file.ts";
import { PromptMaker } from "./prompt-maker.ts";
import { isGenerated, type PromptSettings, type PromptSource } from "./settings.ts";
import { makeRankings, makeSynthetic } from "./synthetic.ts";
import { readTraceCsv } from "./trace-csv.ts";

/**
 * Yields all requests of a run once, in order. Files are read incrementally, so that only one line is in memory (except for batches of
 * several texts or images, which need all lines).
 * @param tokenizer needed only to generate prompts
 * @throws UserError if an entry is not valid, and at the end if there was no entry
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
    isGenerated(source)
      ? problem("missing", { setting: "inputs.count" }, "leaves no request to send", "Give at least 1.")
      : problem("missing", source.path, "has no requests", "Give a file with at least one request."),
  ]);
}

type Entries = AsyncIterable<PromptEntry> | Iterable<PromptEntry>;

/**
 * Functions that make or read the entries of each source. A new source needs a type of {@link PromptSource}, a line here, and a file that
 * reads it.
 */
const SOURCES: {
  readonly [K in PromptSource["kind"]]: (
    source: Extract<PromptSource, { kind: K }>,
    maker: PromptMaker,
    isRanking: boolean,
  ) => Entries;
} = {
  synthetic: ({ names }, maker, isRanking) => (isRanking ? makeRankings(maker) : makeSynthetic(maker, names)),
  file: ({ path }, maker, isRanking) => (isRanking ? readRankings(path, maker) : readPrompts(path, maker)),
  payload: ({ path }, maker) => readPayloadFile(path, maker),
  conversations: ({ path, isMultiTurn }, maker) => readConversations(path, maker, isMultiTurn),
  trace: ({ path, dialect }, maker) => readTraceCsv(path, maker, dialect),
};

function open({ source, isRanking }: PromptSettings, maker: PromptMaker): Entries {
  const openSource = SOURCES[source.kind] as (source: PromptSource, maker: PromptMaker, isRanking: boolean) => Entries;
  return openSource(source, maker, isRanking);
}
