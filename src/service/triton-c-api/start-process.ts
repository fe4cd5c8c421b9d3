import { existsSync, readdirSync, rmdirSync } from "node:fs";
import { delimiter, join } from "node:path";
import { messageOf, RunError } from "../../plan/problem.ts";
import { readMonotonicOffsetNs } from "../../runtime/monotonic-offset.ts";
import type { ThisProgram } from "../../runtime/this-program.ts";
import { InProcessClient } from "../../transport/in-process/client.ts";
import { ServerProcess } from "../../transport/in-process/server-process.ts";
import type { StartedServer } from "../service.ts";
import { libraryFolders } from "./find-library.ts";
import type { ServerSettings } from "./server/start-server.ts";
import { newMemoryPrefix, removeAbandonedMemory, removeSharedMemory } from "./shared-memory-files.ts";
import type { TritonInProcessTargetPlan } from "./target.ts";

/** Starts the process that loads Triton's library. When the process ends, the shared memory of its Python models is removed. */
export function startTritonProcess(
  target: TritonInProcessTargetPlan,
  library: string,
  program: ThisProgram,
): StartedServer {
  const { directory, modelRepository, model, composingModels, isStreaming } = target;
  const memoryPrefix = newMemoryPrefix();
  removeAbandonedMemory();
  const models = [...new Set([model, ...composingModels.map(({ name }) => name)])];
  const settings: ServerSettings = { library, directory, modelRepository, models, runPid: process.pid, memoryPrefix };
  const pythonFolders = new PythonFolders();
  const searched = [process.env["LD_LIBRARY_PATH"] ?? "", ...libraryFolders(directory, library)];
  const server = new ServerProcess(program, settings, {
    LD_LIBRARY_PATH: searched.filter((path) => path !== "").join(delimiter),
  });
  let offsetNs = 0;
  const measuringOffset = readMonotonicOffsetNs().then((measured) => {
    offsetNs = measured;
  });
  measuringOffset.catch(() => {});
  const becomeReady = async (): Promise<readonly string[]> => {
    try {
      const warning = await server.ready.finally(() => pythonFolders.note());
      await measuringOffset;
      return warning === "" ? [] : [warning];
    } catch (error) {
      const hint = `The library is ${library}, its backends are in ${join(directory, "backends")}.`;
      throw new RunError("unreachable", `Triton did not start in process: ${messageOf(error)}`, hint);
    }
  };
  const ready = becomeReady();
  ready.catch(() => {});
  return {
    ready,
    createClient: (options) => new InProcessClient(server, () => offsetNs, isStreaming, options),
    close: async () => {
      await server.close();
      removeSharedMemory(memoryPrefix);
      pythonFolders.remove();
    },
  };
}

/**
 * Folder in which Triton's Python backend creates a folder at its start, whatever `TMPDIR` is. Only an orderly end
 * removes that folder.
 */
const FOLDER = "/tmp";
const NAME = /^python_env_/;

/** Folders of Triton's Python backend that appear while a process of the run loads its models. */
export class PythonFolders {
  private readonly folder: string;
  private readonly before: ReadonlySet<string>;
  private made: readonly string[] = [];

  /** Records the existing folders. @param folder default: the backend's */
  constructor(folder = FOLDER) {
    this.folder = folder;
    this.before = new Set(namesIn(folder));
  }

  /** Records the new folders. Call when the models are loaded. */
  note(): void {
    this.made = namesIn(this.folder).filter((name) => !this.before.has(name));
  }

  /** Removes the recorded folders if they are empty: one with contents may belong to another process. */
  remove(): void {
    for (const name of this.made) {
      try {
        rmdirSync(join(this.folder, name));
      } catch {
        // The folder has contents, or no longer exists.
      }
    }
  }
}

function namesIn(folder: string): string[] {
  return existsSync(folder) ? readdirSync(folder).filter((name) => NAME.test(name)) : [];
}
