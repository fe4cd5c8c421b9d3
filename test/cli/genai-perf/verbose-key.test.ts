import assert from "node:assert/strict";
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { test } from "node:test";
import { answerChat, TOKENIZER, withBench } from "./analyze-server.ts";

/** The YAML key `perf_analyzer.verbose`, which has no option of the command line beside it. */

for (const isVerbose of [false, true])
  test(`perf_analyzer.verbose: ${isVerbose} ${isVerbose ? "adds" : "leaves out"} perf_analyzer's report`, async () => {
    await withBench(answerChat, async (bench) => {
      const config = join(bench.folder, "config.yaml");
      const text = `model_name: tiny
endpoint: { type: chat, streaming: true, url: "${bench.url}" }
perf_analyzer: { verbose: ${isVerbose}, measurement: { mode: request_count, num: 6 } }
input: { num_dataset_entries: 4 }
tokenizer: { name: "${TOKENIZER}" }
output: { artifact_directory: "${join(bench.folder, "artifacts")}" }
`;
      await writeFile(config, text);
      const { code, out, err } = await bench.run(["config", "-f", config]);
      assert.equal(code, 0, err + out);
      assert.match(out, /Request Throughput/);
      assert.equal(/^\*\*\* Measurement Settings \*\*\*$/m.test(out), isVerbose, out);
    });
  });
