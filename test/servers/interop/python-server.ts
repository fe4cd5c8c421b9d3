import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { findPython, installOnce, installPackages } from "../install-once.ts";

/** A server that is a set of Python packages. */
export interface PythonServer {
  /** The Python that runs it. */
  readonly python: string;
  /** Its folder below the cache. */
  readonly folder: string;
  /** The environment of its processes. */
  readonly env: Readonly<Record<string, string>>;
}

/**
 * Installs packages of exactly these versions into a folder of the cache, once.
 * @param name with the version, such as `mlserver-1.7.1`
 * @param packages separated by white space, with all that they need: no resolver looks for more
 * @param finish adds what else the server needs
 */
export async function installPythonServer(
  name: string,
  packages: string,
  finish: (draft: string) => Promise<void> = async () => {},
): Promise<PythonServer> {
  const python = await findPython();
  const folder = await installOnce(`${name}-${python.version}`, "done", async (draft) => {
    await installPackages(python, packages.trim().split(/\s+/), join(draft, "site"));
    await finish(draft);
    writeFileSync(join(draft, "done"), "");
  });
  return {
    python: python.command,
    folder,
    env: { PYTHONPATH: join(folder, "site"), PYTHONDONTWRITEBYTECODE: "1" },
  };
}
