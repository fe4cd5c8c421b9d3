import { detectCustomKind } from "../../measure/tokens/custom-kind.ts";
import { Prompt } from "../../measure/tokens/prompt.ts";
import type { ResponseTimes, TokenCounter } from "../../measure/tokens/response-times.ts";
import { TokenColumns } from "../../measure/tokens/token-columns.ts";
import { type MeterRules, TokenMeter } from "../../measure/tokens/token-meter.ts";
import { messageOf, userError } from "../../plan/problem.ts";
import type { ResponseField } from "../../service/openai/response-field.ts";
import { detectResponseKind, hasTensors, type ResponseKind } from "../../service/openai/response-kind.ts";
import type { ExportedRequest, ProfileExport } from "../read/profile-export.ts";

/** Measures recorded profile exports with the same meter as runs. */

export interface ExportRules extends Pick<MeterRules, "countTokens" | "wantsStreams" | "field" | "isLengthAsked"> {
  /** Kind of the responses. Default: detected by {@link detectExportKind} */
  readonly kind?: ResponseKind | undefined;
  /** Index of the experiment to measure. Other experiments are other levels of load. Default: 0 */
  readonly experiment?: number | undefined;
  /** Receives the times of each response with text, which are not kept. */
  readonly onTimes?: ((times: ResponseTimes) => void) | undefined;
}

/** Number of token counts to cache, because requests repeat their inputs. */
const REMEMBERED_TEXTS = 10_000;

/** Detects the kind of an export's responses. Throws `UserError` if neither the export's path nor its first response shows it. */
export function detectExportKind(source: ProfileExport): ResponseKind {
  for (const request of source.requests()) {
    const response = request.responses.map(readOf).find((text) => text !== "") ?? "";
    const kind = detectResponseKind(source.serviceKind, source.endpoint, payloadOf(request), response);
    if (kind !== undefined) return kind;
    break;
  }
  throw userError(
    "unsupported",
    `${source.path}, endpoint`,
    "the path and the first response do not show what kind of responses these are",
    "Give the endpoint type that was measured.",
    source.endpoint === "" ? undefined : source.endpoint,
  );
}

/** Detects the kind of a template's responses from the first one that shows it. @param field location of the content */
export function detectExportedCustomKind(source: ProfileExport, field: ResponseField | undefined): ResponseKind {
  for (const { responses } of source.requests()) {
    const kind = detectCustomKind(responses.map(readOf), field);
    if (kind !== undefined) return kind;
  }
  return "custom";
}

/**
 * Measures the requests of one or several exports as one run. Several exports are joined by time, request by request.
 *
 * @throws UserError when a file is invalid or its kind cannot be detected
 */
export function measureExports(sources: readonly ProfileExport[], rules: ExportRules): TokenColumns {
  const [first] = sources;
  if (first === undefined) return new TokenColumns();
  const { onTimes } = rules;
  const kind = rules.kind ?? detectExportKind(first);
  const meter = new TokenMeter({
    ...rules,
    kind,
    keepsAllWindows: true,
    keepsRows: true,
    joinsTexts: true,
    omitsToolCalls: true,
    sink: onTimes && { onMeasured: ({ answered }) => answered && onTimes(answered.times) },
  });
  const promptRules = {
    countTokens: rules.countTokens && remember(rules.countTokens),
    isLengthAsked: rules.isLengthAsked,
    joinsTexts: true,
  };
  let originNs: bigint | undefined;
  meter.reset();
  for (const source of sources) {
    let index = 0;
    for (const request of source.requests()) {
      if (request.experiment !== (rules.experiment ?? 0)) continue;
      originNs ??= request.timestampNs;
      try {
        meter.add({
          prompt: new Prompt(payloadOf(request), promptRules, sessionOf(request)),
          sequenceId: request.sequenceId ?? 0,
          sendNs: Number(request.timestampNs - originNs),
          offsetsNs: request.responseOffsetsNs,
          responses: hasTensors(kind) ? request.responses : request.responses.map(readOf),
        });
      } catch (error) {
        throw toUserError(error, `${source.path}, request ${index}`);
      }
      index++;
    }
  }
  meter.cut();
  const { tokenRows = new TokenColumns() } = meter.merge(1);
  meter.finish();
  return tokenRows;
}

function readOf(response: Readonly<Record<string, unknown>>): string {
  const text = response["response"];
  return typeof text === "string" ? text : "";
}

/** Returns the request's body; for models on Triton, its tensors as JSON. */
function payloadOf({ inputs }: ExportedRequest): string {
  const { payload } = inputs;
  return typeof payload === "string" ? payload : JSON.stringify(payload ?? inputs);
}

function sessionOf({ inputs }: ExportedRequest): string | undefined {
  const id = inputs["session_id"];
  return id === undefined || id === null ? undefined : String(id);
}

/** Caches the token counts of texts. */
function remember(countTokens: TokenCounter): TokenCounter {
  const counts = new Map<string, number>();
  return (text) => {
    let count = counts.get(text);
    if (count === undefined) {
      count = countTokens(text);
      if (counts.size >= REMEMBERED_TEXTS) counts.clear();
      counts.set(text, count);
    }
    return count;
  };
}

function toUserError(error: unknown, path: string): unknown {
  if (!(error instanceof SyntaxError)) return error;
  const message = `the request's payload is not JSON: ${messageOf(error)}`;
  return userError("not-json", path, message, "Give an unchanged export.");
}
