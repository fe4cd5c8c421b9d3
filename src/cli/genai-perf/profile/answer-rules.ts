import { detectCustomKind } from "../../../report/genai-perf/custom-kind.ts";
import { detectExportKind } from "../../../report/genai-perf/measure-export.ts";
import type { ProfileExport } from "../../../report/read/profile-export.ts";
import type { AnswerKind } from "../../../service/openai/answer-kind.ts";
import type { ResponseField } from "../../../service/openai/response-field.ts";
import type { GenaiSettings } from "../options/settings.ts";
import { formatOf } from "./endpoint-formats.ts";
import { responseFieldOf } from "./payload-layout.ts";

/** How a run's answers are read, and what their report is called. */
export interface AnswerReading {
  readonly kind: AnswerKind;
  /** Where their text is, for the kind `custom`. */
  readonly field: ResponseField | undefined;
  /** The original's endpoint type whose title the report has. */
  readonly endpointType: string;
}

/** Decided by the endpoint type; where that leaves it open, by the first answer of a run's export. @throws UserError */
export function readingOf(settings: GenaiSettings, source: ProfileExport): AnswerReading {
  const { endpoint } = settings;
  const format = formatOf(endpoint);
  const field = responseFieldOf(settings);
  const kind = format?.answer ?? detectExportKind(source);
  if (kind !== "custom") return { kind, field, endpointType: format?.title ?? endpoint.type };
  const found = detectCustomKind(source, field);
  return { kind: found, field, endpointType: found === "custom" ? endpoint.type : found };
}
