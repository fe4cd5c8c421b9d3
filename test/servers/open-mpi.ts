import { installTool } from "./install-tool.ts";

/** Installs Open MPI where it is missing, and gives how it starts ranks on any machine, whatever its cores. Throws when that fails. */
export function ensureOpenMpi(): string[] {
  installTool("mpirun", ["openmpi-bin"]);
  return ["mpirun", "--allow-run-as-root", "--oversubscribe", "--bind-to", "none", "--tag-output"];
}
