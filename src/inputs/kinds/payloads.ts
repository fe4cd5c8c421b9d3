import { readdir } from "node:fs/promises";
import { join } from "node:path";
import * as v from "valibot";
import { unreadable, userError } from "../../plan/problem.ts";
import { type PlanOf, pathSchema } from "../../plan/schema.ts";
import { locate } from "../../runtime/files.ts";
import { type InputKind, isInOrder, orderEntries } from "../input-kind.ts";
import { readPayloadLists } from "../payload-list.ts";

const schema = () =>
  v.object({
    kind: v.literal("payloads"),
    file: pathSchema(),
    /** Files that continue the first one. */
    moreFiles: v.exactOptional(v.array(pathSchema())),
    ...orderEntries(),
    /** Whether `file` is a folder, whose `.json` and `.jsonl` files are read by name. Default: false. */
    isFolder: v.exactOptional(v.literal(true)),
    /** Whether the field `tags` of an entry contains its tags. Default: false; the field is not allowed. */
    readsTags: v.exactOptional(v.literal(true)),
    /**
     * True: an entry may have a time or a session only for a load that follows them, like in perf_analyzer. Default: such fields are
     * allowed and ignored.
     */
    refusesLoadFields: v.exactOptional(v.literal(true)),
  });

/** Payloads from files, as GenAI-Perf writes them or as JSON Lines. */
export const payloadsInputs: InputKind<PlanOf<typeof schema>> = {
  schema,
  makes: "payloads",
  needsNoModel: true,
  orders: () => ["in-turn", "at-times", "in-sessions"],
  canHaveTags: ({ readsTags }) => readsTags === true,
  isInOrder,
  paths: ({ file, moreFiles = [] }) => [file, ...moreFiles],
  perfAnalyzer: ({ file, moreFiles = [] }) => ({ names: [file, ...moreFiles] }),
  load: async ({ file, moreFiles = [], isFolder, readsTags, refusesLoadFields }, _model, order, held) => {
    const paths = isFolder ? await listPayloadFiles(file) : [file];
    return readPayloadLists([...paths, ...moreFiles], order, held, undefined, {
      readsTags,
      allowsLoadFields: refusesLoadFields !== true,
    });
  },
};

/** Returns the `.json` and `.jsonl` files of a folder, by name. @throws UserError if there are none */
async function listPayloadFiles(folder: string): Promise<string[]> {
  const names = await readdir(locate(folder)).catch((error: unknown) => {
    throw unreadable(folder, error, "Give the path of a folder.");
  });
  const files = names.filter((name) => /\.jsonl?$/.test(name) && !name.startsWith(".")).sort();
  if (files.length > 0) return files.map((name) => join(folder, name));
  throw userError("missing", folder, "has no payloads", "Put files there that end in .json or .jsonl.");
}
