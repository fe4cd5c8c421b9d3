import type { Plan } from "../../../plan/plan.ts";
import type { TokensPlan } from "../../../plan/tokens.ts";
import { detectExportedCustomKind, detectExportKind } from "../../../report/genai-perf/measure-export.ts";
import type { ProfileExport } from "../../../report/read/profile-export.ts";
import type { AnswerKind } from "../../../service/openai/answer-kind.ts";
import type { ResponseField } from "../../../service/openai/response-field.ts";
import { isPayloadFile } from "../input-format.ts";
import type { GenaiSettings } from "../options/settings.ts";
import { formatOf } from "./endpoint-formats.ts";
import { responseFieldOf } from "./payload-layout.ts";

/** The plan with how its answers are measured: request by request, all windows together. */
export function withTokens(plan: Plan, settings: GenaiSettings): Plan {
  const { endpoint, output, tokenizer, modelNames } = settings;
  const field = responseFieldOf(settings)?.text;
  const tokens: TokensPlan = {
    answers: formatOf(endpoint)?.answer ?? "custom",
    isStreamed: endpoint.isStreaming,
    tokenizer: tokenizer.name === "" ? (modelNames[0] ?? "") : tokenizer.name,
    revision: tokenizer.revision,
    keepsAllWindows: true,
    ...(asksLength(settings) ? { isLengthAsked: true } : {}),
    ...(field === undefined ? {} : { field }),
    ...(output.isPlotting ? { wantsGaps: true } : {}),
  };
  return { ...plan, measurement: { ...plan.measurement, tokens } };
}

/** Whether requests ask for answers of a length, by the settings or by their file: a limit in a body is only a limit. */
function asksLength({ input, rampart }: GenaiSettings): boolean {
  const isAsked = input.outputTokens.mean !== null || rampart.sequenceMix !== "";
  return isAsked || isPayloadFile({ input, rampart });
}

/** How a recorded run's answers are read, and what their report is called. */
export interface AnswerReading {
  readonly kind: AnswerKind;
  /** Where their text is, for the kind `custom`. */
  readonly field: ResponseField | undefined;
  readonly endpointType: string;
}

/** Decided by the endpoint type; where that leaves it open, by the first answer of a run's export. @throws UserError */
export function readingOf(settings: GenaiSettings, source: ProfileExport): AnswerReading {
  const field = responseFieldOf(settings);
  const known = formatOf(settings.endpoint)?.answer ?? detectExportKind(source);
  const kind = known === "custom" ? detectExportedCustomKind(source, field) : known;
  return { kind, field, endpointType: titledTypeOf(settings, kind) };
}

/** GenAI-Perf's endpoint type whose title the report has. @param kind what the answers are */
export function titledTypeOf({ endpoint }: GenaiSettings, kind: AnswerKind): string {
  const format = formatOf(endpoint);
  if (format?.answer === "custom") return kind === "custom" ? endpoint.type : kind;
  return format?.title ?? endpoint.type;
}
