import assert from "node:assert/strict";
import { test } from "node:test";
import { startGrpcRecorder } from "../../run/grpc-recorder.ts";
import { runCommand } from "./run-command.ts";

/** What the flag of compression does to the bytes that reach a server. Its name says which. */

test("--grpc-compression-algorithm compresses only inference requests, and is reported", async () => {
  for (const algorithm of ["gzip", "deflate", "none"]) {
    for (const more of [[], ["--async"], ["--streaming"], ["--client", "grpc-js"]]) {
      const recorder = await startGrpcRecorder();
      try {
        // Zeroes compress well; random bytes would go as they are.
        const args = ["-m", "simple", "-i", "grpc", "-u", recorder.url, "--request-count", "3", "--input-data", "zero"];
        const { code, err } = await runCommand([...args, "--grpc-compression-algorithm", algorithm, ...more]);
        assert.equal(code, 0, err);
        assert.equal(recorder.infers().length, 3);
        for (const { path, headers, flags } of recorder.calls) {
          const isInference = path.endsWith("Infer");
          const isCompressed = isInference && algorithm !== "none";
          if (isCompressed || !more.includes("grpc-js"))
            assert.equal(headers["grpc-encoding"], isCompressed ? algorithm : undefined);
          assert.ok(flags.length > 0 && flags.every((flag) => flag === (isCompressed ? 1 : 0)), `${path} ${flags}`);
          assert.match(String(headers["grpc-accept-encoding"]), /^identity, ?deflate, ?gzip$|^identity,gzip,deflate$/);
        }
        const raw = recorder.infers().map((infer) => infer["raw_input_contents"] as Uint8Array[]);
        for (const tensors of raw)
          assert.deepEqual(
            tensors.map(({ length }) => length),
            [64, 64],
          );
      } finally {
        await recorder.stop();
      }
    }
  }
});
