import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { test } from "node:test";
import { fileURLToPath } from "node:url";
import { makeFolder, writeIn } from "../../make-folder.ts";
import { installConformance } from "../../servers/conformance.ts";
import { LIMIT } from "../../time-limit.ts";

/**
 * Connect's whole gRPC conformance suite against both gRPC clients, in this runtime: all types of calls, with and without TLS, client
 * certificates and gzip.
 */

const CLIENT = fileURLToPath(new URL("./client.ts", import.meta.url));
const BASICS = `features:
  versions: [HTTP_VERSION_2]
  protocols: [PROTOCOL_GRPC]
  codecs: [CODEC_PROTO]
`;
const EVERYTHING = `${BASICS}
  supportsTls: true
  supportsTlsClientCerts: true
  supportsMessageReceiveLimit: true
`;
const UNARY = `${BASICS}
  streamTypes: [STREAM_TYPE_UNARY]
  supportsTls: false
`;

interface ClientUnderTest {
  /** Argument of client.ts. */
  readonly name: "own" | "own-calls" | "grpc-js";
  readonly features: string;
  /** Number of cases that these features select. */
  readonly cases: number;
  /** Cases that must fail, below the reason why they do. */
  readonly failing: readonly string[];
  /** Cases that fail sometimes, below the reason why they do. */
  readonly flaky: readonly string[];
}

const CLIENTS: readonly ClientUnderTest[] = [
  { name: "own", features: EVERYTHING, cases: 646, failing: [], flaky: [] },
  // The client of the other types makes unary calls too.
  { name: "own-calls", features: UNARY, cases: 151, failing: [], flaky: [] },
  {
    name: "grpc-js",
    features: EVERYTHING,
    cases: 646,
    failing: [
      // grpc-js never calls back when a unary call has two responses: the stall timeout ends it.
      "**/unary/multiple-responses",
      // grpc-js does not notice that a stream ends within a message.
      "**/server-stream/incomplete-message",
      "**/server-stream/incomplete-message-prefix",
      // grpc-js does not look at a response's content type.
      "**/unexpected-codec",
      // grpc-js reports the code UNKNOWN where INTERNAL is asked for.
      "**/unexpected-compressed-message",
      "**/unexpected-compression",
    ],
    flaky: [
      // grpc-js drops messages that it has not delivered yet when the trailers have a status other than OK.
      "**/error-with-responses",
    ],
  },
];

/** How this runtime runs a source file. */
function thisRuntime(): string[] {
  return "Deno" in globalThis ? [process.execPath, "run", "-A", "--no-check"] : [process.execPath];
}

for (const { name, features, cases, failing, flaky } of CLIENTS) {
  test(
    `the ${name} client passes the conformance suite, but for ${failing.length} known failures and ${flaky.length} flaky cases`,
    LIMIT,
    async () => {
      const runner = process.env["RAMPART_TEST_CONFORMANCE"] ?? (await installConformance());
      const folder = makeFolder();
      const configuration = writeIn(folder, "features.yaml", features);
      const known = [
        ...failing.flatMap((pattern) => ["--known-failing", pattern]),
        ...flaky.flatMap((pattern) => ["--known-flaky", pattern]),
      ];
      const mode = ["--mode", "client", "--bind", "127.0.0.1", "--conf", configuration, ...known];
      const { code, output } = await run(runner, [...mode, "--", ...thisRuntime(), CLIENT, name]);
      const failed = output.match(/^FAILED: .*(?:\n\t.*)*/gm)?.join("\n") ?? "";
      assert.equal(code, 0, `${failed}\n${output.slice(-2000)}`);
      assert.match(output, new RegExp(`^Total cases: ${cases}$`, "m"));
    },
  );
}

/** Runs a program to its end, whatever its exit status is. */
function run(program: string, args: readonly string[]): Promise<{ code: number; output: string }> {
  return new Promise((resolve) => {
    const options = { timeout: 360_000, maxBuffer: 64 * 1024 * 1024 };
    execFile(program, args, options, (error, stdout, stderr) => {
      resolve({ code: error === null ? 0 : Number(error.code ?? 1), output: stdout + stderr });
    });
  });
}
