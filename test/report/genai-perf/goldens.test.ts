import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { TokenColumns } from "../../../src/measure/tokens/token-columns.ts";
import { formatGenAiPerfConsole } from "../../../src/report/genai-perf/console.ts";
import { formatGenAiPerfCsv } from "../../../src/report/genai-perf/csv.ts";
import { formatGenAiPerfJson } from "../../../src/report/genai-perf/json.ts";
import { familyOf } from "../../../src/report/genai-perf/layout.ts";
import { detectExportKind, measureExports } from "../../../src/report/genai-perf/measure-export.ts";
import { PythonFloat, type PythonJson } from "../../../src/report/genai-perf/python-format.ts";
import { type GenAiPerfResult, toGenAiPerfResult } from "../../../src/report/genai-perf/result.ts";
import { formatTelemetryConsole, toTelemetryStatistics } from "../../../src/report/genai-perf/telemetry/telemetry.ts";
import { openProfileExport } from "../../../src/report/read/profile-export.ts";
import type { ResponseKind } from "../../../src/service/openai/response-kind.ts";
import { loadTinyTokenizer } from "../../inputs/tiny-tokenizer.ts";
import { measureGood } from "../../measure/tokens/make-columns.ts";

/** The same profile exports through the real GenAI-Perf and through this one: the same bytes. */

const GOLDENS = join(import.meta.dirname, "goldens");
const countTokens = loadTinyTokenizer().count;

function readGolden(folder: string, file: string): string {
  return readFileSync(join(GOLDENS, folder, file), "utf8");
}

/** The configuration that the goldens were made with. */
function inputConfig(isStreaming: boolean): PythonJson {
  return {
    model_names: ["tiny é☃"],
    endpoint: { streaming: isStreaming, empty: {}, list: [], none: null },
    ratio: new PythonFloat(1),
    tiny: 1e-5,
    big: new PythonFloat(1e16),
    n: 3,
  };
}

function computeResult(
  folder: string,
  endpointType: string,
  isStreaming: boolean,
  goodput: Record<string, number> = {},
): GenAiPerfResult & { readonly kind: ResponseKind } {
  const source = openProfileExport(join(GOLDENS, folder, "profile_export.json"));
  const kind = detectExportKind(source);
  const columns = measureExports([source], { countTokens });
  const family = familyOf(kind);
  const goodOf = Object.keys(goodput).length === 0 ? undefined : measureGood(columns, goodput, family);
  return { ...toGenAiPerfResult(columns, { family, endpointType, isStreaming, goodOf }), kind };
}

const cases: readonly {
  readonly folder: string;
  readonly type: string;
  readonly kind: ResponseKind;
  readonly isStreaming?: boolean;
  readonly goodput?: Record<string, number>;
}[] = [
  {
    folder: "chat-stream",
    type: "chat",
    kind: "chat",
    isStreaming: true,
    goodput: { time_to_first_token: 50.8, inter_token_latency: 10.01 },
  },
  { folder: "chat-whole", type: "chat", kind: "chat" },
  { folder: "completions", type: "completions", kind: "completions", isStreaming: true },
  { folder: "input-file", type: "chat", kind: "chat", isStreaming: true },
  { folder: "rankings", type: "rankings", kind: "rankings", goodput: { request_latency: 51 } },
  { folder: "sessions-whole", type: "chat", kind: "chat" },
  { folder: "embeddings", type: "embeddings", kind: "embeddings" },
  { folder: "huggingface", type: "huggingface_generate", kind: "huggingface-generate" },
  { folder: "multimodal", type: "multimodal", kind: "multimodal", isStreaming: true },
  { folder: "image-retrieval", type: "image_retrieval", kind: "image-retrieval" },
  { folder: "torn", type: "chat", kind: "chat", isStreaming: true },
  { folder: "generate-stream", type: "generate", kind: "generate", isStreaming: true },
  {
    folder: "kserve",
    type: "kserve",
    kind: "kserve",
    isStreaming: true,
    goodput: { time_to_first_token: 30.5, output_token_throughput_per_user: 100 },
  },
  // An unknown name gives a goodput of -1.
  { folder: "custom-path", type: "completions", kind: "completions", isStreaming: true, goodput: { nonsense: 3 } },
  { folder: "sessions", type: "chat", kind: "chat", isStreaming: true, goodput: { inter_token_latency: 8.3 } },
];

for (const { folder, type, kind, isStreaming = false, goodput } of cases) {
  test(`${folder}: table, CSV and JSON are GenAI-Perf's to the byte`, () => {
    const result = computeResult(folder, type, isStreaming, goodput);
    assert.equal(result.kind, kind);
    assert.equal(formatGenAiPerfConsole(result), readGolden(folder, "console.txt"));
    assert.equal(formatGenAiPerfCsv(result), readGolden(folder, "profile_export_genai_perf.csv"));
    const json = formatGenAiPerfJson(result, inputConfig(isStreaming));
    assert.equal(json, readGolden(folder, "profile_export_genai_perf.json"));
  });
}

test("the recorded run's JSON is complete, with the given configuration", () => {
  const recorded = readGolden("chat-stream", "recorded.json");
  const marked = recorded.replace(/: (-?\d+\.\d+)(?=,?\n)/g, ': {"float": $1}');
  const config = JSON.parse(marked, (_key, value) =>
    value !== null && typeof value === "object" && "float" in value ? new PythonFloat(value.float) : value,
  ) as { input_config: PythonJson };
  const result = computeResult("chat-stream", "chat", true);
  assert.equal(formatGenAiPerfJson(result, config.input_config), recorded);
});

test("GPU metrics in table, CSV and JSON are GenAI-Perf's to the byte", () => {
  const samples = JSON.parse(readGolden("telemetry", "telemetry.json")) as Record<string, Record<string, number[]>>;
  const telemetry = toTelemetryStatistics(
    new Map(
      Object.entries(samples).map(([metric, gpus]) => [
        metric,
        new Map(Object.entries(gpus).map(([gpu, values]) => [gpu, { values }])),
      ]),
    ),
  );
  const result = { ...computeResult("embeddings", "embeddings", false), telemetry };
  const tables = formatGenAiPerfConsole(result) + formatTelemetryConsole(telemetry);
  assert.equal(tables, readGolden("telemetry", "console.txt"));
  assert.equal(formatGenAiPerfCsv(result), readGolden("telemetry", "profile_export_genai_perf.csv"));
  assert.equal(formatGenAiPerfJson(result, {}), readGolden("telemetry", "profile_export_genai_perf.json"));
});

test("a run without any response gives a table of N/A, not a crash", () => {
  const settings = { family: "text", endpointType: "chat", isStreaming: true } as const;
  const result = toGenAiPerfResult(new TokenColumns(), settings);
  assert.match(formatGenAiPerfConsole(result), /Time To First Token \(ms\) │ +N\/A │/);
  assert.match(formatGenAiPerfCsv(result), /Request Count \(count\),0\.00\r\n$/);
  assert.match(formatGenAiPerfJson(result, {}), /"request_count": \{\n {4}"unit": "count",\n {4}"avg": 0\.0\n/);
});
