import assert from "node:assert/strict";
import { after, describe, test } from "node:test";
import { makeFolder } from "../../make-folder.ts";
import { startStub } from "../../servers/stub.ts";
import { LIMIT } from "../../time-limit.ts";
import { readProfile, runCommand } from "./run-command.ts";

/** Three requests to a model that takes microseconds, at a server in another process: what the client adds around them. */

/** Most runs that other work on a busy machine may disturb. */
const MOST_RUNS = 30;
const WARNING = "Perf Analyzer is not able to keep up with the desired load";
/** Half the time that a connection is watched before its second request, when nothing is known about the server. */
const MOST_GAP_NS = 1.5e6;

const stub = await startStub();
after(() => stub.stop());

const WAYS = {
  HTTP: ["-u", `127.0.0.1:${stub.httpPort}`],
  gRPC: ["-i", "grpc", "-u", `127.0.0.1:${stub.grpcPort}`],
  "a stream": ["-i", "grpc", "--streaming", "-u", `127.0.0.1:${stub.grpcPort}`],
} as const;

describe("three requests are sent without a wait between them, and the server gets no others", () => {
  for (const [way, flags] of Object.entries(WAYS))
    test(way, LIMIT, async () => {
      const folder = makeFolder();
      const runs: { readonly gapNs: number; readonly warns: boolean }[] = [];
      // Other work on the machine makes a run slower, never faster.
      const quietest = (): number => Math.min(...runs.map(({ gapNs }) => gapNs));
      const isKnown = (): boolean => quietest() < MOST_GAP_NS && !runs.every(({ warns }) => warns);
      for (let run = 0; run < MOST_RUNS && !isKnown(); run++) {
        await stub.reset();
        const path = `${folder}/${run}.json`;
        const args = ["-m", "simple", ...flags, "--request-count", "3", "--profile-export-file", path];
        const { code, out, err } = await runCommand(args);
        assert.equal(code, 0, err);
        const { http, grpc, stream } = await stub.counter();
        assert.equal(http + grpc + stream, 3);
        const [first, second] = readProfile(path).experiments[0]?.requests ?? [];
        assert.ok(first !== undefined && second !== undefined);
        const gapNs = second.timestamp - (first.response_timestamps[0] as number);
        runs.push({ gapNs, warns: (out + err).includes(WARNING) });
      }
      assert.ok(quietest() < MOST_GAP_NS, `${quietest()} ns`);
      assert.ok(!runs.every(({ warns }) => warns), "every run warns of the client");
    });
});
