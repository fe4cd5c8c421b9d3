import { GOODPUT_NAMES } from "../../../measure/tokens/goodput.ts";
import { nearestName } from "../../../plan/nearest-name.ts";
import { isTokenless } from "../endpoint-formats.ts";
import { endpointPath } from "../endpoints.ts";
import { hasMadeUpPrompts, isPayloadFile } from "../input-format.ts";
import type { ValueName } from "../options/asked.ts";
import { findLoadSweep } from "../points.ts";
import type { RuleSet } from "./rule-set.ts";
import { warnOfSessions } from "./session-rules.ts";

/** Warns about settings without effect. */
export function warnTogether(rules: RuleSet): void {
  const { endpoint, given, input, warnings } = rules;
  const { isTritonModel, isInProcess, callsMethod } = rules.type;
  const warn = (isTrue: boolean, sentence: string): void => {
    if (isTrue) warnings.push(sentence);
  };
  if (rules.subcommand === "process-export-files") {
    const isSame = rules.get("process.input_path") === rules.get("output.artifact_directory");
    warn(isSame, "Input directory and artifact directory are the same: results may overwrite what is read.");
    return;
  }
  warn(
    isPayloadFile(input) && rules.get("input.output_tokens.mean") !== null,
    "--output-tokens-mean is ignored where a line of the payload file has an output_length.",
  );
  warn(
    rules.get("endpoint.streaming") && callsMethod === true,
    `--streaming has no effect with ${endpoint.type}: the method decides whether calls stream.`,
  );
  const isOther = (of: ValueName): boolean => given.has(of) && !rules.isDefault(of);
  const isCancelling = rules.get("rampart.cancel_percentage") > 0;
  warnOfLengths(rules);
  warnOfSessions(rules);
  warnOfOverruled(rules);
  warnOfPath(rules);
  warn(
    isOther("input.prefix_prompt.length") && rules.get("input.prefix_prompt.num") === 0,
    "--prefix-prompt-length has no effect without --num-prefix-prompts.",
  );
  const swept = rules.subcommand === "analyze" ? findLoadSweep(rules.get("analyze"))?.type : undefined;
  warn(
    swept !== undefined && !rules.isDefault("perf_analyzer.stimulus"),
    `The sweep's ${swept} replaces the load that was also given.`,
  );
  warn(
    isOther("output.checkpoint_directory") && !rules.get("output.enable_checkpointing"),
    "--checkpoint-dir has no effect without --enable-checkpointing.",
  );
  warn(
    isCancelling && isTritonModel === true && rules.load.number === "decimal",
    "with a request rate several requests share a gRPC stream: a request that is cancelled while others are in flight there is dropped here, but the server still computes it.",
  );
  warn(
    isCancelling && isInProcess === true,
    "a request to Triton in process that is cancelled is dropped here, but the model still computes it.",
  );
  for (const metric of Object.keys(rules.get("input.goodput") ?? {})) {
    const near = nearestName(metric, GOODPUT_NAMES);
    const meant = near === undefined ? "" : `; did you mean ${near}?`;
    warn(!GOODPUT_NAMES.includes(metric), `goodput: ${metric} is not a metric that can be limited${meant}`);
  }
}

function warnOfLengths(rules: RuleSet): void {
  if (rules.get("rampart.sequence_mix") !== "") return;
  const [input, output] = LENGTHS;
  if (hasMadeUpPrompts(rules.input) && !rules.type.isTextless && rules.get(input) === 0)
    rules.warnings.push(
      rules.get("input.synthetic_tokens.stddev") === 0
        ? `${rules.placeOf(input)} 0: synthetic prompts have no text of their own, like in GenAI-Perf; many servers refuse empty ones.`
        : `${rules.placeOf(input)} 0: lengths that are drawn below one token count as one.`,
    );
  if (rules.get(output) === 0 && !isTokenless(rules.endpoint))
    rules.warnings.push(`${rules.placeOf(output)} 0: requests ask for one token, the minimum, as with GenAI-Perf.`);
}

const LENGTHS = ["input.synthetic_tokens.mean", "input.output_tokens.mean"] as const;

/** Warns about flags that another one overrides. */
function warnOfOverruled(rules: RuleSet): void {
  if (rules.get("rampart.sequence_mix") !== "")
    for (const name of LENGTHS) rules.warnOfFlag(name, "beside --sequence-distribution", rules.placeOf(name));
  const of = "perf_analyzer.stability_percentage";
  if (rules.get("rampart.duration") !== null)
    rules.warnOfFlag(of, "beside --benchmark-duration: there is one window", rules.placeOf(of));
}

/** Warns about /v1 in the URL. OpenAI's clients need it there, but the paths of the endpoint types already contain it. */
function warnOfPath(rules: RuleSet): void {
  if (!rules.type.takesPayloads) return;
  const path = endpointPath(rules.endpoint.type, rules.get("endpoint.custom"), rules.get("model_names")[0] ?? "");
  const base = rules.get("endpoint.url").replace(/\/+$/, "");
  if (base.endsWith("/v1") && path.startsWith("v1/"))
    rules.warnings.push(`requests go to ${base}/${path}: leave /v1 out of --url, unless the server has it twice.`);
}
