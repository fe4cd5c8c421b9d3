import assert from "node:assert/strict";
import { test } from "node:test";
import { artifactFiles } from "../../../src/report/genai-perf/outputs.ts";

test("the export's name renames all files", () => {
  assert.deepEqual(artifactFiles("a", "profile_export.json"), {
    profileExport: "a/profile_export.json",
    genaiPerfJson: "a/profile_export_genai_perf.json",
    genaiPerfCsv: "a/profile_export_genai_perf.csv",
    json: "a/profile_export_genai_perf_rampart.json",
    serverMetricsJson: "a/server_metrics_export_genai_perf_rampart.json",
    serverMetricsCsv: "a/server_metrics_export.csv",
    plots: "a/plots",
  });
  assert.equal(artifactFiles("a", "my.run.json").genaiPerfCsv, "a/my.run_genai_perf.csv");
  assert.equal(artifactFiles("a", "b/x").genaiPerfJson, "a/x_genai_perf.json");
  assert.equal(artifactFiles("a", "b/x").profileExport, "a/b/x");
});
