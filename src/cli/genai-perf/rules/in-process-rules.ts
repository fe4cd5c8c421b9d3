import { problem } from "../../../plan/problem.ts";
import { ENDPOINT_TYPES } from "../endpoints.ts";
import { passedValueOf } from "../options/passed-flags.ts";
import { nameOf } from "../options/subcommands.ts";
import type { RuleSet } from "./rule-set.ts";

const REPOSITORY_FLAG = "--model-repository";

/** Settings of a connection, which there is not. */
const OF_CONNECTION = [
  "endpoint.url",
  "endpoint.path",
  "rampart.moreUrls",
  "rampart.apiKeyEnv",
  "input.headers",
] as const;

/** Checks what Triton in process needs and cannot use, and what ids of tokens need. */
export function checkInProcess(rules: RuleSet): void {
  const { endpoint, tokenizer, passed } = rules.settings;
  const { type } = endpoint;
  const { isInProcess, hasTokenIds } = ENDPOINT_TYPES[type];
  if (isInProcess) {
    const message = `the endpoint type ${type} needs ${REPOSITORY_FLAG} after --: it runs Triton's library by itself`;
    const hint = `Add -- ${REPOSITORY_FLAG} DIR, and --triton-server-directory DIR where Triton is not in /opt/tritonserver.`;
    if (!passedValueOf(passed, REPOSITORY_FLAG))
      rules.problems.push(problem("missing", REPOSITORY_FLAG, message, hint));
    for (const at of OF_CONNECTION) {
      const unused = `${nameOf(at)} cannot be used with the endpoint type ${type}, which has no network`;
      rules.refuse(rules.isChosen(at), at, unused, "Leave it out.");
    }
  }
  rules.refuse(
    hasTokenIds === true && tokenizer.name === "none",
    "tokenizer.name",
    `requests of the endpoint type ${type} have the ids of tokens, which only a tokenizer can give`,
    "Name the model's tokenizer.",
  );
}
