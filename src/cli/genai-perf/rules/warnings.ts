import { GOODPUT_NAMES } from "../../../measure/tokens/goodput.ts";
import { nearestName } from "../../../plan/nearest-name.ts";
import { isTokenless } from "../endpoint-formats.ts";
import { ENDPOINT_TYPES, endpointPath } from "../endpoints.ts";
import { hasMadeUpPrompts, isPayloadFile } from "../input-format.ts";
import { loadOf } from "../loads.ts";
import { findLoadSweep } from "../points.ts";
import type { RuleSet } from "./rule-set.ts";
import { warnOfSessions } from "./session-rules.ts";

/** Warns of settings without effect. */
export function warnTogether(rules: RuleSet): void {
  const { settings, given, warnings } = rules;
  const { input, layout, prompts, endpoint, perfAnalyzer, rampart, output } = settings;
  const { isTritonModel, isInProcess, callsMethod } = ENDPOINT_TYPES[endpoint.type];
  const warn = (isTrue: boolean, sentence: string): void => {
    if (isTrue) warnings.push(sentence);
  };
  if (settings.subcommand === "process-export-files") {
    const isSame = settings.process.inputDir === output.artifactDir;
    warn(isSame, "Input directory and artifact directory are the same: results may overwrite what is read.");
    return;
  }
  warn(
    isPayloadFile(input) && prompts.outputTokens.mean !== null,
    "--output-tokens-mean is ignored where a line of the payload file has an output_length.",
  );
  warn(
    layout.isStreaming && isTokenless(endpoint),
    `--streaming has no effect with ${endpoint.type}: ${callsMethod ? "the method decides whether calls stream" : "the response comes in one piece"}.`,
  );
  warnOfLengths(rules);
  warnOfSessions(rules);
  warnOfOverruled(rules);
  warnOfPath(rules);
  warn(
    given.has("prompts.prefix.tokens") && !rules.isDefault("prompts.prefix.tokens") && prompts.prefix.count === 0,
    "--prefix-prompt-length has no effect without --num-prefix-prompts.",
  );
  const swept = settings.subcommand === "analyze" ? findLoadSweep(settings.analyze.sweeps)?.type : undefined;
  warn(
    swept !== undefined && !rules.isDefault("perfAnalyzer.stimulus"),
    `The sweep's ${swept} replaces the load that was also given.`,
  );
  warn(
    given.has("output.checkpointDir") && !rules.isDefault("output.checkpointDir") && !output.isCheckpointing,
    "--checkpoint-dir has no effect without --enable-checkpointing.",
  );
  warn(
    rampart.cancelPct > 0 && isTritonModel === true && loadOf(perfAnalyzer.stimulus.kind).number === "decimal",
    "with a request rate several requests share a gRPC stream: a request that is cancelled while others are in flight there is dropped here, but the server still computes it.",
  );
  warn(
    rampart.cancelPct > 0 && isInProcess === true,
    "a request to Triton in process that is cancelled is dropped here, but the model still computes it.",
  );
  for (const metric of Object.keys(input.goodput ?? {})) {
    const near = nearestName(metric, GOODPUT_NAMES);
    const meant = near === undefined ? "" : `; did you mean ${near}?`;
    warn(!GOODPUT_NAMES.includes(metric), `goodput: ${metric} is not a metric that can be limited${meant}`);
  }
}

/** Warns of lengths of 0 tokens. */
function warnOfLengths(rules: RuleSet): void {
  const { prompts, endpoint, rampart } = rules.settings;
  const { inputTokens, outputTokens } = prompts;
  if (rampart.sequenceMix !== "") return;
  const { isTextless } = ENDPOINT_TYPES[endpoint.type];
  if (hasMadeUpPrompts(rules.settings.input) && !isTextless && inputTokens.mean === 0)
    rules.warnings.push(
      inputTokens.stddev === 0
        ? `${rules.placeOf("prompts.inputTokens.mean")} 0: synthetic prompts have no text of their own, like in GenAI-Perf; many servers refuse empty ones.`
        : `${rules.placeOf("prompts.inputTokens.mean")} 0: lengths that are drawn below one token count as one.`,
    );
  if (outputTokens.mean === 0 && !isTokenless(endpoint))
    rules.warnings.push(
      `${rules.placeOf("prompts.outputTokens.mean")} 0: requests ask for one token, the minimum, as with GenAI-Perf.`,
    );
}

/** Warns of flags that another one overrides. */
function warnOfOverruled(rules: RuleSet): void {
  const { sequenceMix, durationSec } = rules.settings.rampart;
  if (sequenceMix !== "")
    for (const at of ["prompts.inputTokens.mean", "prompts.outputTokens.mean"] as const)
      rules.warnOfFlag(at, "beside --sequence-distribution", rules.placeOf(at));
  const at = "perfAnalyzer.stabilityPct";
  if (durationSec !== null) rules.warnOfFlag(at, "beside --benchmark-duration: there is one window", rules.placeOf(at));
}

/** Warns of /v1 in the URL. OpenAI's clients need it there, but the paths of the endpoint types already contain it. */
function warnOfPath({ settings, warnings }: RuleSet): void {
  const { endpoint, layout } = settings;
  if (!ENDPOINT_TYPES[endpoint.type].takesPayloads) return;
  const path = endpointPath(endpoint.type, endpoint.path, layout.models[0] ?? "");
  const base = endpoint.url.replace(/\/+$/, "");
  if (base.endsWith("/v1") && path.startsWith("v1/"))
    warnings.push(`requests go to ${base}/${path}: leave /v1 out of --url, unless the server has it twice.`);
}
