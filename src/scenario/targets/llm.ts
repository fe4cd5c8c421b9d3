import * as v from "valibot";
import { parseLatency } from "../../mock/latency.ts";
import { DEFAULT_MOCK, MAX_MOCK_TOKENS } from "../../plan/mock.ts";
import type { TargetPlan } from "../../plan/plan.ts";
import { integerSchema, type OutputOf, withHint } from "../../plan/schema.ts";
import type { Duration, Percent } from "../../plan/units.ts";
import { EMBEDDED_LLM } from "../../service/embedded/target.ts";
import { DEFAULT_LLM_ENDPOINT, LLM_ENDPOINTS, type LlmEndpointName, llmPath } from "../../service/openai/endpoints.ts";
import { refuseMore } from "../arguments.ts";
import { countSchema, durationSchema, nameSchema, strictOptions, toMs } from "../fields.ts";
import { serverForm } from "../form.ts";
import { type FaultOptions, faultFields, ratioField } from "./embedded.ts";
import { type ExtractOptions, extractField } from "./extract.ts";
import type { LlmContent } from "./llm-content.ts";
import { splitUrls, type Target } from "./target.ts";
import type { TargetBuilder } from "./target-builder.ts";
import { type FieldsFor, fromFolder, inner, landed, landing, schemasOf } from "./target-field.ts";
import {
  apiKeyField,
  headersField,
  type KeyOptions,
  latencySchema,
  type MockLatency,
  type ModelOptions,
  modelField,
  serverEntries,
  streamingField,
  tlsField,
  toServerPlan,
} from "./target-fields.ts";

/** The type of an endpoint's responses, by whether they are streamed. */
export type ResponsesOf<E extends LlmEndpointName, M extends boolean> = E extends
  | "embeddings"
  | "nvclip"
  | "rankings"
  | "cohereRankings"
  | "teiRankings"
  | "imageRetrieval"
  ? "vectors"
  : M extends true
    ? "stream"
    : "text";

/** Options of {@link openai}. */
export interface OpenAiOptions<
  E extends LlmEndpointName = LlmEndpointName,
  M extends boolean = boolean,
  V extends string = string,
> extends ModelOptions,
    KeyOptions,
    ExtractOptions<V> {
  /** API of the requests. Default: `"chat"`. */
  readonly endpoint?: E;
  /** Path of the requests. Default: the endpoint's own. */
  readonly path?: string;
  /** Requests responses token by token. Default: false. */
  readonly streaming?: M;
  /**
   * Tokenizer that makes prompts and counts tokens: a folder with a `tokenizer.json` (a path that begins with a dot starts at the
   * scenario's folder), a model of Hugging Face's hub, an encoding of tiktoken, or `"none"` for the server's own counts: prompts are then
   * made with o200k_base, and their lengths are approximate. Default: the model's name, or `"none"` if that cannot be loaded.
   */
  readonly tokenizer?: string;
  /** Branch, tag or commit on the hub. Default: `"main"`. */
  readonly tokenizerRevision?: string;
}

/** Options of {@link embeddedLlm}. */
export interface EmbeddedLlmOptions<
  E extends EmbeddedEndpoint = EmbeddedEndpoint,
  M extends boolean = boolean,
  V extends string = string,
> extends FaultOptions,
    ExtractOptions<V> {
  /** API of the requests. Default: `"chat"`. */
  readonly endpoint?: E;
  /** Requests responses token by token. Default: false. */
  readonly streaming?: M;
  /**
   * Like in {@link openai}, but for the client and the model, so that their counts are equal. Default: `"none"`, with which the model
   * counts words.
   */
  readonly tokenizer?: string;
  /** Time before the first token. Default: `"0 ms"`. */
  readonly timeToFirstToken?: MockLatency;
  /** Time between tokens. Default: `"0 ms"`. */
  readonly interTokenLatency?: Duration;
  /** Number of tokens in a response if the request sets no limit. Default: 16. */
  readonly osl?: number;
  /** Number of tokens in one event of a stream. Default: 1. */
  readonly tokensPerEvent?: number;
  /** Number of reasoning tokens at the beginning of a chat response. Default: 0. */
  readonly reasoningTokens?: number;
  /** Share of streams that are cut off in the middle: `"1 %"`. Default: 0. */
  readonly cutRate?: Percent | 0;
}

/** The endpoints of the embedded language model. */
export type EmbeddedEndpoint = "chat" | "completions" | "responses" | "messages" | "embeddings" | "rankings";

/**
 * A server of OpenAI's API, or of another API of generative, embedding or ranking models over HTTP.
 * @param url `host:port` (default port: 8000), or an `http://` or `https://` URL, which may end in `/v1`. With several addresses, requests
 * go to each one in turn.
 * @example
 * openai("localhost:8000", { model: "llama", streaming: true })
 */
export function openai<
  const E extends LlmEndpointName = "chat",
  const M extends boolean = false,
  const V extends string = never,
>(
  url: string | readonly string[],
  options: OpenAiOptions<E, M, V>,
): Target<"http", ResponsesOf<E, M>, `extracted: ${V}`> {
  refuseMore("openai(url, options)", arguments);
  const { path, endpoint } = (options ?? {}) as OpenAiOptions;
  // Other values are rejected later, with all other problems.
  const toBase = (one: string): string =>
    path === undefined && typeof one === "string" ? withoutApiPath(one, endpoint ?? DEFAULT_LLM_ENDPOINT) : one;
  const urls = Array.isArray(url) ? url.map(toBase) : toBase(url as string);
  return { kind: "openai", ...splitUrls(urls), options: options as { readonly protocol?: "http" } };
}

/**
 * Removes the part of an address that the path of requests adds again: `/v1`, as in addresses for OpenAI's clients, or the whole
 * path.
 */
function withoutApiPath(url: string, endpoint: LlmEndpointName): string {
  const path = (LLM_ENDPOINTS as Readonly<Record<string, { readonly path: string } | undefined>>)[endpoint]?.path ?? "";
  const short = url.replace(/\/+$/, "");
  const end = [`/${path}`, `/${path.split("/")[0]}`].find((one) => /^\/v\d+(?:\/|$)/.test(one) && short.endsWith(one));
  return end === undefined ? url : short.slice(0, -end.length);
}

/**
 * A language model inside Rampart, for the duration of the run: every token is a word such as ` the`, and arrives at the
 * configured time.
 * @example
 * embeddedLlm({ streaming: true, timeToFirstToken: "50 ms", interTokenLatency: "10 ms" })
 */
export function embeddedLlm<
  const E extends EmbeddedEndpoint = "chat",
  const M extends boolean = false,
  const V extends string = never,
>(options: EmbeddedLlmOptions<E, M, V> = {}): Target<"http", ResponsesOf<E, M>, `extracted: ${V}`> {
  refuseMore("embeddedLlm(options)", arguments);
  return { kind: "embedded-llm", url: "", options: options as { readonly protocol?: "http" } };
}

export const openAiBuilder: TargetBuilder<OpenAiTarget> = {
  form: serverForm("openai"),
  schema: openAiSchema,
  toPlan: toOpenAiPlan,
  content: openAiContent,
};

export const embeddedLlmBuilder: TargetBuilder<EmbeddedLlmTarget> = {
  form: { name: "embeddedLlm" },
  startsServer: true,
  schema: embeddedLlmSchema,
  toPlan: toEmbeddedLlmPlan,
  content: embeddedLlmContent,
};

const EMBEDDED_ENDPOINTS = ["chat", "completions", "responses", "messages", "embeddings", "rankings"] as const;

/** Returns the options that both targets share. */
function llmFields<const E extends LlmEndpointName>(endpoints: readonly E[]) {
  const endpoint = withHint(v.picklist(endpoints, `must be one of ${endpoints.join(", ")}`), (given) =>
    String(given).startsWith("/") ? `Write path: "${given}".` : undefined,
  );
  return {
    endpoint: inner(v.optional(endpoint)),
    streaming: streamingField(),
    tokenizer: inner(v.optional(nameSchema("a tokenizer's name or folder"))),
    extract: extractField(),
  };
}

type OpenAiTarget = OutputOf<typeof openAiSchema>;

function openAiFields() {
  return {
    ...llmFields(Object.keys(LLM_ENDPOINTS) as LlmEndpointName[]),
    model: modelField(),
    path: inner(v.optional(v.pipe(v.string("must be text"), v.regex(/^[^\s#]+$/, "must be a path")))),
    tokenizerRevision: inner(v.optional(nameSchema("a branch, a tag or a commit"))),
    headers: headersField(),
    apiKeyEnv: apiKeyField(),
    tls: tlsField(),
  } satisfies FieldsFor<OpenAiOptions>;
}

function openAiSchema() {
  const options = strictOptions(schemasOf(openAiFields()));
  return v.object({
    kind: v.literal("openai"),
    ...serverEntries('openai("localhost:8000", { model: "NAME" })'),
    options,
  });
}

type EmbeddedLlmTarget = OutputOf<typeof embeddedLlmSchema>;

/** Returns the options for the model's behaviour. */
function mockLlmFields() {
  const tokens = (least: number) =>
    v.optional(
      v.pipe(
        least === 0 ? integerSchema() : countSchema(),
        v.minValue(least, `must be ${least} or more`),
        v.maxValue(MAX_MOCK_TOKENS, "must be 1,000,000 at most"),
      ),
    );
  return {
    timeToFirstToken: landing(v.optional(latencySchema()), "firstToken", (first) => first && parseLatency(first)),
    interTokenLatency: landing(v.optional(durationSchema()), "tokenGapMs", (gap) => gap && toMs(gap)),
    osl: landing(tokens(1), "osl"),
    tokensPerEvent: landing(tokens(1), "tokensPerEvent"),
    reasoningTokens: landing(tokens(0), "reasoningTokens"),
    cutRate: ratioField("cutRatio"),
  };
}

function embeddedLlmFields() {
  const { cutRate, ...fields } = mockLlmFields();
  return {
    ...llmFields(EMBEDDED_ENDPOINTS),
    ...fields,
    ...faultFields(),
    cutRate,
  } satisfies FieldsFor<EmbeddedLlmOptions>;
}

function embeddedLlmSchema() {
  const options = strictOptions(schemasOf(embeddedLlmFields()));
  return v.object({ kind: v.literal("embedded-llm"), url: v.string(), options });
}

/** Converts the target to its form in a plan. @param folder base of relative paths */
function toOpenAiPlan({ options, ...server }: OpenAiTarget, folder: string): TargetPlan {
  const fields = landed(openAiFields(), options, folder);
  const { endpoint = DEFAULT_LLM_ENDPOINT, path = "", model } = options;
  return {
    kind: "openai",
    ...toServerPlan(server),
    protocol: "http",
    endpoint: llmPath(endpoint, path, model, fields.isStreaming),
    batchSize: 1,
    ...fields,
  };
}

/** Converts the target to its form in a plan. @param folder base of a tokenizer's relative path */
function toEmbeddedLlmPlan({ options }: EmbeddedLlmTarget, folder: string): TargetPlan {
  const tokenizer = fromFolder(options.tokenizer ?? "none", folder);
  const { endpoint = DEFAULT_LLM_ENDPOINT, streaming: isStreaming = false } = options;
  const llm = { ...DEFAULT_MOCK.llm, ...landed(mockLlmFields(), options, folder) };
  return {
    kind: "embedded",
    protocol: "http",
    isStreaming,
    batchSize: 1,
    ...landed({ extract: extractField() }, options, folder),
    llmPath: llmPath(endpoint, "", EMBEDDED_LLM, isStreaming),
    mock: {
      ...DEFAULT_MOCK,
      latency: llm.firstToken,
      ...landed(faultFields(), options, folder),
      llm: { ...llm, ...(tokenizer === "none" ? {} : { tokenizer }) },
    },
  };
}

/** Returns the format of a target. @param folder base of a tokenizer's relative path */
function openAiContent({ options }: OpenAiTarget, folder: string): LlmContent {
  const { model, tokenizer, tokenizerRevision } = options;
  return toContent(options, {
    model,
    tokenizer: fromFolder(tokenizer ?? model, folder),
    revision: tokenizerRevision ?? "main",
    isTokenizerAssumed: tokenizer === undefined && tokenizerRevision === undefined,
  });
}

/** Returns the format of the embedded language model, which counts with the client's tokenizer too. @param folder base of its relative path */
function embeddedLlmContent({ options }: EmbeddedLlmTarget, folder: string): LlmContent {
  const tokenizer = fromFolder(options.tokenizer ?? "none", folder);
  return toContent(options, { model: EMBEDDED_LLM, tokenizer, revision: "main" });
}

function toContent(
  { endpoint = DEFAULT_LLM_ENDPOINT, streaming = false }: OpenAiTarget["options"] | EmbeddedLlmTarget["options"],
  named: Pick<LlmContent, "model" | "tokenizer" | "revision" | "isTokenizerAssumed">,
): LlmContent {
  return { ...named, endpointName: endpoint, endpoint: LLM_ENDPOINTS[endpoint], isStreaming: streaming };
}
