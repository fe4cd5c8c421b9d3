import { randomUUID } from "node:crypto";
import { copyFile, mkdir, open, rename, rm, symlink, writeFile } from "node:fs/promises";
import { dirname, join, relative } from "node:path";
import type { Dispatcher } from "undici/index.js";
import { messageOf, RunError, UserError, userError } from "../plan/problem.ts";
import { MOST_FILE_BYTES } from "../runtime/files.ts";
import { openDispatcher, readBody, requestOnce, type UnreadResponse } from "../transport/request-once.ts";
import { type Environment, type HubModel, isCommit, modelFolder } from "./hub-cache.ts";

/** Downloads a tokenizer from HuggingFace's hub, or from a mirror, into the cache that all of HuggingFace's tools share. */

const FILES = [
  { file: "tokenizer.json", isNeeded: true },
  { file: "tokenizer_config.json", isNeeded: false },
] as const;
const DEFAULT_ENDPOINT = "https://huggingface.co";
const MAX_REDIRECTS = 5;
/** Timeouts: a network that drops packets to the hub must not delay a run that does not need it. */
const LIMITS = { connectMs: 5000, headersMs: 10_000, bodyMs: 30_000 };
/** Timeout of the whole download, for a server that keeps sending small pieces. */
const TOTAL_TIMEOUT_MS = 600_000;
const AT = { setting: "inputs.tokenizer" } as const;
const LOCAL = "a folder with the model's tokenizer.json, a tiktoken encoding such as o200k_base, or none.";

interface Response {
  readonly status: number;
  /** The commit that the revision points to. */
  readonly commit: string | undefined;
  /** Identifies the file's content. */
  readonly etag: string | undefined;
  readonly response: UnreadResponse;
}

/**
 * Downloads the model's tokenizer and returns the folder with its files. The cache never contains partial files under their final
 * names: each file is renamed when it is complete. The access token (`HF_TOKEN`) is sent only to the endpoint and does not appear in
 * messages. Throws {@link UserError} if the hub lacks the file or denies access, {@link RunError} if it cannot be reached.
 */
export async function downloadFromHub(cache: string, model: HubModel, env: Environment): Promise<string> {
  const endpoint = readEndpoint(env);
  const dispatcher = openDispatcher(LIMITS);
  const hub = new Hub(endpoint, model, env["HF_TOKEN"], dispatcher);
  try {
    let snapshot = "";
    for (const { file, isNeeded } of FILES) {
      const response = await hub.get(file);
      if (!isNeeded && response.status === 404) {
        await response.response.body.dump();
        continue;
      }
      snapshot = await hub.store(modelFolder(cache, model.id), file, response);
    }
    return snapshot;
  } finally {
    await dispatcher.destroy();
  }
}

function readEndpoint(env: Environment): URL {
  const text = env["HF_ENDPOINT"] || DEFAULT_ENDPOINT;
  const url = URL.canParse(text) ? new URL(text) : undefined;
  if (url === undefined || !/^https?:$/.test(url.protocol)) {
    const hint = `Give a URL such as ${DEFAULT_ENDPOINT}.`;
    throw userError("invalid-value", "HF_ENDPOINT", "is not an HTTP URL", hint, text);
  }
  return url;
}

class Hub {
  private readonly endpoint: URL;
  private readonly model: HubModel;
  private readonly token: string | undefined;
  private readonly dispatcher: Dispatcher;
  private readonly signal = AbortSignal.timeout(TOTAL_TIMEOUT_MS);

  constructor(endpoint: URL, model: HubModel, token: string | undefined, dispatcher: Dispatcher) {
    this.endpoint = endpoint;
    this.model = model;
    this.token = token;
    this.dispatcher = dispatcher;
  }

  /** Requests a file and follows redirects. Throws for any status except 200 and 404. */
  async get(file: string): Promise<Response> {
    const { id, revision } = this.model;
    const base = this.endpoint.href.replace(/\/+$/, "");
    let url = new URL(`${base}/${id}/resolve/${encodeURIComponent(revision)}/${file}`);
    let commit: string | undefined;
    let etag: string | undefined;
    for (let hops = 0; hops <= MAX_REDIRECTS; hops++) {
      const response = await this.send(url);
      const { statusCode: status, headers, body } = response;
      commit ??= textOf(headers["x-repo-commit"]);
      etag ??= textOf(headers["x-linked-etag"]) ?? (status === 200 ? textOf(headers["etag"]) : undefined);
      const location = textOf(headers["location"]);
      if (status < 300 || status >= 400 || location === undefined) {
        if (status !== 200 && !(status === 404 && file !== FILES[0].file)) await this.refuse(file, status, body);
        return { status, commit, etag: etag?.replace(/^W\//, "").replaceAll('"', ""), response };
      }
      await body.dump();
      url = new URL(location, url);
    }
    const message = `${base} redirects more than ${MAX_REDIRECTS} times for ${file} of ${id}`;
    throw new RunError("refused", message, `Give ${LOCAL}`);
  }

  private async send(url: URL): Promise<UnreadResponse> {
    const isOwn = url.origin === this.endpoint.origin;
    const headers: Record<string, string> = {};
    if (isOwn && this.token) headers["authorization"] = `Bearer ${this.token}`;
    try {
      return await requestOnce(url, { dispatcher: this.dispatcher, headers, signal: this.signal });
    } catch (error) {
      const hint = `Check the network, HTTPS_PROXY and HF_ENDPOINT. Or give ${LOCAL}`;
      const message = `the tokenizer ${this.model.id} cannot be fetched from ${url.host}: ${messageOf(error)}`;
      throw new RunError("unreachable", message, hint);
    }
  }

  private async refuse(file: string, status: number, body: UnreadResponse["body"]): Promise<never> {
    await body.dump();
    const { id, revision } = this.model;
    const { host } = this.endpoint;
    if (status === 404) {
      const message = `${host} has no ${file} of this model at revision ${revision}`;
      throw userError("missing", AT, message, `Check the name and the revision. Or give ${LOCAL}`, id);
    }
    if (status === 401 || status === 403) {
      const message = `${host} denies access to ${file} (HTTP ${status}): the model does not exist or is gated`;
      const hint = "Set HF_TOKEN to a token that may read the model, or download it and give the folder.";
      throw userError("unreadable", AT, message, hint, id);
    }
    throw new RunError("refused", `${host} answered HTTP ${status} for ${file} of ${id}`, `Give ${LOCAL}`);
  }

  /** Stores the response in the model's folder; returns the folder of its commit. */
  async store(folder: string, file: string, { commit, etag, response }: Response): Promise<string> {
    if (commit === undefined || !isCommit(commit) || etag === undefined || !/^[\w-][\w.-]*$/.test(etag)) {
      await response.body.dump();
      const message = `${this.endpoint.host} does not name the commit and content of its response: it is not a hub`;
      throw new RunError("refused", message, "Check HF_ENDPOINT.");
    }
    const blob = join(folder, "blobs", etag);
    const link = join(folder, "snapshots", commit, file);
    try {
      await putInPlace(blob, (path) => writePieces(path, readBody(response, MOST_FILE_BYTES, this.signal)));
      await putInPlace(link, (path) => linkOrCopy(blob, link, path));
      const { revision } = this.model;
      if (revision !== commit)
        await putInPlace(join(folder, "refs", ...revision.split("/")), (path) => writeFile(path, commit));
    } catch (error) {
      const hint = "Check the disk and HF_HUB_CACHE, and try again.";
      const message = `${file} of ${this.model.id} was not stored in ${folder}: ${messageOf(error)}`;
      throw new RunError("output", message, hint);
    }
    return dirname(link);
  }
}

function textOf(header: string | string[] | undefined): string | undefined {
  return Array.isArray(header) ? header[0] : header;
}

/** Writes a file. It is opened first: a stream would open it later, perhaps after the failed file was removed. */
async function writePieces(path: string, pieces: AsyncIterable<Uint8Array>): Promise<void> {
  const file = await open(path, "w");
  try {
    for await (const piece of pieces) await file.writeFile(piece);
  } finally {
    await file.close();
  }
}

/** Writes a file under another name and renames it when it is complete. */
async function putInPlace(path: string, make: (path: string) => Promise<void>): Promise<void> {
  const unfinished = `${path}.${randomUUID()}.incomplete`;
  await mkdir(dirname(path), { recursive: true });
  try {
    await make(unfinished);
    await rename(unfinished, path);
  } finally {
    await rm(unfinished, { force: true });
  }
}

/** Copies if links are not allowed, as on Windows. */
async function linkOrCopy(blob: string, link: string, path: string): Promise<void> {
  try {
    await symlink(relative(dirname(link), blob), path);
  } catch {
    await copyFile(blob, path);
  }
}
