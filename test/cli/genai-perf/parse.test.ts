import assert from "node:assert/strict";
import { test } from "node:test";
import * as fc from "fast-check";
import { parseCommand } from "../../../src/cli/genai-perf/options/parse.ts";
import { wordsOf } from "../../../src/cli/genai-perf/options/passed-flags.ts";
import { flagsOf } from "../../../src/cli/genai-perf/options/subcommands.ts";
import { formatUsageError } from "../../../src/cli/genai-perf/usage.ts";
import { golden, read, readBad, readGood } from "./read.ts";

/** The flags of a right command line as `name=values`. */
function flagsIn(...args: string[]): string[] {
  const command = parseCommand(["profile", ...args]);
  assert.equal(command.kind, "command", JSON.stringify(command));
  return command.kind === "command"
    ? command.given.map(({ option, values }) => `${option.names[0]}=${values.join("|")}`)
    : [];
}

test("values follow or are attached, switches have none, lists take all that follow", () => {
  for (const [args, expected] of [
    [
      ["-m", "a", "b", "--streaming"],
      ["-m=a|b", "--streaming="],
    ],
    [["--model=a"], ["-m=a"]],
    // GenAI-Perf's documentation still gives it; it says what the endpoint type says.
    [["--service-kind", "openai", "--endpoint-type", "chat"], ["--endpoint-type=chat"]],
    [
      ["--endpoint-type=kserve", "--service-kind=triton", "-m", "a"],
      ["--endpoint-type=kserve", "-m=a"],
    ],
    [["-ma"], ["-m=a"]],
    [["-p500"], ["--measurement-interval=500"]],
    [
      ["-vp", "500"],
      ["-v=", "--measurement-interval=500"],
    ],
    [["--url=http://h/?a=b"], ["-u=http://h/?a=b"]],
    [["--url="], ["-u="]],
    [["--random-seed", "-5"], ["--random-seed=-5"]],
    [["--session-delay-ratio", "-.5"], ["--session-delay-ratio=-.5"]],
    [["--audio-depths"], ["--audio-depths="]],
    [["--audio-depths", "8", "16"], ["--audio-depths=8|16"]],
    [
      ["-H", "A: b c", "-H", "X:1"],
      ["--header=A: b c", "--header=X:1"],
    ],
    [["--H", "X:1"], ["--header=X:1"]],
    [["--extra-inputs", "-a value"], ["--extra-inputs=-a value"]],
    [
      ["--fixed-schedule", "--streaming"],
      ["--fixed-schedule=", "--streaming="],
    ],
    [["--fixed-schedule", "True"], ["--fixed-schedule=True"]],
    [
      ["--isl", "1", "--osl", "2"],
      ["--synthetic-input-tokens-mean=1", "--output-tokens-mean=2"],
    ],
    [
      ["--num-requests", "3", "--num-warmup-requests", "4"],
      ["--request-count=3", "--warmup-request-count=4"],
    ],
  ] as const)
    assert.deepEqual(flagsIn(...args), expected, args.join(" "));
});

test("a unique prefix of one of GenAI-Perf's flags is accepted; Rampart's own take no part", () => {
  assert.deepEqual(flagsIn("--conc", "3"), ["--concurrency=3"]);
  assert.deepEqual(flagsIn("--stab=5"), ["-s=5"]);
  assert.deepEqual(flagsIn("--server-metrics", "http://a:1/metrics"), ["--server-metrics-url=http://a:1/metrics"]);
  assert.deepEqual(flagsIn("--request-r", "3"), ["--request-rate=3"]);
  const command = parseCommand(["profile", "--batch-size-", "3"]);
  assert.ok(command.kind === "usage");
  assert.equal(command.problems.length, 1);
  assert.equal(
    command.problems[0]?.message,
    "ambiguous option: --batch-size- could match --batch-size-audio, --batch-size-image, --batch-size-text",
  );
});

test("arguments after -- are flags of perf_analyzer, and after a second -- they are no flags", () => {
  const { asked } = readGood("profile", "-m", "a", "--", "--max-threads", "4", "--", "-v");
  const { given, positional } = asked.passed;
  assert.deepEqual([given.flatMap(wordsOf), positional], [["--max-threads", "4"], ["-v"]]);
  assert.equal(asked.get("-v"), false);
});

test("help and version are found where argparse finds them", () => {
  assert.deepEqual(parseCommand(["-h"]), { kind: "help", subcommand: undefined });
  assert.deepEqual(parseCommand(["--vers"]), { kind: "version" });
  assert.deepEqual(parseCommand(["analyze", "-m", "a", "--help"]), { kind: "help", subcommand: "analyze" });
});

test("usage errors have argparse's words, all of them together", () => {
  for (const [args, messages] of [
    [[], ["the following arguments are required: subcommand"]],
    [
      ["profil"],
      [
        "argument subcommand: invalid choice: 'profil' (choose from 'config', 'profile', 'analyze', 'create-template', 'process-export-files')",
      ],
    ],
    [["profile", "-m"], ["argument -m/--model: expected at least one argument"]],
    [["profile", "--url"], ["argument -u/--url: expected one argument"]],
    [["process-export-files", "-d"], ["argument --input-directory/-d: expected 1 argument"]],
    [["profile", "--streaming=yes"], ["argument --streaming: ignored explicit argument 'yes'"]],
    [["profile", "-m", "a", "--nope", "x", "-q"], ["unrecognized arguments: --nope x -q"]],
    [["profile", "--nope", "x"], ["unrecognized arguments: --nope x"]],
    [["config"], ["the following arguments are required: -f/--file"]],
    [
      ["profile", "--concurrency", "1", "--request-rate", "2"],
      ["argument --request-rate: not allowed with argument --concurrency"],
    ],
    [
      ["profile", "-p", "1", "--num-requests", "2", "--url"],
      [
        "argument -u/--url: expected one argument",
        "argument --request-count/--num-requests: not allowed with argument --measurement-interval/-p",
      ],
    ],
  ] as const) {
    const command = parseCommand(args);
    assert.ok(command.kind === "usage", args.join(" "));
    assert.deepEqual(
      command.problems.map(({ message }) => message),
      messages,
    );
  }
});

test("values have argparse's errors too, all of them together", () => {
  for (const [args, messages] of [
    [["--concurrency", "x"], ["argument --concurrency: invalid int value: 'x'"]],
    [["--concurrency", "1.5"], ["argument --concurrency: invalid int value: '1.5'"]],
    [["-s", "5%"], ["argument -s/--stability-percentage: invalid float value: '5%'"]],
    [["--audio-format", "ogg"], ["argument --audio-format: invalid choice: 'ogg' (choose from 'wav', 'mp3')"]],
    [["--audio-num-channels", "3"], ["argument --audio-num-channels: invalid choice: 3 (choose from 1, 2)"]],
    [
      ["--num-prompts", "0", "--isl", "many"],
      [
        "argument --num-dataset-entries/--num-prompts: The value must be greater than zero.",
        "argument --synthetic-input-tokens-mean/--isl: invalid int value: 'many'",
      ],
    ],
    [["--num-prompts", "a"], ["argument --num-dataset-entries/--num-prompts: The value must be an integer."]],
    [
      ["--input-file", "/does/not/exist"],
      ["argument --input-file: invalid file_or_directory value: '/does/not/exist'"],
    ],
  ] as const) {
    assert.deepEqual(readBad("profile", "-m", "a", ...args), messages);
    assert.equal(read("profile", "-m", "a", ...args).kind, "usage");
  }
});

test("an error is printed below the usage of the parser that found it", () => {
  const top = parseCommand(["profile", "-m", "tiny", "--no-such-flag"]);
  assert.ok(top.kind === "usage");
  const text = formatUsageError(top.subcommand, top.problems);
  assert.ok(text.startsWith(golden("usage.txt")));
  assert.match(text, /^genai-perf: error: unrecognized arguments: --no-such-flag$/m);
  const own = parseCommand(["create-template", "-f"]);
  assert.ok(own.kind === "usage");
  const ownText = formatUsageError(own.subcommand, own.problems);
  assert.ok(ownText.startsWith(golden("usage-create-template.txt")));
  assert.match(ownText, /^genai-perf create-template: error: argument -f\/--file: expected one argument$/m);
});

test("a slip gets a suggestion", () => {
  const command = parseCommand(["profile", "--concurency", "1"]);
  assert.ok(command.kind === "usage");
  assert.equal(command.problems[0]?.hint, "Did you mean --concurrency?");
});

test("no command line is too strange: it is help, version, usage or a command, and never an exception", () => {
  const names = flagsOf("analyze").flatMap(({ names }) => names);
  const arg = fc.oneof(
    fc.constantFrom(...names, "--", "-", "-5", "", "--=", "-=x"),
    fc.string(),
    fc.string().map((text) => `--${text}`),
  );
  fc.assert(
    fc.property(fc.array(arg, { maxLength: 8 }), (args) => {
      const command = parseCommand(["analyze", ...args]);
      if (command.kind !== "usage") return;
      assert.ok(
        command.problems.length > 0 && command.problems.every(({ message, hint }) => message !== "" && hint !== ""),
      );
    }),
    { numRuns: 300 },
  );
});
