import { cpSync, mkdirSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { modelsFolder } from "../servers/triton.ts";
import { installTriton, readInstallation } from "../servers/triton-install.ts";

/** Runs of Triton's library in a process of the run's own, and the processes that they start. */

/** Installs Triton. Returns its folder, and the environment that it needs. */
export async function openInstallation(): Promise<{
  readonly directory: string;
  readonly env: Readonly<Record<string, string>>;
}> {
  const { backends, env } = readInstallation(await installTriton());
  return { directory: join(backends, ".."), env };
}

/** Returns the arguments of a run with one of the tests' models. */
export function inProcessCommand(directory: string, model: string, ...flags: readonly string[]): string[] {
  const places = ["--triton-server-directory", directory, "--model-repository", modelsFolder];
  return ["perf_analyzer", "-m", model, "--service-kind", "triton_c_api", ...places, ...flags];
}

/** The processes of the Python models in a folder, which are children of the process with the library. */
export function modelProcesses(models: string): number[] {
  return readdirSync("/proc")
    .filter((name) => /^\d+$/.test(name))
    .filter((pid) => {
      try {
        const command = readFileSync(`/proc/${pid}/cmdline`, "utf8");
        return command.includes("triton_python_backend_stub") && command.includes(models);
      } catch {
        return false; // It has ended meanwhile.
      }
    })
    .map(Number);
}

/** Longest time in which the processes of models end. */
const END_MS = 60_000;

/**
 * Resolves when no process of the models is left: the kernel ends them after the end of the process that started them. Rejects when one stays,
 * and kills it.
 */
export async function waitForModelProcesses(models: string): Promise<void> {
  const deadlineMs = Date.now() + END_MS;
  for (let left = modelProcesses(models); left.length > 0; left = modelProcesses(models)) {
    if (Date.now() > deadlineMs) {
      for (const pid of left) process.kill(pid, "SIGKILL");
      throw new Error(`processes of models were left: ${left.join(", ")}`);
    }
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
}

/** Copies one model into a new folder in `folder`, so that its processes differ from those of other tests. */
export function copyModel(folder: string, model: string): string {
  const models = join(folder, `models-of-${model}-${Math.random().toString(36).slice(2)}`);
  mkdirSync(models);
  cpSync(join(modelsFolder, model), join(models, model), { recursive: true });
  return models;
}
