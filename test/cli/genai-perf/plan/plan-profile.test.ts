import assert from "node:assert/strict";
import { join } from "node:path";
import { test } from "node:test";
import { planRun } from "../../../../src/cli/genai-perf/plan/plan-profile.ts";
import { UserError, wordProblem } from "../../../../src/plan/problem.ts";
import { makeFolder, writeIn } from "../../../make-folder.ts";
import { readGood } from "../read.ts";

/** No output of a profile replaces a file that it reads, or another output. */

const folder = makeFolder();
const FILE = writeIn(folder, "file", "1\n");

const TEMPLATE = ["--endpoint-type", "template", "--endpoint", "x", "--extra-inputs", `payload_template:${FILE}`];
const CHAT = ["--endpoint-type", "chat"];
const [READ, TWIN] = [/ the run reads/, / also the file /];

for (const [args, path, message] of [
  [[...CHAT, "--html", FILE, "--input-file", FILE], "--html", READ],
  [[...CHAT, "--html", FILE, "--input-file", `payload:${FILE}`], "--html", READ],
  [[...CHAT, "--junit", FILE, "--input-file", `conversations:${FILE}`], "--junit", READ],
  [[...TEMPLATE, "--markdown", FILE], "--markdown", READ],
  [[...CHAT, "--records", FILE, "--", "--request-intervals", FILE], "--records", READ],
  [[...CHAT, "--", "--request-intervals", FILE, "-f", FILE], "-f after --", READ],
  [[...CHAT, "--", "--ssl-https-ca-certificates-file", FILE, "-f", FILE], "-f after --", READ],
  [[...CHAT, "--html", join(folder, "new"), "--", "-f", join(folder, "new")], "-f after --", TWIN],
  [[...CHAT, "--profile-export-file", "inputs.json"], "--profile-export-file", TWIN],
] as const)
  test(args.map((arg) => arg.replace(folder, "FOLDER")).join(" "), () => {
    const { asked } = readGood("profile", "-m", "tiny", "--artifact-dir", folder, ...args);
    assert.throws(
      () => planRun(asked),
      (error) => {
        assert.ok(error instanceof UserError);
        const found = error.problems.map((problem) => wordProblem(problem));
        assert.equal(found[0]?.path, path);
        assert.match(found[0]?.message ?? "", message);
        return true;
      },
    );
  });

test("files of their own are no problem", () => {
  const args = ["--html", join(folder, "page.html"), "--input-file", FILE, "--", "-f", join(folder, "table.csv")];
  const { asked } = readGood("profile", "-m", "tiny", "--artifact-dir", folder, ...CHAT, ...args);
  assert.equal(planRun(asked).outputs.files.html, join(folder, "page.html"));
});
