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

/** Tests an executable in an empty folder, also as a link named perf_analyzer. @throws when a part fails */
export async function smokeTest(executable: string): Promise<void> {
  await smokeTestCommand([executable]);
  await inEmptyFolder(async (folder) => {
    const link = join(folder, "perf_analyzer");
    symlinkSync(executable, link);
    const { stderr } = await $({ cwd: folder, quiet: true })`${link} --version`;
    if (!stderr.startsWith("Perf Analyzer Version")) throw new Error(`linked as perf_analyzer: ${stderr}`);
  });
}

/** Tests a command that starts Rampart, in an empty folder: its version, a guide and a scenario. @throws when a part fails */
export async function smokeTestCommand(command: readonly string[]): Promise<void> {
  await inEmptyFolder(async (folder) => {
    const run = $({ cwd: folder, quiet: true });
    await run`${command} version`;
    const guide = await run`${command} help scenarios`;
    if (!guide.stdout.includes("defineScenario")) throw new Error(`unexpected guide:\n${guide.stdout}`);
    writeFileSync(join(folder, "smoke.ts"), SCENARIO);
    const report = await run`${command} run smoke.ts`;
    if (!report.stdout.includes("0 of 100")) throw new Error(`unexpected report:\n${report.stdout}`);
  });
}

async function inEmptyFolder(test: (folder: string) => Promise<void>): Promise<void> {
  const folder = mkdtempSync(join(tmpdir(), "rampart-smoke-"));
  try {
    await test(folder);
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}
