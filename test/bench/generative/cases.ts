import { join } from "node:path";
import type { LlmStubOptions } from "../../servers/llm-stub.ts";
import { tinyTokenizer } from "../../servers/tiny-llama.ts";
import { baselineName, benchFolder, copyName } from "../clients.ts";
import { type Load, MODE_NAME } from "./clients.ts";
import { makeLargeTokenizer } from "./large-tokenizer.ts";
import type { Case } from "./table.ts";

/** A case with its server and what is asked of each tool. */
export interface MeasuredCase extends Case {
  readonly stub: LlmStubOptions;
  /** Client and server are held to a core each. Default: both run where the system lets them. */
  readonly isPinned?: boolean;
  /** The plain copy of its streams is measured too. */
  readonly hasCopy?: boolean;
  /** A short run is made too, so that the cost of a chunk without the start is known. */
  readonly hasShort?: boolean;
  readonly loadOf: (tool: string) => Load | undefined;
}

/** The tools of short runs, and of those with a core each. */
const COMPARED = ["rampart", MODE_NAME, baselineName, "perf_analyzer"];
const PACED_TOKENS = 20;
const LARGE_VOCABULARY = 128_000;
const REPORT_REQUESTS = 20;

const PACED: LlmStubOptions = { ttftMs: 50, itlMs: 10, tokens: PACED_TOKENS };
/** In 25 s: the first wave of requests, which meets a server that has not served yet, is a hundredth of them. */
const PACED_LOAD: Load = { isStreaming: true, concurrency: 100, requests: 10_000 };

/** Those of `bench:generative`. */
export const CASES: readonly MeasuredCase[] = [
  {
    title: "JSON responses, 16 concurrent",
    kind: "speed",
    stub: { tokens: 20 },
    loadOf: (tool) => ({ isStreaming: false, concurrency: 16, requests: countFor(tool, 100_000, 3000) }),
  },
  {
    title: "streams of 100 tokens, 16 concurrent",
    kind: "speed",
    stub: {},
    loadOf: (tool) => ({ isStreaming: true, concurrency: 16, requests: tool.endsWith("perf") ? 1000 : 10_000 }),
    hasCopy: true,
    hasShort: true,
  },
  {
    title: "streams with 50 ms to the first token and 10 ms between tokens, 100 concurrent",
    kind: "truth",
    stub: PACED,
    loadOf: () => PACED_LOAD,
  },
  {
    title: "start to report, 20 requests",
    kind: "report",
    stub: { tokens: 20 },
    loadOf: () => ({ isStreaming: true, concurrency: 1, requests: REPORT_REQUESTS }),
  },
  {
    title: "start to report, 20 requests, a tokenizer of 128,000 entries",
    kind: "report",
    stub: { tokens: 20 },
    loadOf: (tool) =>
      tool === "rampart" || tool === baselineName
        ? { isStreaming: true, concurrency: 1, requests: REPORT_REQUESTS, tokenizer: largeTokenizer() }
        : undefined,
  },
  {
    title: "200 streams of 100 tokens, 16 concurrent",
    kind: "speed",
    stub: {},
    loadOf: (tool) =>
      [...COMPARED, copyName].includes(tool) ? { isStreaming: true, concurrency: 16, requests: 200 } : undefined,
    hasCopy: true,
  },
  {
    title: "the paced streams, a core each",
    kind: "truth",
    stub: PACED,
    isPinned: true,
    loadOf: (tool) => (COMPARED.includes(tool) ? PACED_LOAD : undefined),
  },
];

/** Above it perf_analyzer takes longer than the time that a run has. */
const MOST_OF_PERF_ANALYZER = 2000;

/**
 * Those of `bench:streams`: so many streams at once that a client's work shows in its times. A stream has a token each time that leaves both
 * cores room: at most 40,000/s are sent.
 */
export const MANY_CASES: readonly MeasuredCase[] = [
  manyStreams(500, { itlMs: 50, requests: 10_000, mostAvgMs: 1, mostP99Ms: 4 }),
  manyStreams(2000, { itlMs: 50, requests: 30_000, mostAvgMs: 10, mostP99Ms: 40 }),
  manyStreams(10_000, { itlMs: 250, requests: 40_000 }),
  manyStreams(18_000, { itlMs: 500, requests: 36_000 }),
];

/** Streams of 20 tokens, the first after 50 ms. All start at once, and each that ends is followed by another. */
function manyStreams(
  concurrency: number,
  { itlMs, requests, ...goals }: { itlMs: number; requests: number } & Pick<Case, "mostAvgMs" | "mostP99Ms">,
): MeasuredCase {
  return {
    title: `${concurrency.toLocaleString("en")} streams at once with a token each ${itlMs} ms, a core each`,
    kind: "truth",
    stub: { ttftMs: 50, itlMs, tokens: PACED_TOKENS, bufferBytes: 1 << 13 },
    isPinned: true,
    loadOf: (tool) =>
      concurrency <= MOST_OF_PERF_ANALYZER || !tool.endsWith("perf_analyzer")
        ? { isStreaming: true, concurrency, requests }
        : undefined,
    ...goals,
  };
}

/** The Python tools would take minutes for as many. */
function countFor(tool: string, many: number, few: number): number {
  return tool === "aiperf" ? few : many;
}

function largeTokenizer(): string {
  return makeLargeTokenizer(tinyTokenizer, join(benchFolder, "large-tokenizer"), LARGE_VOCABULARY);
}
