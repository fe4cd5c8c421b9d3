import type { ServerResponse } from "node:http";
import { errorRate, p50, p99, throughput } from "../../../src/scenario/assertions.ts";
import { hold, ramp, steps } from "../../../src/scenario/loads/concurrency.ts";
import { findMax } from "../../../src/scenario/loads/find-max.ts";
import { server, singleStream } from "../../../src/scenario/loads/mlperf.ts";
import { phase } from "../../../src/scenario/loads/phases.ts";
import { rateSteps } from "../../../src/scenario/loads/rates.ts";
import { mix } from "../../../src/scenario/mix.ts";
import { prompts } from "../../../src/scenario/prompts.ts";
import { embedded } from "../../../src/scenario/targets/embedded.ts";
import { http } from "../../../src/scenario/targets/http.ts";
import { embeddedLlm } from "../../../src/scenario/targets/llm.ts";
import type { ScenarioResponse } from "../../../src/service/scenario-response.ts";
import { TINY } from "../../tokenize/tiny.ts";

/** Short scenarios whose pages have sections of their own. */

/** A search whose throughput breaks a limit above about four requests in flight. */
export const SEARCH = {
  name: "the limit by an SLO",
  target: embedded({ latency: "10 ms" }),
  load: findMax({
    range: ramp(1, 8),
    where: [throughput().below(450), p50("latency").below("2 s"), errorRate().below("50 %")],
    window: "150 ms",
    settle: "20 ms",
    forAtMost: "1 s",
  }),
};

/** MLPerf's single stream, in a time that its rules accept for this test. */
export const MLPERF = {
  name: "single stream",
  target: embedded({ latency: "1 ms" }),
  load: singleStream({ for: "200 ms", queries: 100 }),
};

/** MLPerf's server with limits of streamed tokens. */
export const MLPERF_TOKENS = {
  name: "server of tokens",
  target: embeddedLlm({ streaming: true, timeToFirstToken: "2 ms", interTokenLatency: "1 ms", tokenizer: TINY }),
  inputs: prompts({ isl: 12, osl: 5, count: 4 }),
  load: server(300, { timeToFirstToken: "2 s", timePerOutputToken: "1 s", for: "1 ms", queries: 70, percentile: 90 }),
};

/** Two targets and a tag, values that one of them extracts, and responses that a check refuses. @param url of a server that answers with JSON */
export function mixed(url: string): object {
  return {
    name: "two targets",
    target: mix([
      {
        name: "chat",
        target: embeddedLlm({ streaming: true, timeToFirstToken: "3 ms", interTokenLatency: "30 ms", tokenizer: TINY }),
        inputs: prompts({ isl: 12, osl: 5, count: 4 }),
        weight: 1,
      },
      { name: "web", target: http(url, { extract: { score: "score", label: "label" } }), weight: 2 },
    ]),
    tags: ({ index }: { readonly index: number }) => ({ size: index % 2 === 0 ? "small" : "large" }),
    check: ({ content, bytes }: ScenarioResponse) =>
      content !== "" || !new TextDecoder().decode(bytes).includes('"score":6') || "the score is <b>too high</b>",
    load: steps([1, 3], { requests: 60 }),
  };
}

/** A plan that is run several times. */
export const REPEATED = {
  name: "repeated",
  target: embedded({ latency: "1 ms" }),
  load: steps([1, 3], { requests: 40 }),
  repeat: 3,
  assert: [p99("latency").below("5 s")],
};

/** Phases of the same load, run several times. */
export const REPEATED_PHASES = {
  name: "repeated phases",
  target: embedded({ latency: "1 ms" }),
  load: [
    phase("first", hold(2, { requests: 40 })),
    phase("second", hold(2, { requests: 60 })),
    phase("rates", rateSteps([100, 200], { requests: 20 })),
  ],
  repeat: 2,
  assert: [p99("latency").below("5 s")],
};

/** A search that is repeated. */
export const REPEATED_SEARCH = {
  name: "the limit in two runs",
  target: embedded({ latency: "5 ms" }),
  load: findMax({
    range: ramp(1, 4),
    where: [throughput().below(550), errorRate().below("50 %")],
    window: "100 ms",
    settle: "20 ms",
    forAtMost: "500 ms",
  }),
  repeat: 2,
};

/** Responses with a score of 0 to 6, which {@link mixed} extracts and whose highest it refuses. */
export function answerWithScores(response: ServerResponse, index: number): void {
  response.setHeader("content-type", "application/json");
  response.end(JSON.stringify({ score: index % 7, label: index % 3 === 0 ? "good" : "bad" }));
}
