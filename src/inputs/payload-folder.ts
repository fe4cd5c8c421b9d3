import { readdir } from "node:fs/promises";
import { join } from "node:path";
import { unreadable, userError } from "../plan/problem.ts";
import { locate } from "../runtime/files.ts";

/** Returns the `.json` and `.jsonl` files of a folder, by name. @throws UserError when there is none */
export async function listPayloadFiles(folder: string): Promise<string[]> {
  const names = await readdir(locate(folder)).catch((error: unknown) => {
    throw unreadable(folder, error, "Give the path of a folder.");
  });
  const files = names.filter((name) => /\.jsonl?$/.test(name) && !name.startsWith(".")).sort();
  if (files.length > 0) return files.map((name) => join(folder, name));
  throw userError("missing", folder, "has no payloads", "Put files there that end in .json or .jsonl.");
}
