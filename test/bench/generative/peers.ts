import { execFile } from "node:child_process";
import { cpSync, existsSync, mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { promisify } from "node:util";
import { installOnce } from "../../servers/install-once.ts";
import { tinyTokenizer } from "../../servers/tiny-llama.ts";
import { benchFolder } from "../clients.ts";

const run = promisify(execFile);
const INSTALL_TIMEOUT_MS = 600_000;
const REVISION = "0123456789abcdef0123456789abcdef01234567";

/** By what name the tools know the tokenizer without a network. */
export const OFFLINE_TOKENIZER = "local/tiny";

/** A Python tool in an environment of its own. */
export interface PythonTool {
  readonly program: string;
  readonly version: string;
}

/** Installs a tool from the package index, once. Throws with pip's output. */
export async function installPythonTool(name: string, version: string): Promise<PythonTool> {
  const folder = await installOnce(`${name}-${version}`, "done", async (draft, final) => {
    await run("python3", ["-m", "venv", draft], { timeout: 60_000 });
    const quiet = ["--quiet", "--disable-pip-version-check", "--no-cache-dir", "--prefer-binary"];
    const pip = ["-m", "pip", "install", ...quiet, `${name}==${version}`];
    await run(join(draft, "bin", "python"), pip, { timeout: INSTALL_TIMEOUT_MS, maxBuffer: 1 << 26 });
    // Scripts name the folder that they were installed in.
    await run("sed", ["-i", `1s|${draft}|${final}|`, join(draft, "bin", name)]);
    writeFileSync(join(draft, "done"), "");
  });
  return { program: join(folder, "bin", name), version };
}

/** The environment in which Python tools find the tokenizer, and look for nothing in the network. */
export function offlineEnvironment(): Record<string, string> {
  const home = join(benchFolder, "hub");
  const repository = join(home, "hub", "models--local--tiny");
  const snapshot = join(repository, "snapshots", REVISION);
  if (!existsSync(join(repository, "refs", "main"))) {
    mkdirSync(snapshot, { recursive: true });
    mkdirSync(join(repository, "refs"), { recursive: true });
    cpSync(tinyTokenizer, snapshot, { recursive: true });
    writeFileSync(join(snapshot, "config.json"), '{"model_type":"llama","vocab_size":2000}');
    writeFileSync(join(repository, "refs", "main"), REVISION);
  }
  // aiperf writes into the home folder.
  return { HF_HOME: home, HOME: home, HF_HUB_OFFLINE: "1", TRANSFORMERS_OFFLINE: "1", COLUMNS: "120" };
}
