import assert from "node:assert/strict";
import { test } from "node:test";
import { artifactFiles } from "../../../src/report/genai-perf/artifacts.ts";

test("the export's name renames all files", () => {
  assert.deepEqual(artifactFiles("profile_export.json"), {
    profileExport: "profile_export.json",
    json: "profile_export_genai_perf.json",
    csv: "profile_export_genai_perf.csv",
    rampart: "profile_export_genai_perf_rampart.json",
  });
  assert.equal(artifactFiles("my.run.json").csv, "my.run_genai_perf.csv");
  assert.equal(artifactFiles("x").json, "x_genai_perf.json");
  assert.equal(artifactFiles("x").rampart, "x_genai_perf_rampart.json");
});
