import { METHOD_NAME } from "../../../transport/request.ts";
import { ENDPOINT_TYPES } from "../endpoints.ts";
import { hasMadeUpPrompts } from "../input-format.ts";
import type { RuleSet } from "./rule-set.ts";

const INPUT_HINT =
  'Give --input-file FILE with {"text": "COMMAND"} on each line; a command writes the messages of a call.';

/** Checks `--grpc-method`, and what calls of a method cannot use. */
export function checkMethod(rules: RuleSet): void {
  const { endpoint, input, rampart } = rules.settings;
  const { grpcMethod, type } = endpoint;
  if (!ENDPOINT_TYPES[type].callsMethod) {
    const message = `--grpc-method cannot be used with the endpoint type ${type}`;
    rules.refuse(
      grpcMethod !== "",
      "endpoint.grpcMethod",
      message,
      "Leave it out, or give --endpoint-type dynamic_grpc.",
    );
    return;
  }
  const example = "Give the method to call, for example --grpc-method inference.GRPCInferenceService/ServerLive.";
  const named = grpcMethod === "" ? "needs --grpc-method" : `needs a --grpc-method of the form package.Service/Method`;
  rules.refuse(!METHOD_NAME.test(grpcMethod), "endpoint.grpcMethod", `the endpoint type ${type} ${named}`, example);
  const isPlainFile = !hasMadeUpPrompts(rules.settings) && !/^[a-z]+:|\.csv$/.test(input.file);
  const isLines = ["auto", "jsonl"].includes(rampart.inputFormat);
  const inputMessage = `the endpoint type ${type} needs a file or folder of commands`;
  rules.refuse(!isPlainFile, "input.file", inputMessage, INPUT_HINT);
  rules.refuse(!isLines, "rampart.inputFormat", inputMessage, INPUT_HINT);
  const unused = [
    "input.extra",
    "input.prefixPrompt.count",
    "input.outputTokens.mean",
    "rampart.systemPromptTokens",
    "rampart.sequenceMix",
    "endpoint.path",
  ] as const;
  for (const at of unused) {
    const message = `calls of the endpoint type ${type} have only the messages that their command writes`;
    rules.refuse(rules.isChosen(at), at, message, "Leave it out.");
  }
}
