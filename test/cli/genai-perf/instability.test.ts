import assert from "node:assert/strict";
import { join } from "node:path";
import { describe, test } from "node:test";
import { LIMIT } from "../../time-limit.ts";
import { TINY } from "../../tokenize/tiny.ts";
import { type Answer, answerChat, type Bench, withBench } from "./analyze-server.ts";

/** Measurements by intervals that do not become stable: exit code 1 as in the original, with the reason and the report. */

const STRICT = ["--measurement-interval", "150", "--stability-percentage", "1"];

/** A server that is slow for one of three windows of 180 ms and fast for the others: however they lie, no three windows agree. */
const answerUnevenly: Answer = (response, request) => {
  setTimeout(() => answerChat(response, request), Date.now() % 540 < 180 ? 30 : 1);
};

function command(name: string, { url, folder }: Bench, ...more: readonly string[]): string[] {
  return [
    ...`${name} -m tiny --endpoint-type chat --streaming --num-dataset-entries 4 --isl 12`.split(" "),
    ...["--tokenizer", TINY, "--url", url, "--artifact-dir", join(folder, "artifacts"), ...more],
  ];
}

describe("a measurement that is not stable", () => {
  test("fails a profile, which explains why and keeps its report", LIMIT, async () => {
    await withBench(answerUnevenly, async (bench) => {
      const { code, out, err } = await bench.run(command("profile", bench, "--concurrency", "2", ...STRICT));
      assert.equal(code, 1, err);
      assert.match(
        err,
        /^rampart: the measurement is not stable: over windows 8 to 10 throughput moved by .*(Raise|Lower) .*\.$/m,
      );
      assert.match(out, /Request Throughput/);
      const name = "tiny-openai-chat-concurrency2";
      const files = await bench.list("artifacts", name);
      assert.ok(files.includes("profile_export_genai_perf.json") && files.includes("profile_export_genai_perf.csv"));
      const { levels, notes } = JSON.parse(
        await bench.read("artifacts", name, "profile_export_genai_perf_rampart.json"),
      );
      assert.equal(levels[0].outcome, "unstable");
      assert.ok(notes.some(({ code }: { code: string }) => code === "not-stable"));
      // The report has the requests of all windows, as the original's files have.
      const { request_latency } = JSON.parse(await bench.read("artifacts", name, "profile_export_genai_perf.json"));
      assert.ok(Math.abs(levels[0].metrics.latencyUs.p90 / (1000 * request_latency.p90) - 1) < 1e-3);
    });
  });

  test("passes with the tolerance that the original has by default", LIMIT, async () => {
    await withBench(answerChat, async (bench) => {
      const { code, err } = await bench.run(command("profile", bench, "--measurement-interval", "150"));
      assert.equal(code, 0, err);
      assert.doesNotMatch(err, /not stable/);
    });
  });

  test("fails a sweep, is kept by no checkpoint, and breaks the limits of a search", LIMIT, async () => {
    await withBench(answerUnevenly, async (bench) => {
      const sweep = ["--sweep-type", "concurrency", "--checkpoint-dir", join(bench.folder, "kept"), ...STRICT];
      const plain = await bench.run(
        command("analyze", bench, ...sweep, "--sweep-list", "1,2", "--enable-checkpointing"),
      );
      assert.equal(plain.code, 1, plain.err);
      assert.equal(plain.err.match(/the measurement is not stable: over windows/g)?.length, 2);
      assert.match(plain.out, /Rampart \| Sweep/);
      await assert.rejects(bench.list("kept"));
      const limits = ["--sweep-range", "1:2", "--search-limits", "request_latency:60000"];
      const search = await bench.run(command("analyze", bench, ...sweep, ...limits));
      assert.equal(search.code, 1, search.err);
      assert.match(search.err, /^rampart: concurrency 1 .*the measurement is not stable$/m);
    });
  });
});
