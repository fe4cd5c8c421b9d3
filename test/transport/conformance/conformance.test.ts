import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import { fileURLToPath } from "node:url";
import { installConformance } from "../../servers/conformance.ts";

/**
 * Connect's gRPC conformance suite against both gRPC clients, in this runtime: unary calls, with and without TLS, client certificates and gzip. The
 * other call types follow when the clients have them: the stream of Triton's kind stays open for a whole run, and the suite's streams end.
 */

const LIMIT = { timeout: 420_000 };
const CLIENT = fileURLToPath(new URL("./client.ts", import.meta.url));
const FEATURES = `features:
  versions: [HTTP_VERSION_2]
  protocols: [PROTOCOL_GRPC]
  codecs: [CODEC_PROTO]
  streamTypes: [STREAM_TYPE_UNARY]
  supportsTls: true
  supportsTlsClientCerts: true
  supportsMessageReceiveLimit: true
`;
const MIN_CASES = 250;

/** Cases that must fail, by the reason why they do. */
const KNOWN_FAILURES: Readonly<Record<"own" | "grpc-js", readonly string[]>> = {
  own: [],
  "grpc-js": [
    // grpc-js never calls back when a unary call has two answers: the stall timeout ends it.
    "**/unary/multiple-responses",
    // grpc-js does not look at an answer's content type.
    "**/unexpected-codec",
    // grpc-js reports the code UNKNOWN where INTERNAL is asked for.
    "**/unexpected-compressed-message",
    "**/unexpected-compression",
  ],
};

/** How this runtime runs a source file. */
function thisRuntime(): string[] {
  return "Deno" in globalThis ? [process.execPath, "run", "-A", "--no-check"] : [process.execPath];
}

for (const client of ["own", "grpc-js"] as const) {
  test(
    `the ${client} client passes the conformance suite, but for ${KNOWN_FAILURES[client].length} known cases`,
    LIMIT,
    async () => {
      const runner = process.env["RAMPART_TEST_CONFORMANCE"] ?? (await installConformance());
      const folder = await mkdtemp(join(tmpdir(), "rampart-conformance-"));
      try {
        const configuration = join(folder, "features.yaml");
        await writeFile(configuration, FEATURES);
        const known = KNOWN_FAILURES[client].flatMap((pattern) => ["--known-failing", pattern]);
        const mode = ["--mode", "client", "--bind", "127.0.0.1", "--conf", configuration, ...known];
        const { code, output } = await run(runner, [...mode, "--", ...thisRuntime(), CLIENT, client]);
        assert.equal(code, 0, output.slice(-4000));
        const [, passed] = /(\d+) passed, 0 failed/.exec(output) ?? [];
        assert.ok(Number(passed) + 2 * known.length >= MIN_CASES, output.slice(-400));
      } finally {
        await rm(folder, { recursive: true });
      }
    },
  );
}

/** Runs a program to its end, whatever its exit status is. */
function run(program: string, args: readonly string[]): Promise<{ code: number; output: string }> {
  return new Promise((resolve) => {
    const options = { timeout: 180_000, maxBuffer: 64 * 1024 * 1024 };
    execFile(program, args, options, (error, stdout, stderr) => {
      resolve({ code: error === null ? 0 : Number(error.code ?? 1), output: stdout + stderr });
    });
  });
}
