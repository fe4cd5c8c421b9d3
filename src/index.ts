import { realpath } from "node:fs/promises";
import { pathToFileURL } from "node:url";
import { describeDefect } from "./cli/guarded-io.ts";
import { createProcessIo } from "./cli/process-io.ts";
import type { GivenTags, TaggedInput } from "./inputs/tagged-input.ts";
import { messageOf } from "./plan/problem.ts";
import { endProcess, guardExit } from "./runtime/process-end/exit-guard.ts";
import { entryModule, isExecutable } from "./runtime/runtime.ts";
import { refuseMore } from "./scenario/arguments.ts";
import { defineScenario as define, type Scenario, type ScenarioSource } from "./scenario/define.ts";
import type { LoadKind } from "./scenario/loads/load.ts";
import type { ParameterTable } from "./scenario/params/parameter.ts";
import { beforeLimit, describeExit, describeLoading, isOwnFile, LOAD_LIMITS } from "./scenario/scenario-error.ts";
import type { AnyTags } from "./scenario/tags.ts";
import type { Protocol, ResponseType } from "./scenario/targets/target.ts";

export type {
  GenerateContext,
  GeneratedElements,
  GeneratedFile,
  GeneratedPayload,
  GeneratedTensors,
  InputMaker,
} from "./inputs/generate/generated-input.ts";
export type {
  FileBody,
  FileOptions,
  FormField,
  FormFields,
  JsonValue,
  MultipartBody,
  RequestBody,
  RequestOfScenario,
} from "./inputs/request-bodies.ts";
export type { GivenTags, TaggedInput, TaggedTensor, TagInput } from "./inputs/tagged-input.ts";
export type { Count, Duration, Percent, Percentile, Positive } from "./plan/units.ts";
export type { FinishedRequest, FinishedTokens, OnRecord } from "./result/finished-request.ts";
export type {
  AbortableAssertion,
  AssertedMetric,
  Assertion,
  GoodputLimits,
  LimitOf,
  MetricName,
  MetricOf,
  Precision,
} from "./scenario/assertion.ts";
export {
  type DerivedLimits,
  derived,
  type ErrorRateLimits,
  type ExtractedLimits,
  type ExtractedMetric,
  errorRate,
  extracted,
  type GoodputAssertions,
  goodput,
  type MetricLimits,
  max,
  mean,
  metric,
  min,
  outputTokensPerSec,
  p50,
  p90,
  p95,
  p99,
  percentile,
  type ShareLimits,
  throughput,
} from "./scenario/assertions.ts";
export type { CancelOptions } from "./scenario/cancel.ts";
export type {
  ClientOf,
  FieldOf,
  InputsOf,
  MetricsOptions,
  NeededInputs,
  Scenario,
  ScenarioDefinition,
  ScenarioExtras,
  ScenarioSource,
  ServerTraceOptions,
  StabilityOptions,
} from "./scenario/define.ts";
export { type AbOptions, ab } from "./scenario/definition/ab.ts";
export type { CapacityOptions } from "./scenario/definition/capacity.ts";
export type { DerivedMetric, ExtractedOf, LevelValues } from "./scenario/definition/derive.ts";
export { perTarget } from "./scenario/definition/per-target.ts";
export type { FormOf, GenerateOptions } from "./scenario/generate/builder.ts";
export type { ChainOptions } from "./scenario/generate/chain.ts";
export type { ChainCall, ChainExtract, CheckedCalls } from "./scenario/generate/chain-types.ts";
export type {
  HookContext,
  ReadyOptions,
  Shell,
  ShellCommand,
  ShellOptions,
  ShellOutput,
  StartedProcess,
  StartOptions,
  TeardownContext,
} from "./scenario/hooks/hook-types.ts";
export type { InputKind, Inputs } from "./scenario/input-data.ts";
export { input, type TextOptions } from "./scenario/inputs.ts";
export type { HoldOptions, PeriodicOptions, StepsOptions, ThinkOptions } from "./scenario/loads/concurrency.ts";
export { hold, periodic, ramp, steps } from "./scenario/loads/concurrency.ts";
export type { Extent, RampOptions } from "./scenario/loads/extent.ts";
export type { FindMaxOptions } from "./scenario/loads/find-max.ts";
export { findMax } from "./scenario/loads/find-max.ts";
export type { Load, LoadKind, LoadList, LoadPlace, PartLoad } from "./scenario/loads/load.ts";
export type {
  LimitedServerOptions,
  MlperfExtent,
  MultiStreamOptions,
  OfflineOptions,
  ServerOptions,
  SingleStreamOptions,
} from "./scenario/loads/mlperf.ts";
export { mlperf } from "./scenario/loads/mlperf.ts";
export { phase, type SoakOptions, type SpikeOptions, soak, spike, warmup } from "./scenario/loads/phases.ts";
export type { ArrivalOptions, RateOptions, RateRampOptions, RateStepsOptions } from "./scenario/loads/rates.ts";
export { intervals, rate, rateRamp, rateSteps } from "./scenario/loads/rates.ts";
export type { ScheduleOptions, TraceOptions } from "./scenario/loads/schedules.ts";
export { fixedSchedule, trace } from "./scenario/loads/schedules.ts";
export type { SessionOptions, SessionRateOptions } from "./scenario/loads/sessions.ts";
export { sessionRate, sessions } from "./scenario/loads/sessions.ts";
export { type MembersOf, type MixMember, type MixOf, mix } from "./scenario/mix.ts";
export {
  type NumberParameterOptions,
  type Parameter,
  type ParameterOptions,
  type ParameterTable,
  type ParameterValue,
  param,
  type TextParameterOptions,
  type ValuesOf,
} from "./scenario/params/parameter.ts";
export type { AudioOptions, ImageOptions, Length, PromptOptions } from "./scenario/prompts.ts";
export type { Repeat, RepeatOptions } from "./scenario/repeat.ts";
export type { SequenceOptions } from "./scenario/sequences.ts";
export type { AnyTags, CheckedTags, NamedTags, TagOptions, TagsOf, WhereOf } from "./scenario/tags.ts";
export {
  type CustomRequestOf,
  type CustomTargetDefinition,
  type CustomTargetOptions,
  defineTarget,
} from "./scenario/targets/custom.ts";
export { type EmbeddedOptions, embedded } from "./scenario/targets/embedded.ts";
export type { ExtractedValue, ExtractOptions, ResponseValue } from "./scenario/targets/extract.ts";
export { type GrpcMessage, type GrpcOptions, grpc } from "./scenario/targets/grpc.ts";
export { fileBody, type HttpOptions, http, multipart, type SuccessRule } from "./scenario/targets/http.ts";
export {
  type EmbeddedEndpoint,
  type EmbeddedLlmOptions,
  embeddedLlm,
  type OpenAiOptions,
  openai,
  type ResponsesOf,
} from "./scenario/targets/llm.ts";
export type { RequestParameter } from "./scenario/targets/request-parameters.ts";
export type { Protocol, ResponseType, Target } from "./scenario/targets/target.ts";
export type { MockLatency } from "./scenario/targets/target-fields.ts";
export { type TfServingOptions, tfserving } from "./scenario/targets/tfserving.ts";
export type { TlsOptions } from "./scenario/targets/tls.ts";
export { type TorchServeOptions, torchserve } from "./scenario/targets/torchserve.ts";
export {
  type TritonGrpcOptions,
  type TritonHttpOptions,
  triton,
} from "./scenario/targets/triton.ts";
export { type TritonInProcessOptions, tritonInProcess } from "./scenario/targets/triton-in-process.ts";
export type { LlmEndpointName } from "./service/openai/endpoints.ts";
export type { AnsweredRequest, CheckResponse, ScenarioResponse, ScenarioTensor } from "./service/scenario-response.ts";
export type { CustomGrpcRequest, CustomHttpRequest, CustomResponse } from "./service/user-defined/functions.ts";
export type { HttpMethod } from "./transport/request.ts";

const EXIT_INTERNAL = 1;
const EXIT_USAGE = 64;
const EXIT_INTERRUPTED = 130;

/** Whether a scenario has been defined in this process. */
let isDefined = false;

/** Longest time until the module namespace shows that the module has been evaluated. */
const EVALUATED_MS = 200;

sayIfEntryWaits(entryModule());

/**
 * Warns that the main module awaits something before it defines a scenario. Otherwise Bun would wait forever without a message, as would
 * Node and Deno while other work is pending.
 */
function sayIfEntryWaits(entry: string): void {
  if (entry === "" || isExecutable || isOwnFile(entry)) return;
  const look = async (): Promise<void> => {
    if (isDefined) return;
    const hasEnded = await Promise.race([
      toUrl(entry).then(importEntry).then(hasDefault),
      new Promise((resolve) => setTimeout(resolve, EVALUATED_MS, false).unref()),
    ]);
    if (!hasEnded) process.stderr.write(`rampart: ${entry}: ${describeLoading(LOAD_LIMITS.noticeMs)}\n`);
  };
  setTimeout(() => void look(), LOAD_LIMITS.noticeMs).unref();
}

/**
 * Defines a scenario. When the program's main module exports it as default (`bun x.ts`, `deno run -A x.ts`, `node x.ts`), the run starts after the
 * module has been evaluated. An imported scenario never starts a run.
 * @example
 * import { defineScenario, embedded, errorRate, p99, ramp } from "rampart";
 *
 * export default defineScenario({
 *   name: "simple",
 *   target: embedded(),
 *   load: ramp(1, 4, { for: "1 s" }),
 *   assert: [p99("latency").below("50 ms"), errorRate().is(0)],
 * });
 */
export function defineScenario<
  const P extends Protocol,
  const S extends LoadKind,
  const A extends ResponseType,
  const D extends ParameterTable = Record<never, never>,
  R = undefined,
  const G extends AnyTags = GivenTags,
  const X extends string = string,
  const N extends string = never,
  I = TaggedInput,
>(definition: ScenarioSource<P, S, A, D, R, G, X, N, I>): Scenario<ScenarioSource<P, S, A, D, R, G, X, N, I>> {
  refuseMore("defineScenario(definition)", arguments, 'Write the name inside: defineScenario({ name: "my test", … }).');
  isDefined = true;
  const scenario = define(definition);
  const entry = entryModule();
  const frames = (new Error().stack ?? "").split("\n");
  // The first line is the error message, the second one this function's frame.
  if (entry !== "") void startIfEntry(scenario, entry, frames[2]?.includes(entry) === true);
  return scenario;
}

/**
 * Starts the run if the main module exports the scenario, once it has been evaluated.
 * @param isOfEntry whether the main module itself defines it, so that it is an error when the process ends before the
 * run
 */
async function startIfEntry(scenario: Scenario, entry: string, isOfEntry: boolean): Promise<void> {
  const release = isOfEntry
    ? guardExit((code) => describeExit(entry, code, "before its run"), EXIT_USAGE)
    : (): void => {};
  // If a module has already started to wait, Deno's import of it resolves before its evaluation ends, so the import
  // must not be called later.
  const url = isUrl(entry) ? entry : await toUrl(entry);
  const loading = importEntry(url);
  const loaded = await (isOfEntry ? beforeEntryLimit(loading, entry) : loading);
  if (loaded?.default !== scenario) {
    release();
    return;
  }
  const [{ runEntryScenario }, api] = await Promise.all([import("./cli/run.ts"), import("./index.ts")]);
  const io = createProcessIo(
    () => Promise.resolve(api),
    () => endProcess(EXIT_INTERRUPTED),
  );
  release();
  const code = await runEntryScenario(scenario, new URL(url), process.argv.slice(2), io).catch((error: unknown) => {
    io.err(describeDefect(error));
    return EXIT_INTERNAL;
  });
  process.exit(code);
}

/** Whether the exports of a module have been evaluated. Deno imports a module that still waits, and its exports throw. */
function hasDefault(loaded: { default?: unknown } | undefined): boolean {
  try {
    return loaded === undefined || !("default" in loaded) || loaded.default !== undefined;
  } catch {
    return false;
  }
}

/** Imports the main module again, and resolves after its evaluation; undefined when that fails, and without a file. */
function importEntry(url: string): Promise<{ default?: unknown } | undefined> {
  return url === "" ? Promise.resolve(undefined) : import(url).catch(() => undefined);
}

/** Waits for the main module. When nothing can wake it, Node and Deno report that by themselves. */
function beforeEntryLimit<T>(loading: Promise<T>, entry: string): Promise<T> {
  const say = (text: string): void => void process.stderr.write(text);
  return beforeLimit(loading, entry, say, { ...LOAD_LIMITS, letsEnd: true }).catch((error: unknown) => {
    say(`rampart: ${messageOf(error)}\n`);
    return endProcess(EXIT_USAGE);
  });
}

function isUrl(entry: string): boolean {
  return /^[a-z]+:\/\//.test(entry);
}

/** Returns the URL that the runtime uses for a module; empty when the program is not a file, such as with `bun -e`. */
async function toUrl(entry: string): Promise<string> {
  if (isUrl(entry)) return entry;
  return realpath(entry).then(
    (found) => pathToFileURL(found).href,
    () => "",
  );
}
