import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { chmodSync, existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { parse } from "yaml";
import { ROOT, rampartCommand } from "../cli/rampart-process.ts";
import { makeFolder, writeIn } from "../make-folder.ts";
import { LIMIT } from "../time-limit.ts";

/** The workflow for CI in the guide: its commands are run one after the other, as a runner does, without GitHub. */

const GUIDE = readFileSync(join(ROOT, "scenarios/guide/ci-gate.md"), "utf8");

const blockOf = (name: string): string => {
  const [, text] = new RegExp(`^\`\`\`\\w+ ${name.replace(".", "\\.")}\n([\\s\\S]*?)^\`\`\``, "m").exec(GUIDE) ?? [];
  assert.ok(text, name);
  return text;
};

interface Step {
  readonly name?: string;
  readonly run?: string;
}

/** Stands for GitHub's command: the last successful run is number 7, and its artifact is in the folder `artifact`. */
const GH = `#!/bin/sh
echo "$@" >> "$HERE/gh.log"
case "$1 $2" in
"run list") [ -d "$HERE/artifact" ] && echo 7 || true ;;
"run download") mkdir -p baseline && cp "$HERE"/artifact/* baseline/ ;;
esac
`;

test("the workflow of the guide installs, measures, compares and comments", LIMIT, () => {
  const here = makeFolder();
  const quoted = rampartCommand().map((word) => `'${word}'`);
  const program = writeIn(here, "executable", `#!/bin/sh\nexec ${quoted.join(" ")} "$@"\n`);
  mkdirSync(join(here, "tools"));
  writeFileSync(join(here, "tools/gh"), GH);
  chmodSync(join(here, "tools/gh"), 0o755);
  const scenario = blockOf("gate.ts")
    .replace('triton("localhost:8000", { model: "simple" })', 'embedded({ latency: "5 ms" })')
    .replace("p99, triton", "p99, embedded");
  assert.match(scenario, /target: embedded\(/);
  writeFileSync(join(here, "gate.ts"), scenario);
  const { jobs } = parse(blockOf("gate.yml")) as {
    readonly jobs: { readonly gate: { readonly steps: readonly Step[] } };
  };
  const steps = jobs.gate.steps.filter((step): step is Required<Step> => step.run !== undefined);
  assert.deepEqual(
    steps.map(({ name }) => name),
    ["install", "baseline", "run", "compare", "comment"],
  );
  const [pathFile, summary] = [join(here, "path"), join(here, "summary.md")];
  writeFileSync(pathFile, "");
  const runStep = ({ name, run }: Required<Step>, codes = [0, 65, 66]): number | null => {
    // A runner adds the lines of GITHUB_PATH to the path of the next steps.
    const path = [join(here, "tools"), ...readFileSync(pathFile, "utf8").trim().split("\n"), process.env["PATH"]].join(
      ":",
    );
    const env = {
      ...process.env,
      ...{
        PATH: path,
        HERE: here,
        RAMPART_URL: `file://${program}`,
        GITHUB_PATH: pathFile,
        GITHUB_STEP_SUMMARY: summary,
      },
    };
    const script = run.replaceAll(/\$\{\{ github\.event\.number \}\}/g, "12");
    const { status, stdout, stderr } = spawnSync("bash", ["-eo", "pipefail", "-c", script], { cwd: here, env });
    if (name !== "compare" && name !== "run") assert.equal(status, 0, `${name}: ${stdout}${stderr}`);
    // What a loaded machine measures is not judged here.
    else assert.ok(codes.includes(status ?? -1), `${name}: ${stdout}${stderr}`);
    return status;
  };
  for (const step of steps) runStep(step);
  // A pull request of a fork can have a branch of the same name, but pushes nothing here.
  assert.match(readFileSync(join(here, "gh.log"), "utf8"), /^run list .*--branch main --event push --status success /m);
  assert.match(readFileSync(summary, "utf8"), /gate/);
  assert.match(readFileSync(join(here, "comment.md"), "utf8"), /There is no baseline yet/);
  mkdirSync(join(here, "artifact"));
  writeFileSync(join(here, "artifact/new.json"), readFileSync(join(here, "new.json")));
  for (const step of steps) runStep(step);
  assert.match(readFileSync(join(here, "comment.md"), "utf8"), /errorRate (?:not )?\\> \d/);
  writeFileSync(join(here, "gate.ts"), scenario.replace("5 ms", "200 ms"));
  const slower = steps.map((step) => [step.name, runStep(step)]);
  assert.deepEqual(
    slower.filter(([name]) => name === "compare"),
    [["compare", 65]],
  );
  assert.match(readFileSync(join(here, "comment.md"), "utf8"), /p50 \\> \+10% .*FAIL/);
  // A run that ended before its report: the comment says so.
  rmSync(join(here, "new.json"));
  for (const step of steps.slice(-2)) runStep(step, [1]);
  assert.match(readFileSync(join(here, "comment.md"), "utf8"), /^The run ended without a report\.$/m);
  for (const file of ["junit.xml", "compare.xml"]) assert.ok(existsSync(join(here, file)), file);
  assert.match(
    readFileSync(join(here, "gh.log"), "utf8"),
    /^pr comment 12 --edit-last --create-if-none --body-file comment\.md$/m,
  );
});
