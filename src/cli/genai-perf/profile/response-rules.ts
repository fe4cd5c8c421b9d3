import type { TokensPlan } from "../../../plan/tokens.ts";
import {
  detectExportedCustomKind,
  detectExportKind,
  type ExportRules,
} from "../../../report/genai-perf/measure-export.ts";
import type { ProfileExport } from "../../../report/read/profile-export.ts";
import type { ResponseKind } from "../../../service/openai/response-kind.ts";
import { formatOf } from "../endpoint-formats.ts";
import { isPayloadFile } from "../input-format.ts";
import type { GenaiSettings } from "../options/settings.ts";
import { responseFieldOf } from "./payload-layout.ts";

/** Returns how responses are measured: single requests, with all windows as one. */
export function toTokens(settings: GenaiSettings): TokensPlan {
  const { endpoint, output, tokenizer, modelNames } = settings;
  const field = responseFieldOf(settings)?.text;
  return {
    responses: formatOf(endpoint)?.response ?? "custom",
    isStreamed: endpoint.isStreaming,
    tokenizer: tokenizer.name === "" ? (modelNames[0] ?? "") : tokenizer.name,
    revision: tokenizer.revision,
    keepsAllWindows: true,
    keepsBunchedRates: true,
    ...(asksLength(settings) ? { isLengthAsked: true } : {}),
    ...(field === undefined ? {} : { field }),
    ...(output.isPlotting ? { wantsGaps: true } : {}),
  };
}

/** Reports whether requests ask for an exact response length, in the settings or in their file. A limit in a body is only a maximum. */
function asksLength({ input, rampart }: GenaiSettings): boolean {
  const isAsked = input.outputTokens.mean !== null || rampart.sequenceMix !== "";
  return isAsked || isPayloadFile({ input, rampart });
}

/**
 * Returns the kind of a recorded run's responses, and the location of their text for the kind `custom`. The endpoint type decides or, if it is
 * ambiguous, the first response in the run's export.
 * @throws UserError
 */
export function readingOf(
  settings: GenaiSettings,
  source: ProfileExport,
): Pick<ExportRules, "field"> & { kind: ResponseKind } {
  const field = responseFieldOf(settings);
  const known = formatOf(settings.endpoint)?.response ?? detectExportKind(source);
  return { kind: known === "custom" ? detectExportedCustomKind(source, field) : known, field };
}
