import { readdir, stat } from "node:fs/promises";
import { basename, dirname, join } from "node:path";
import type { Text } from "../plan/messages.ts";
import { nearestName } from "../plan/nearest-name.ts";
import { isObject } from "../plan/objects.ts";
import { notJson, RunError, textOf, UserError, unreadable, userError } from "../plan/problem.ts";
import { registerSecret } from "../plan/secrets.ts";
import { loadFileBytes, locate } from "../runtime/files.ts";
import { type AddedToken, readAddedToken } from "./added-tokens.ts";
import { type Environment, findInHubCache, hubCacheFolder, isHubId, isRevision, listHubCache } from "./hub-cache.ts";
import { TOKENIZER_FILE_HINT, TokenizerFileError } from "./part-config.ts";
import { loadEncoding } from "./tiktoken.ts";
import { findEncoding, tiktokenNames } from "./tiktoken-names.ts";
import type { Tokenizer } from "./tokenizer.ts";
import { parseTokenizerFile } from "./tokenizer-file.ts";

/** Options for finding a tokenizer. */
export interface TokenizerOptions {
  /** Branch, tag or commit on the hub; default `main`. */
  readonly revision?: string | undefined;
  /** True is rejected: a model's Python code is never run. */
  readonly trustRemoteCode?: boolean | undefined;
  /** Environment variables; default: those of this process. */
  readonly env?: Environment | undefined;
}

const FILE = "tokenizer.json";
const AT: Text = { setting: "inputs.tokenizer" };
const MAX_SHOWN_PARTS = 5;
const EXPORT_HINT =
  'Export it once on a machine with Python: AutoTokenizer.from_pretrained("…", trust_remote_code=True).save_pretrained("folder"); ' +
  "then give the folder.";

/**
 * Loads a tokenizer by its name. The first match wins: a local folder or file with a `tokenizer.json`; a model in the cache of
 * HuggingFace's hub; a tiktoken encoding, or a model of OpenAI that uses one; a model of the hub, which is downloaded into the cache
 * unless `HF_HUB_OFFLINE` or `TRANSFORMERS_OFFLINE` is set. Throws {@link UserError} with the places that were searched, and
 * `RunError` if the hub cannot be reached.
 */
export async function loadTokenizer(name: string, options: TokenizerOptions = {}): Promise<Tokenizer> {
  const { env = process.env, revision = "main" } = options;
  registerSecret(env["HF_TOKEN"] ?? "");
  if (options.trustRemoteCode === true) {
    const message = "a model's own Python code is not run (trust_remote_code)";
    throw userError("unsupported", AT, message, EXPORT_HINT, name);
  }
  if (!isRevision(revision)) {
    const hint = "Give a branch, a tag or a commit, such as main.";
    throw userError("invalid-value", "tokenizer.revision", "is not a revision", hint, revision);
  }
  const local = await findLocal(name);
  if (local?.kind === "file") return readTokenizer(name, local.path);
  const cache = hubCacheFolder(env);
  const cached = isHubId(name) ? await findInHubCache(cache, { id: name, revision }) : undefined;
  if (cached !== undefined) return readTokenizer(name, join(cached, FILE));
  const encoding = findEncoding(name);
  if (encoding !== undefined) return loadEncoding(name, encoding);
  // A folder may share its name with an encoding or a model of the hub. It is used only if it contains a model's files.
  if (local !== undefined && (!isHubId(name) || local.parts.length > 0)) throw noFile(name, local.parts);
  if (!isHubId(name) || isOffline(env))
    throw local === undefined
      ? withSuggestion(notFound(name, revision, cache), await nearestTokenizer(name, env))
      : noFile(name, []);
  const { downloadFromHub } = await import("./hub-download.ts");
  const folder = await downloadFromHub(cache, { id: name, revision }, env).catch(async (error: unknown) => {
    throw local === undefined
      ? withSuggestion(error, await nearestTokenizer(name, env))
      : noFile(name, [], [", and the hub's model of that name cannot be fetched: ", textOf(error)]);
  });
  return readTokenizer(name, join(folder, FILE));
}

/** Suggests a tokenizer for a mistyped name: an encoding, or a model in the hub's cache. Undefined if no name is similar. */
export async function nearestTokenizer(name: string, env: Environment = process.env): Promise<string | undefined> {
  const names = [...tiktokenNames(), ...(await listHubCache(hubCacheFolder(env)))];
  // The cache also lists a model that is there in another revision, or without the file.
  return nearestName(
    name,
    names.filter((other) => other !== name),
  );
}

/** Adds the likely name at the beginning of an error's hint. */
function withSuggestion(error: unknown, near: string | undefined): unknown {
  if (near === undefined) return error;
  const start = `Did you mean ${near}?`;
  if (error instanceof RunError) return error.reword(error.text, [start, " ", error.hint]);
  if (!(error instanceof UserError)) return error;
  return new UserError(error.problems.map((found) => ({ ...found, hint: [start, " ", found.hint] })));
}

/** Files of a model that has, or can be converted to have, a `tokenizer.json` beside them. */
const MODEL_FILES =
  /^(config|tokenizer_config|special_tokens_map|vocab)\.json$|^(vocab|merges)\.txt$|\.(model|tiktoken|safetensors|gguf)$/;

type Local =
  | { readonly kind: "file"; readonly path: string }
  /** A folder without the file. */
  | { readonly kind: "folder"; readonly parts: readonly string[] };

/** Returns the local file or folder of this name; undefined if there is none. */
async function findLocal(name: string): Promise<Local | undefined> {
  const found = await stat(locate(name)).catch(() => undefined);
  if (found === undefined) return undefined;
  if (found.isFile()) return { kind: "file", path: name };
  const names = await readdir(locate(name)).catch((): string[] => []);
  if (names.includes(FILE)) return { kind: "file", path: join(name, FILE) };
  return { kind: "folder", parts: names.filter((part) => MODEL_FILES.test(part)).sort() };
}

/** @param parts the model's files that the folder contains instead */
function noFile(name: string, parts: readonly string[], more: Text = ""): UserError {
  const instead = parts.length === 0 ? "" : `, only ${parts.slice(0, MAX_SHOWN_PARTS).join(", ")}`;
  const message = [`the folder ${name} has no ${FILE}${instead}`, more];
  return userError("missing", AT, message, `Give a folder that has one. ${EXPORT_HINT}`, name);
}

function isOffline(env: Environment): boolean {
  return [env["HF_HUB_OFFLINE"], env["TRANSFORMERS_OFFLINE"]].some((flag) => /^(1|on|yes|true)$/i.test(flag ?? ""));
}

function notFound(name: string, revision: string, cache: string): UserError {
  const places = ["it is not a local file or folder"];
  if (isHubId(name)) places.push(`not in the hub's cache (${cache}, revision ${revision})`);
  places.push("not a tiktoken encoding");
  places.push(isHubId(name) ? "and downloads are switched off (HF_HUB_OFFLINE)" : "and not a valid name on the hub");
  const hint =
    "Give a folder with a tokenizer.json, a model of the hub (organisation/model), an encoding (o200k_base), or none.";
  return userError("missing", AT, `was not found: ${places.join(", ")}`, hint, name);
}

/** Reads a `tokenizer.json` and the `tokenizer_config.json` beside it. */
async function readTokenizer(name: string, path: string): Promise<Tokenizer> {
  const config = join(dirname(path), "tokenizer_config.json");
  const file = await readJson(path, true);
  // A file with another name is read without the config.
  const extra = basename(path) === FILE ? await readJson(config, false) : undefined;
  const { JsonTokenizer } = await import("./json-tokenizer.ts");
  try {
    return new JsonTokenizer(name, file, readExtraTokens(extra), extra);
  } catch (error) {
    if (!(error instanceof TokenizerFileError)) throw error;
    throw userError("unsupported", path, `cannot be used: ${error.reason}`, TOKENIZER_FILE_HINT);
  }
}

async function readJson(path: string, isNeeded: boolean): Promise<unknown> {
  let bytes: Uint8Array;
  try {
    bytes = await loadFileBytes(path);
  } catch (error) {
    if (!isNeeded) return undefined;
    throw unreadable(path, error, "Give an existing tokenizer.json or its folder.");
  }
  try {
    return parseTokenizerFile(bytes);
  } catch (error) {
    const hint = `Give a ${basename(path)} written by Hugging Face's libraries.`;
    throw notJson(path, error, hint);
  }
}

/** Returns the tokens that only `tokenizer_config.json` contains: `{"added_tokens_decoder": {"32000": {"content": …}}}`. */
function readExtraTokens(config: unknown): AddedToken[] {
  const tokens = isObject(config) ? config["added_tokens_decoder"] : undefined;
  if (!isObject(tokens)) return [];
  return Object.entries(tokens).flatMap(([id, token]) =>
    isObject(token) ? [readAddedToken(token, Number(id), `tokenizer_config.json, added_tokens_decoder[${id}]`)] : [],
  );
}
