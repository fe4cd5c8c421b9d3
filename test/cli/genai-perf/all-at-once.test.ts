import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { runCaptured } from "./run-captured.ts";

/** Command lines with mistakes of several sorts: all are told in one round, and nothing that only follows from another. */

async function tell(args: string): Promise<{ readonly code: number; readonly lines: readonly string[] }> {
  const { code, out, err } = await runCaptured(args.split(" "));
  assert.equal(out, "", "nothing is printed");
  assert.equal(err.startsWith("usage: "), code === 2, "usage goes first, and only with argparse's errors");
  return { code, lines: err.split("\n").filter((line) => /^(?:genai-perf.*: error|Error): /.test(line)) };
}

const rounds: readonly (readonly [name: string, args: string, code: number, lines: readonly RegExp[]])[] = [
  [
    "an unknown flag, a wrong value, a broken rule and two wrong flags after --",
    "profile -m m --concurrency x --nonsense --header nocolon -- --bogus --max-threads x",
    2,
    [/unrecognized arguments: --nonsense$/, /--concurrency: invalid int/, /--header/, /'--bogus'/, /--max-threads/],
  ],
  [
    "a wrong value, and a setting out of its range",
    "profile -m m --isl many --max-response-bytes 0",
    2,
    [/^genai-perf profile: error: .*--isl: invalid int value: 'many'/, /^Error: --max-response-bytes: .*lower bounds/],
  ],
  [
    "a missing value, and a flag of another endpoint type",
    "profile -m m --endpoint-type chat --grpc-method a.b/C --url",
    2,
    [/-u\/--url: expected one argument/, /^Error: --grpc-method cannot be used with the endpoint type chat/],
  ],
  [
    "a broken rule, a flag of another endpoint type, and a wrong flag after --",
    "profile -m m --header nocolon --grpc-method a.b/C -- --percentile 200",
    1,
    [/--grpc-method cannot be used with the endpoint type kserve/, /--header/, /Failed to parse --percentile/],
  ],
  [
    "a folder that is none beside an unknown flag",
    "process-export-files -d ./none-such --nonsense",
    2,
    [/unrecognized arguments: --nonsense/, /^Error: -d: .*none-such is not a valid directory/],
  ],
  [
    "a file that is none beside a wrong value",
    "config -f ./none-such.yaml --isl x",
    2,
    [/--isl: invalid int value/, /^Error: .*none-such\.yaml: the file cannot be read/],
  ],
  // What follows from another mistake.
  [
    "a rule that needs the flag that was misspelt",
    "profile -m m --endpoint-type chat --generate-plotz --plot-formats svg",
    2,
    [/unrecognized arguments: --generate-plotz/],
  ],
  [
    "a rule about the endpoint type that could not be read",
    "profile -m m --endpoint-type chatt --backend vllm",
    2,
    [/--endpoint-type: invalid choice: 'chatt'/],
  ],
  [
    "a model that is missing because its flag has no value",
    "profile --model",
    2,
    [/-m\/--model: expected at least one/],
  ],
];

describe("all problems are reported together", () => {
  for (const [name, args, code, expected] of rounds)
    test(name, async () => {
      const told = await tell(args);
      assert.equal(told.code, code);
      assert.equal(told.lines.length, expected.length, told.lines.join("\n"));
      for (const [index, pattern] of expected.entries()) assert.match(told.lines[index] ?? "", pattern);
    });
});
