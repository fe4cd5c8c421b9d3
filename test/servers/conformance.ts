import { execFile } from "node:child_process";
import { chmodSync } from "node:fs";
import { join } from "node:path";
import { promisify } from "node:util";
import { GO_COMPILER, GO_LOCK } from "./build-go.ts";
import { installOnce } from "./install-once.ts";

/** The runner of Connect's gRPC conformance suite, with the suite's servers in it. */

const VERSION = "v1.0.7";
const RUNNER = "connectconformance";
const INSTALL_TIMEOUT_MS = 900_000;

/** Installs the runner from Go's module proxy on first use, and returns its path. Needs `go`. @throws with what `go install` printed */
export async function installConformance(): Promise<string> {
  const folder = await installOnce(`conformance-${VERSION}`, RUNNER, async (draft) => {
    const env = { ...process.env, ...GO_COMPILER, GOBIN: draft, GOFLAGS: "-buildvcs=false" };
    const args = [GO_LOCK, "go", "install", `connectrpc.com/conformance/cmd/${RUNNER}@${VERSION}`];
    await promisify(execFile)("flock", args, { env, timeout: INSTALL_TIMEOUT_MS });
    chmodSync(join(draft, RUNNER), 0o755);
  });
  return join(folder, RUNNER);
}
