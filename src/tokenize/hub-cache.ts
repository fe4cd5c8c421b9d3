import { readdir } from "node:fs/promises";
import { homedir } from "node:os";
import { join } from "node:path";
import { fileMirror, fileSystem, loadFileText, locate, MOST_SETTINGS_BYTES } from "../runtime/files.ts";

/** The cache of HuggingFace's hub on this machine. Source: the documentation of `huggingface_hub`, "Understand caching". */

/** Environment variables. */
export type Environment = Readonly<Record<string, string | undefined>>;

/** A model of the hub at a revision. */
export interface HubModel {
  /** `organisation/model` or, for the oldest models, `model`. */
  readonly id: string;
  /** A branch, a tag or a commit. */
  readonly revision: string;
}

const COMMIT = /^[0-9a-f]{40}$/;

/** Whether the hub can have a model of this name: `model` or `organisation/model`. */
export function isHubId(name: string): boolean {
  return /^[\w][\w.-]*(\/[\w][\w.-]*)?$/.test(name) && !name.includes("..") && !name.includes("--");
}

/** Whether a branch, tag or commit can have this name. No such name leads out of the cache. */
export function isRevision(revision: string): boolean {
  return /^[\w.-]+(\/[\w.-]+)*$/.test(revision) && !revision.split("/").some((part) => /^\.+$/.test(part));
}

/** Whether the text is the full hash of a commit. */
export function isCommit(revision: string): boolean {
  return COMMIT.test(revision);
}

/** Returns the cache's folder: `HF_HUB_CACHE`, or `hub` in `HF_HOME`, or the default in the user's cache folder. */
export function hubCacheFolder(env: Environment): string {
  const there = fileMirror()?.hubCache;
  if (there !== undefined) return there;
  const cache = env["HF_HUB_CACHE"] || env["HUGGINGFACE_HUB_CACHE"];
  if (cache) return cache;
  const home = env["HF_HOME"] || join(env["XDG_CACHE_HOME"] || join(env["HOME"] || homedir(), ".cache"), "huggingface");
  return join(home, "hub");
}

/** Returns a model's folder in the cache, whether or not it exists. */
export function modelFolder(cache: string, id: string): string {
  return join(cache, `models--${id.replaceAll("/", "--")}`);
}

/** Returns the folder of a model's files in the cache; undefined if it has no `tokenizer.json` at this revision. */
export async function findInHubCache(cache: string, { id, revision }: HubModel): Promise<string | undefined> {
  const folder = modelFolder(cache, id);
  const commit = isCommit(revision) ? revision : await readRef(join(folder, "refs", ...revision.split("/")));
  if (commit === undefined) return undefined;
  const snapshot = join(folder, "snapshots", commit);
  return fileSystem().existsSync(locate(join(snapshot, "tokenizer.json"))) ? snapshot : undefined;
}

/** Returns the ids of the models that have a folder in the cache; empty if it cannot be read. */
export async function listHubCache(cache: string): Promise<string[]> {
  const folders = await readdir(cache).catch((): string[] => []);
  return folders.flatMap((folder) => {
    const [kind, ...parts] = folder.split("--");
    return kind === "models" && parts.length > 0 ? [parts.join("/")] : [];
  });
}

async function readRef(path: string): Promise<string | undefined> {
  try {
    const commit = (await loadFileText(path, MOST_SETTINGS_BYTES)).trim();
    return isCommit(commit) ? commit : undefined;
  } catch {
    return undefined;
  }
}
