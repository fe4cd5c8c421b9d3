/** Reason why a flag of perf_analyzer is not allowed after `--`. */
export interface PassedRefusal {
  /** Text that follows `--flag after --`. */
  readonly why: string;
  readonly hint: string;
}

const SET = "contradicts what genai-perf sets itself";
const MANY = "is for several loads, and a profile is measured under one";
const METRICS: PassedRefusal = { why: SET, hint: "Give --server-metrics-url before --." };
const INPUT: PassedRefusal = { why: SET, hint: "Give --input-file before --." };
const DEPRECATED: PassedRefusal = { why: "is deprecated", hint: "Give --concurrency before --." };
const SEARCH: PassedRefusal = { why: MANY, hint: "Use genai-perf analyze, with --search-limits for limits." };

/** Hints for problems whose own hints name options that are rejected here, by the option's first name, with words of the message. */
export const PASSED_HINTS: Readonly<Record<string, readonly [words: string, hint: string]>> = {
  "--periodic-concurrency-range": ["gRPC streaming", "Give --endpoint-type kserve or tensorrtllm_engine before --."],
};

/** Rejected options by first name. */
export const PASSED_REFUSALS: Readonly<Record<string, PassedRefusal>> = {
  "-m": { why: SET, hint: "Give -m before --." },
  "-u": { why: SET, hint: "Give -u before --." },
  "-i": { why: SET, hint: "Give --endpoint-type before --: it decides." },
  "--service-kind": { why: SET, hint: "Give --endpoint-type before --: it decides." },
  "--endpoint": { why: SET, hint: "Give --endpoint before --." },
  "--grpc-method": { why: SET, hint: "Give --grpc-method before --." },
  "--streaming": { why: SET, hint: "Give --streaming before --." },
  "--input-data": INPUT,
  "--data-directory": INPUT,
  "-z": INPUT,
  "--profile-export-file": { why: SET, hint: "Give --profile-export-file before --." },
  "--collect-metrics": METRICS,
  "--metrics-url": METRICS,
  "--metrics-interval": METRICS,
  "-t": DEPRECATED,
  "-c": DEPRECATED,
  "-d": DEPRECATED,
  "--binary-search": SEARCH,
  "--latency-threshold": SEARCH,
  "--version": { why: "measures nothing", hint: "Use genai-perf --version." },
};
