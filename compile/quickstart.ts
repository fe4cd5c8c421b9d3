import { spawnSync } from "node:child_process";
import { join } from "node:path";

/** `npm run quickstart`: runs the quickstart scenario on the embedded target, from source. */

const root = join(import.meta.dirname, "..");
const command = ["src/main.ts", "run", "scenarios/quickstart.ts", ...process.argv.slice(2)];
const result = spawnSync(join(root, "node_modules", ".bin", "bun"), command, { cwd: root, stdio: "inherit" });
process.exit(result.status ?? 1);
