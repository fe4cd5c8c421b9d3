import { defined, parseJson } from "../../plan/objects.ts";
import { decoder } from "../../runtime/text.ts";
import { ProtocolError } from "../../transport/failure.ts";
import { type Ask, type ListedModel, modelNamed, type Query } from "../service.ts";
import type { TorchServeTargetPlan } from "./target.ts";

/** Maximum number of models in one response of the management API. */
const PAGE_MODELS = 100;
const MAX_PAGES = 20;

interface Page {
  readonly names: readonly string[];
  /** Start of the next page; undefined: this is the last page. */
  readonly next: string | undefined;
}

/**
 * Queries the management API for all models, whose inputs it does not report.
 * @param urls possible addresses of the API, in the order in which they are tried; undefined is the server's own
 * address
 * @throws RunError if the API cannot be reached at any of them, with the reason for the first
 */
export async function listTorchServeModels(ask: Ask, urls: readonly (string | undefined)[]): Promise<ListedModel[]> {
  let reason: unknown;
  for (const url of urls)
    try {
      return await listAt(ask, url);
    } catch (error) {
      reason ??= error;
    }
  throw reason;
}

async function listAt(ask: Ask, url: string | undefined): Promise<ListedModel[]> {
  const names: string[] = [];
  let next: string | undefined = "";
  for (let page = 0; next !== undefined && page < MAX_PAGES; page++) {
    const response = (await ask(modelsQuery(url, next), "the list of models")) as Page;
    names.push(...response.names);
    next = response.next;
  }
  return names.toSorted().map((name) => ({ ...modelNamed(name), refusal: "" }));
}

/** @param url undefined: the server's own address @param next start of the page; empty: the first page */
function modelsQuery(url: string | undefined, next: string): Query {
  const from = next === "" ? "" : `&next_page_token=${encodeURIComponent(next)}`;
  const path = `/models?limit=${PAGE_MODELS}${from}`;
  return {
    request: { path, method: "GET", headers: [], payload: new Uint8Array(0) },
    ...defined({ url }),
    read: (body) => readPage(decoder.decode(body)),
    format: (body) => decoder.decode(body),
  };
}

/** @throws ProtocolError */
function readPage(text: string): Page {
  const { models, nextPageToken } = (parseJson(text) ?? {}) as { models?: unknown; nextPageToken?: unknown };
  if (!Array.isArray(models)) throw new ProtocolError("the response is not a list of models");
  const names = models.flatMap((model) => {
    const name = (model as { modelName?: unknown } | null)?.modelName;
    return typeof name === "string" ? [name] : [];
  });
  return { names, next: typeof nextPageToken === "string" ? nextPageToken : undefined };
}

const ADDRESS = /^((?:https?:\/\/)?(?:\[[^\]]+\]|[^:/]+))(?::(\d+))?(?:\/|$)/;

/**
 * Returns the possible addresses of the management API. If the target has one, it is the only one. Otherwise they are the next port of
 * the server, like TorchServe's defaults 8080 and 8081, and the server's own port, which `management_address` may also be set to.
 */
export function managementUrlsOf(
  { url, managementUrl }: Pick<TorchServeTargetPlan, "url" | "managementUrl">,
  defaultPort: number,
): readonly (string | undefined)[] {
  if (managementUrl !== undefined) return [managementUrl];
  const [, host, port] = ADDRESS.exec(url) ?? [];
  // The address has no port to which 1 could be added.
  if (host === undefined || (port === undefined && host.includes("//"))) return [undefined];
  return [`${host}:${Number(port ?? defaultPort) + 1}`, undefined];
}
