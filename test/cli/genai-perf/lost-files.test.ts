import assert from "node:assert/strict";
import { mkdirSync, readdirSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { answerChat, runChat } from "./chat-server.ts";

/** One report that cannot be written costs the user neither the table nor the others. */

const LIMIT = { timeout: 180_000 };
const LOST = "profile_export_genai_perf.json";

test(
  "a report that cannot be written in the end is named, after the table and beside the other files",
  LIMIT,
  async () => {
    let artifacts = "";
    const more = (folder: string): string[] => {
      artifacts = join(folder, "artifacts");
      return ["--request-count", "3"];
    };
    const { code, out, err, files } = await runChat(more, {
      answer: (response, index) => {
        // A folder lies where the file is to go.
        if (index === 0) for (const name of readdirSync(artifacts)) mkdirSync(join(artifacts, name, LOST));
        answerChat(response);
      },
    });
    assert.equal(code, 1, err);
    assert.match(out, /Request latency/i);
    assert.match(err, /^Error: .*profile_export_genai_perf\.json cannot be written/m);
    const written = [...files.keys()].join("\n");
    assert.match(written, /profile_export_genai_perf\.csv/);
    assert.match(written, /profile_export_genai_perf_rampart\.json/);
  },
);
