import assert from "node:assert/strict";
import { test } from "node:test";
import { makeFolder, writeIn } from "../../make-folder.ts";
import { runCommand } from "./run-command.ts";

/** What is refused before any server is asked: exit code 99, the reason, what was given and what to do. */

const CHOICES = "The available options are";

/** Flags after `-m simple`, and what the error says. */
const refused: readonly (readonly [flags: string, message: string])[] = [
  ["--concurrency-range 0", "The start of the search range must be > 0"],
  ["--concurrency-range -1", "The start of the search range must be > 0"],
  ["--concurrency-range abc", "Failed to parse --concurrency-range. Invalid value provided: abc"],
  ["--concurrency-range 1:", "Failed to parse --concurrency-range. Invalid value provided: 1:"],
  ["--concurrency-range 1:2:3:4", "Failed to parse --concurrency-range. The value does not match <start:end:step>."],
  ["--concurrency-range 1:4:0", "Failed to parse --concurrency-range. The step of the search range must be > 0."],
  ["--concurrency-range 1:-4", "Failed to parse --concurrency-range. The end of the search range must be >= 0."],
  ["--concurrency-range 99999999999999999999", "Failed to parse --concurrency-range. The value is out of range."],
  ["--request-rate-range 0", "Failed to parse --request-rate-range. The start of the search range must be > 0."],
  ["--request-rate-range abc", "Failed to parse --request-rate-range. Invalid value provided: abc"],
  ["--request-rate-range 1:2:-1", "Failed to parse --request-rate-range. The step of the search range must be > 0."],
  ["--request-distribution normal", "Failed to parse --request-distribution. Unsupported type provided: 'normal'."],
  ["--request-intervals /nonexistent", "Failed to parse --request-intervals. The value must be a valid file path"],
  ["-p 0", "Failed to parse --measurement-interval (-p). The value must be > 0 msec."],
  ["-p -5", "Failed to parse --measurement-interval (-p). The value must be > 0 msec."],
  ["-p abc", "Failed to parse --measurement-interval (-p). Invalid value provided: abc"],
  ["--measurement-mode both", `Failed to parse --measurement-mode. Unsupported type provided: 'both'. ${CHOICES}`],
  ["--measurement-request-count 0", "Failed to parse --measurement-request-count. The value must be > 0."],
  ["--request-count -1", "Failed to parse --request-count. The value must be > 0."],
  ["--warmup-request-count -1", "Failed to parse --warmup-request-count. The value must be >= 0."],
  ["-s -1", "Failed to parse --stability-percentage (-s). The value must be >= 0.0."],
  ["-s ten", "Failed to parse --stability-percentage (-s). Invalid value provided: ten"],
  ["-r 0", "Failed to parse --max-trials (-r). The value must be > 0."],
  ["--percentile 0", "Failed to parse --percentile. The value must be -1 for not reporting or in range (0, 100)."],
  ["--percentile 100", "Failed to parse --percentile. The value must be -1 for not reporting or in range (0, 100)."],
  ["--percentile abc", "Failed to parse --percentile. Invalid value provided: abc"],
  ["-l -1", "Failed to parse --latency-threshold (-l). The value must be >= 0 msecs."],
  ["--max-threads 0", "Failed to parse --max-threads. The value must be > 0."],
  ["-b 0", "Failed to parse -b (batch size). The value must be > 0."],
  ["--input-data nowhere", "Failed to parse --input-data. Unsupported type provided: 'nowhere'."],
  ["--shape INPUT0", "Failed to parse --shape. There must be a colon after input name."],
  ["--shape INPUT0:2,x", "Failed to parse --shape. Invalid value provided: INPUT0:2,x"],
  ["--shape INPUT0:2,0", "Failed to parse --shape. The dimensions of input tensor must be > 0."],
  ["--shape INPUT0:-2", "Failed to parse --shape. The dimensions of input tensor must be > 0."],
  ["--string-length 0", "Failed to parse --string-length. The value must be > 0"],
  [
    "--input-tensor-format text",
    `Failed to parse --input-tensor-format. Unsupported type provided: 'text'. ${CHOICES}`,
  ],
  ["--output-tensor-format text", "Failed to parse --output-tensor-format. Unsupported type provided: 'text'."],
  ["-i ftp", "Failed to parse -i (protocol). The value should be either HTTP or gRPC."],
  ...["grpc-root-certifications", "grpc-private-key", "grpc-certificate-chain", "https-ca-certificates"].map(
    (name) =>
      [
        `--ssl-${name}-file nowhere`,
        `Failed to parse --ssl-${name}-file. The value must be a valid file path.`,
      ] as const,
  ),
  ["--ssl-https-verify-peer 2", "Failed to parse --ssl-https-verify-peer. The value must be either 0 or 1."],
  ["--ssl-https-verify-peer abc", "Failed to parse --ssl-https-verify-peer. The value must be either 0 or 1."],
  ["--ssl-https-verify-host -1", "Failed to parse --ssl-https-verify-host. The value must be either 0, 1, or 2."],
  [
    "--ssl-https-client-certificate-type der",
    "Failed to parse --ssl-https-client-certificate-type. Unsupported type provided: 'der'.",
  ],
  [
    "--ssl-https-private-key-type P12",
    "Failed to parse --ssl-https-private-key-type. Unsupported type provided: 'P12'.",
  ],
  [
    "-i grpc --request-parameter a:1",
    "Failed to parse --request-parameter. The value does not match <name:value:type>.",
  ],
  ["-i grpc --request-parameter :1:int", "Failed to parse --request-parameter. The value does not match"],
  ["-i grpc --request-parameter a:1:int:2", "Failed to parse --request-parameter. The value does not match"],
  ["-i grpc --request-parameter a:1:float", "Failed to parse --request-parameter. Unsupported type provided: 'float'."],
  ["-i grpc --request-parameter a:1.5:int", "Failed to parse --request-parameter. '1.5' is not a valid int."],
  ["-i grpc --request-parameter a:-1:uint", "Failed to parse --request-parameter. '-1' is not a valid uint."],
  ["-i grpc --request-parameter a:yes:bool", "Failed to parse --request-parameter. 'yes' is not a valid bool."],
  ["-i grpc --request-parameter a:x:double", "Failed to parse --request-parameter. 'x' is not a valid double."],
  ["--sequence-length abc", "Failed to parse --sequence-length. Invalid value provided: abc"],
  ["--sequence-length-variation -1", "Failed to parse --sequence-length-variation. The value must be >= 0.0."],
  [
    "--sequence-id-range 5:2",
    "Failed to parse --sequence-id-range. The 'end' value must be greater than 'start' value.",
  ],
  ["--sequence-id-range 1:2:3", "Failed to parse --sequence-id-range. The value does not match <start:end>."],
  ["--sequence-id-range -1:4", "Failed to parse --sequence-id-range. The range values must be >= 0."],
  ["--sequence-id-range x", "Failed to parse --sequence-id-range. Invalid value provided: x"],
  ["--num-of-sequences 0", "Failed to parse --num-of-sequences. The value must be > 0."],
  ["--request-period 0", "Failed to parse --request-period. The value must be > 0"],
  ["--periodic-concurrency-range 4:2:1", "Failed to parse --periodic-concurrency-range. The <start> must be <= <end>."],
  [
    "--periodic-concurrency-range 1:4:2",
    "Failed to parse --periodic-concurrency-range. The <step> value must be a factor of the range size (<end> - <start>).",
  ],
  ["--periodic-concurrency-range 1:4:0", "Failed to parse --periodic-concurrency-range. The <step> value must be > 0."],
  [
    "--periodic-concurrency-range 1:4 --concurrency-range 2",
    "Cannot use both PeriodicConcurrency and Concurrency inference load modes.",
  ],
  ["--fixed-schedule", "Must provide --input-data when using the --fixed-schedule option."],
  ["--fixed-schedule --request-count 5", "Cannot specify `--request-count` when using `--fixed-schedule`."],
  ["--fixed-schedule --request-rate-range 5", "Cannot use both FixedSchedule and RequestRate inference load modes."],
  ["--collect-metrics --metrics-url ftp://host", "Failed to parse --metrics-url. The value must be a URL"],
  ["--collect-metrics --metrics-url http://a:b@host/metrics", "Failed to parse --metrics-url. The value must be a URL"],
  ["--collect-metrics --metrics-interval 0", "Failed to parse --metrics-interval. The value must be > 0 msecs."],
  ["--collect-metrics --metrics-interval x", "Failed to parse --metrics-interval. Invalid value provided: x"],
  [
    "--trace-level timestamps",
    `Failed to parse --trace-level. Unsupported type provided: 'timestamps'. ${CHOICES} 'OFF', 'TIMESTAMPS', or 'TENSORS'.`,
  ],
  ["--trace-rate abc", "Failed to parse --trace-rate. Invalid value provided: abc"],
  ["--trace-rate -1", "Failed to parse --trace-rate. The value must be >= 0."],
  ["--trace-count -2", "Failed to parse --trace-count. The value must be >= 0 or set to -1 (default)."],
  ["--trace-count abc", "Failed to parse --trace-count. Invalid value provided: abc"],
  ["--log-frequency -1", "Failed to parse --log-frequency. The value must be >= 0."],
  [
    "-i grpc --grpc-compression-algorithm lz4",
    "Failed to parse --grpc-compression-algorithm. Unsupported type provided: 'lz4'. The available options are 'gzip', 'deflate', or 'none'.",
  ],
  [
    "-i grpc --grpc-compression-algorithm GZIP",
    "Failed to parse --grpc-compression-algorithm. Unsupported type provided: 'GZIP'.",
  ],
  ["-H nocolon", "Failed to parse -H (header). There must be a colon after the header's name."],
  ["-H :value", "Failed to parse -H (header). There must be a colon after the header's name."],
  ["--client curl", "Failed to parse --client. Unsupported type provided: 'curl'."],
  ["--timeout 0s", "Failed to parse --timeout. The value is not longer than 0."],
  ["--stall-timeout 10", "Failed to parse --stall-timeout. The value is not a duration."],
  ["--max-response-bytes 0", "Failed to parse --max-response-bytes. The value must be from 1 to 2147483647 bytes."],
  ["--max-error-rate 150%", "Failed to parse --max-error-rate. The value is more than 100 %."],
  // Rules between flags.
  ["--concurrency-range 1 --request-rate-range 1", "Cannot use both Concurrency and RequestRate inference load modes."],
  ["-i grpc --streaming --sync", "can not use streaming with synchronous API"],
  ["--input-data zero --input-data test", "The -z flag cannot be set when --data-directory is provided."],
  ["-i grpc --client undici", "Cannot use --client undici with gRPC."],
  ["--client grpc-js", "Cannot use --client grpc-js with HTTP."],
  ["--binary-search --concurrency-range 1:8", "The --latency-threshold cannot be 0 for binary search mode."],
  [
    "--binary-search -l 5 --concurrency-range 1:0",
    "The end of the range can not be 0 (or 0.0) for binary search mode.",
  ],
  [
    "--request-count 5 --concurrency-range 1:4",
    "--request-count not supported with multiple concurrency values in one run",
  ],
  [
    "--warmup-request-count 5 --request-rate-range 1:4",
    "--warmup-request-count not supported with multiple request rate values in one run",
  ],
  ["--request-count 3 --concurrency-range 4", "--request-count can not be less than concurrency"],
  ["--request-count 3 --request-rate-range 4.5", "--request-count can not be less than request rate"],
  ["-f /nonexistent/file", "failed to open file for outputting the report"],
  ["--profile-export-file /nonexistent/file", "failed to open file for outputting raw profile data"],
];

for (const [flags, message] of refused) {
  test(`refused: ${flags}`, async () => {
    const { code, out, err } = await runCommand(["-m", "simple", ...flags.split(" ")]);
    assert.equal(code, 99);
    assert.equal(out, "");
    assert.ok(err.includes(`Error: ${message}`), err);
    assert.match(err, /^Error: .+\n {2}.+\n/, "a hint stands below the error");
    assert.match(err, /\nSee rampart perf_analyzer --help\.\n$/);
  });
}

/** Deprecated flags: what follows their warnings. */
const deprecated: readonly (readonly [flags: string, message: string])[] = [
  ["-t 0", "The start of the search range must be > 0"],
  ["-t abc", "Failed to parse -t. Invalid value provided: abc"],
  ["-c -1", "Failed to parse -c. The value must be >= 0."],
  ["-d -c 0", "The end of the search range and the latency limit"],
  ["--concurrency-range 1:2 -d", "Cannot use both Concurrency and DeprecatedConcurrency inference load modes."],
  ["--concurrency-range 2 -c 3", "Cannot use both Concurrency and DeprecatedConcurrency inference load modes."],
  ["-t 2 --request-rate-range 10", "Cannot use both Concurrency and RequestRate inference load modes."],
  ["--data-directory nowhere", "failed to open file for reading provided data"],
  ["--data-directory test -z", "The -z flag cannot be set when --data-directory is provided."],
];

for (const [flags, message] of deprecated) {
  test(`refused after a warning: ${flags}`, async () => {
    const { code, out, err } = await runCommand(["-m", "simple", ...flags.split(" ")]);
    assert.deepEqual([code, out], [99, ""]);
    assert.match(
      err,
      /^Warning: -\S+ is deprecated and will be removed in an upcoming version\. Use --\S+ instead\.\n/,
    );
    assert.ok(err.includes(`\nError: ${message}`), err);
    assert.match(err, /\nError: .+\n {2}.+\n/, "a hint stands below the error");
  });
}

test("the given value is named, whether perf_analyzer's message contains it or not", async () => {
  for (const [flag, value] of [
    ["-b", "0"],
    ["-p", "-7"],
    ["--percentile", "100"],
    ["--data-directory", "no-such-folder"],
    ["--request-distribution", "normal"],
    ["--concurrency-range", "abc"],
  ] as const) {
    const { err } = await runCommand(["-m", "simple", flag, value]);
    const line = err.split("\n").find((text) => text.startsWith("Error:")) ?? "";
    const times = line.split(new RegExp(`'${value}'|: ${value}$`)).length - 1;
    assert.equal(times, 1, line);
  }
});

test("all problems are reported together", async () => {
  const flags = [
    "--nonsense",
    "-b",
    "0",
    "--sync",
    "--async",
    "--shared-memory",
    "gpu",
    "-f",
    "/nonexistent/x",
    "-i",
    "ftp",
  ];
  const { code, err } = await runCommand(flags);
  assert.equal(code, 99);
  const errors = [...err.matchAll(/^Error: (.*)$/gm)].map((match) => match[1] as string);
  for (const part of [
    "Invalid long option '--nonsense'",
    "-b (batch size)",
    "-m (model name)",
    "--async and --sync",
    "Failed to parse --shared-memory.",
    "failed to open file for outputting the report",
    "-i (protocol)",
  ])
    assert.equal(errors.filter((error) => error.includes(part)).length, 1, `${part}:\n${err}`);
  assert.equal(errors.length, 7);
});

test("a model must be named", async () => {
  for (const args of [[], ["-v"], ["-m", ""]]) {
    const { code, err } = await runCommand(args);
    assert.equal(code, 99);
    assert.match(err, /^Error: Failed to parse -m .*\n {2}Give the model with -m\.\n/);
  }
});

test("an intervals file is rejected together with another load, and for its lines", async () => {
  const folder = makeFolder();
  const file = writeIn(folder, "gaps.txt", "100\nten\n-5\n99999999999999999999999\n");
  for (const load of ["--concurrency-range", "--request-rate-range"]) {
    const { code, err } = await runCommand(["-m", "simple", load, "2", "--request-intervals", file]);
    assert.equal(code, 99);
    assert.match(err, /Cannot use both (Concurrency|RequestRate) and CustomIntervals inference load modes\./);
  }
  const { code, err } = await runCommand(["-m", "simple", "-u", "127.0.0.1:1", "--request-intervals", file]);
  assert.equal(code, 99);
  assert.match(err, /gaps\.txt, line 2: is not a time interval \(got ten\)/);
  assert.match(err, /gaps\.txt, line 3: is not a time interval \(got -5\)/);
  assert.match(err, /gaps\.txt, line 4: is not a time interval \(got 9+\)/, "nothing waits longer than a clock counts");
});
