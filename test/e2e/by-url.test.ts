import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { after, before, describe, test } from "node:test";
import { createFolder, inFolder, runRampart } from "../cli/rampart-process.ts";
import { openTriton, readServerCounts, type TritonAddresses, waitForCounts } from "./servers.ts";

/** `rampart triton` on the real server: what it finds out, and that the server counts what it says it sent. */

let triton: TritonAddresses;
before(async () => {
  triton = await openTriton();
});
after(async () => {
  await triton?.stop();
});

describe("rampart triton on Triton", () => {
  test("measures a model over the protocol of the port, and the counts are the server's", async () => {
    for (const [address, protocol] of [
      [triton.http, "HTTP"],
      [triton.grpc, "gRPC"],
    ] as const)
      await inFolder({}, async (cwd) => {
        const from = await readServerCounts(triton.http, "simple");
        const args = ["triton", address, "--model", "simple", "--users", "1,4", "--requests", "50"];
        const { code, out, err } = await runRampart([...args, "--json", "r.json", "--gpus", "1"], { cwd });
        assert.equal(code, 0, out + err);
        assert.match(err, new RegExp(`^\\S+ is Triton \\S+ \\(KServe v2\\) over ${protocol}; model simple\\.$`, "m"));
        const { requests, levels } = JSON.parse(readFileSync(join(cwd, "r.json"), "utf8")) as {
          requests: { sent: number };
          levels: { completed: number }[];
        };
        assert.deepEqual(
          levels.map((level) => level.completed),
          [50, 50],
        );
        const sent = from.success + requests.sent;
        const { success } = await waitForCounts(triton.http, "simple", (counts) => counts.success >= sent);
        assert.equal(success, sent);
        assert.match(out, /^Capacity of 1 GPU$/m);
      });
  });

  test("sends inputs of variable shape, and lists the models where several are ready", async () => {
    using folder = createFolder({});
    const args = ["triton", triton.http, "--users", "1", "--requests", "5"];
    const shaped = await runRampart([...args, "--model", "identity_fp32", "--shapes", "INPUT0:7", "--dry-run"], {
      cwd: folder.path,
    });
    assert.equal(shaped.code, 0, shaped.err);
    assert.deepEqual((JSON.parse(shaped.out) as { target: { shapes: object } }).target.shapes, { INPUT0: [7] });
    const usual = await runRampart([...args, "--model", "identity_fp32"], { cwd: folder.path });
    assert.equal(usual.code, 0, usual.out + usual.err);
    const several = await runRampart(args, { cwd: folder.path });
    assert.equal(several.code, 64, several.out);
    assert.match(several.err, /--model: is needed: the server has \d+ models\. Give one of .*identity_fp32/);
  });
});
