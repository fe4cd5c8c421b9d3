#!/usr/bin/env node
import { runCommandLine } from "./cli/commands.ts";
import { describeDefect } from "./cli/guarded-io.ts";
import { createProcessIo } from "./cli/process-io.ts";
import { endProcess } from "./runtime/process-end/exit-guard.ts";
import { isExecutable } from "./runtime/runtime.ts";
import { writeStderr } from "./runtime/stdio.ts";

/** The executable's entry: from the command line to an exit code. */

const EXIT_INTERNAL = 1;
const EXIT_INTERRUPTED = 130;

/** Returns the last part of a path, without `.exe`: the name by which the executable or a link to it was called. */
function executableName(path: string): string {
  const name = path.slice(Math.max(path.lastIndexOf("/"), path.lastIndexOf("\\")) + 1);
  return name.endsWith(".exe") ? name.slice(0, -4) : name;
}

/** Loads the public API without starting a default-exported scenario, because the main program is this one. */
async function loadApi(): Promise<object> {
  const [api, { defineScenario }] = await Promise.all([import("./index.ts"), import("./scenario/define.ts")]);
  return { ...api, defineScenario };
}

/** Set in processes that this program starts to run a server's library. */
const SERVER_ROLE = "RAMPART_IN_PROCESS_SERVER";
const serverSettings = process.env[SERVER_ROLE];
if (serverSettings !== undefined) {
  delete process.env[SERVER_ROLE];
  const { serveTriton } = await import("./service/triton-c-api/server/serve.ts");
  await serveTriton(JSON.parse(serverSettings) as Parameters<typeof serveTriton>[0]);
  process.exit(EXIT_INTERNAL);
}

const io = createProcessIo(loadApi, () => endProcess(EXIT_INTERRUPTED));
const invokedAs = isExecutable ? executableName(process.argv0) : "rampart";
try {
  process.exit(await runCommandLine(invokedAs, process.argv.slice(2), io));
} catch (error) {
  writeStderr(describeDefect(error));
  process.exit(EXIT_INTERNAL);
}
