import { mkdtempSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { $ } from "zx";

const SCENARIO = `import { defineScenario, embedded, errorRate, hold } from "rampart";
enum Level { Two = 2 }
export default defineScenario({
  name: "smoke",
  target: embedded(),
  load: hold(Level.Two, { requests: 100 }),
  assert: [errorRate().is(0)],
});
`;

/** Tests an executable in an empty folder: its version, a guide, a scenario, and a link named perf_analyzer. @throws when one fails */
export async function smokeTest(executable: string): Promise<void> {
  const folder = mkdtempSync(join(tmpdir(), "rampart-smoke-"));
  const run = $({ cwd: folder, quiet: true });
  try {
    await run`${executable} version`;
    const guide = await run`${executable} help scenarios`;
    if (!guide.stdout.includes("defineScenario")) throw new Error(`unexpected guide:\n${guide.stdout}`);
    writeFileSync(join(folder, "smoke.ts"), SCENARIO);
    const report = await run`${executable} run smoke.ts`;
    if (!report.stdout.includes("100 completed, 0 failed")) throw new Error(`unexpected report:\n${report.stdout}`);
    symlinkSync(executable, join(folder, "perf_analyzer"));
    const linked = await run`${join(folder, "perf_analyzer")} --version`;
    if (!linked.stderr.startsWith("Perf Analyzer Version"))
      throw new Error(`linked as perf_analyzer: ${linked.stderr}`);
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}
