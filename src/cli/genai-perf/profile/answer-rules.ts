import type { Plan } from "../../../plan/plan.ts";
import type { TokensPlan } from "../../../plan/tokens.ts";
import {
  detectExportedCustomKind,
  detectExportKind,
  type ExportRules,
} from "../../../report/genai-perf/measure-export.ts";
import type { ProfileExport } from "../../../report/read/profile-export.ts";
import type { AnswerKind } from "../../../service/openai/answer-kind.ts";
import { formatOf } from "../endpoint-formats.ts";
import { isPayloadFile } from "../input-format.ts";
import type { GenaiSettings } from "../options/settings.ts";
import { responseFieldOf } from "./payload-layout.ts";

/** Adds to the plan how its answers are measured: single requests, with all windows as one. */
export function withTokens(plan: Plan, settings: GenaiSettings): Plan {
  const { endpoint, output, tokenizer, modelNames } = settings;
  const field = responseFieldOf(settings)?.text;
  const tokens: TokensPlan = {
    answers: formatOf(endpoint)?.answer ?? "custom",
    isStreamed: endpoint.isStreaming,
    tokenizer: tokenizer.name === "" ? (modelNames[0] ?? "") : tokenizer.name,
    revision: tokenizer.revision,
    keepsAllWindows: true,
    keepsBunchedRates: true,
    ...(asksLength(settings) ? { isLengthAsked: true } : {}),
    ...(field === undefined ? {} : { field }),
    ...(output.isPlotting ? { wantsGaps: true } : {}),
  };
  return { ...plan, measurement: { ...plan.measurement, tokens } };
}

/** Reports whether requests ask for an exact answer length, in the settings or in their file. A limit in a body is only a maximum. */
function asksLength({ input, rampart }: GenaiSettings): boolean {
  const isAsked = input.outputTokens.mean !== null || rampart.sequenceMix !== "";
  return isAsked || isPayloadFile({ input, rampart });
}

/**
 * Returns the kind of a recorded run's answers, and the location of their text for the kind `custom`. The endpoint type decides or, if it is
 * ambiguous, the first answer in the run's export.
 * @throws UserError
 */
export function readingOf(
  settings: GenaiSettings,
  source: ProfileExport,
): Pick<ExportRules, "field"> & { kind: AnswerKind } {
  const field = responseFieldOf(settings);
  const known = formatOf(settings.endpoint)?.answer ?? detectExportKind(source);
  return { kind: known === "custom" ? detectExportedCustomKind(source, field) : known, field };
}
