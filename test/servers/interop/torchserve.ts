import { execFile, spawnSync } from "node:child_process";
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { installPythonServer } from "./python-server.ts";
import { answers, findFreePorts, startServerProcess } from "./server-process.ts";

/** TorchServe with its KServe front end, which it calls the open inference protocol. */

export const TORCHSERVE_VERSION = "0.12.0";

const PACKAGES = `torchserve==${TORCHSERVE_VERSION} psutil==6.1.1 PyYAML==6.0.2`;
const APT_TIMEOUT_MS = 300_000;
/** All that its worker wants of PyTorch when no handler does. */
const TORCH = '__version__ = "0"\n\n\nclass Tensor:\n    """Nothing is one."""\n';
const HANDLER = `def handle(data, context):
    return None if data is None else [row.get("body", row.get("data", b"")) for row in data]
`;
const MANIFEST = {
  runtime: "python",
  model: { modelName: "echo", handler: "handler.py:handle", modelVersion: "1.0" },
  archiverVersion: TORCHSERVE_VERSION,
};

/** A running TorchServe with the model `echo`. */
export interface TorchServeKserve {
  readonly httpPort: number;
  readonly grpcPort: number;
  stop(): Promise<void>;
}

/** Installs it where it is missing (about 80 MB, and Java 17) and starts it on free ports. @throws when it does not start */
export async function startTorchServeKserve(): Promise<TorchServeKserve> {
  await ensureJava();
  const { python, env, folder } = await installPythonServer(`torchserve-${TORCHSERVE_VERSION}`, PACKAGES, finish);
  const [httpPort = 0, management = 0, metrics = 0, grpcPort = 0, grpcManagement = 0] = await findFreePorts(5);
  const run = mkdtempSync(join(tmpdir(), "rampart-torchserve-"));
  const model = join(run, "store", "echo");
  mkdirSync(join(model, "MAR-INF"), { recursive: true });
  mkdirSync(join(run, "tmp"));
  writeFileSync(join(model, "handler.py"), HANDLER);
  writeFileSync(join(model, "MAR-INF", "MANIFEST.json"), JSON.stringify(MANIFEST));
  const settings = {
    inference_address: `http://127.0.0.1:${httpPort}`,
    management_address: `http://127.0.0.1:${management}`,
    metrics_address: `http://127.0.0.1:${metrics}`,
    grpc_inference_address: "127.0.0.1",
    grpc_management_address: "127.0.0.1",
    grpc_inference_port: grpcPort,
    grpc_management_port: grpcManagement,
    model_store: join(run, "store"),
    load_models: "all",
    default_workers_per_model: 1,
    disable_token_authorization: true,
    disable_system_metrics: true,
  };
  const lines = Object.entries(settings).map(([name, value]) => `${name}=${value}\n`);
  writeFileSync(join(run, "config.properties"), lines.join(""));
  const site = join(folder, "site");
  const java = ["-Xmx512m", `-Djava.io.tmpdir=${join(run, "tmp")}`, `-Dmodel_server_home=${site}`];
  const main = ["-cp", join(site, "ts", "frontend", "*"), "org.pytorch.serve.ModelServer", "--python", python];
  const server = await startServerProcess({
    name: "torchserve",
    command: ["java", ...java, ...main, "-f", join(run, "config.properties"), "-s", join(run, "store"), "-ncs"],
    env: {
      ...env,
      TS_OPEN_INFERENCE_PROTOCOL: "oip",
      LOG_LOCATION: run,
      METRICS_LOCATION: run,
      TEMP: join(run, "tmp"),
    },
    cwd: run,
    isReady: () => answers(`http://127.0.0.1:${management}/models/echo`, "READY"),
  });
  const stop = async (): Promise<void> => {
    await server.stop();
    rmSync(run, { recursive: true, force: true });
  };
  return { httpPort, grpcPort, stop };
}

async function finish(draft: string): Promise<void> {
  mkdirSync(join(draft, "site", "torch"));
  writeFileSync(join(draft, "site", "torch", "__init__.py"), TORCH);
}

/** Installs Java where it is missing, as root. */
async function ensureJava(): Promise<void> {
  if (spawnSync("java", ["-version"]).status === 0) return;
  const env = { ...process.env, DEBIAN_FRONTEND: "noninteractive" };
  const patient = ["-o", "DPkg::Lock::Timeout=120", "-qq"];
  const run = (args: string[]) =>
    promisify(execFile)("apt-get", [...patient, ...args], { env, timeout: APT_TIMEOUT_MS });
  await run(["update"]);
  await run(["install", "--yes", "--no-install-recommends", "openjdk-17-jre-headless"]);
}
