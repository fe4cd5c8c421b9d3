import { copyFileSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { sumMetric } from "../../matrix/servers/metrics.ts";
import { findFreePorts, isFree } from "../free-ports.ts";
import { installTool } from "../install-tool.ts";
import { installPythonServer } from "./python-server.ts";
import { answers, startServerProcess } from "./server-process.ts";

/** TorchServe, also with its KServe front end, which it calls the open inference protocol. */

export const TORCHSERVE_VERSION = "0.12.0";

const PACKAGES = `torchserve==${TORCHSERVE_VERSION} psutil==6.1.1 PyYAML==6.0.2`;
/** All that its worker wants of PyTorch when no handler does. */
const TORCH = '__version__ = "0"\n\n\nclass Tensor:\n    """Nothing is one."""\n';
const HANDLERS = fileURLToPath(new URL("./models/torchserve_models.py", import.meta.url));
/** By model: lines of its configuration. */
const MODELS = {
  echo: "",
  length: "",
  slow: "minWorkers: 2\nmaxWorkers: 2\nbatchSize: 4\nmaxBatchDelay: 5\n",
  failing: "",
} as const;

/** A model of `models/torchserve_models.py`. */
export type TorchServeModel = keyof typeof MODELS;

/** A running TorchServe. */
export interface TorchServe {
  readonly httpPort: number;
  readonly managementPort: number;
  readonly grpcPort: number;
  /** The page of its metrics. */
  readonly metricsUrl: string;
  /** Returns how many requests for predictions of a model have arrived, with or without a version in their path. */
  countRequests(model: TorchServeModel): Promise<number>;
  stop(): Promise<void>;
}

/** Starts it with the model `echo`. @throws when it does not start */
export function startTorchServeKserve(): Promise<TorchServe> {
  return startTorchServe(["echo"]);
}

/** Installs it where it is missing (about 80 MB, and Java 17) and starts it on free ports. @throws when it does not start */
export async function startTorchServe(models: readonly TorchServeModel[]): Promise<TorchServe> {
  installTool("java", ["openjdk-17-jre-headless"]);
  const { python, env, folder } = await installPythonServer(`torchserve-${TORCHSERVE_VERSION}`, PACKAGES, finish);
  const [httpPort, management] = await findPortPair();
  const [metrics = 0, grpcPort = 0, grpcManagement = 0] = await findFreePorts(3);
  const run = mkdtempSync(join(tmpdir(), "rampart-torchserve-"));
  mkdirSync(join(run, "tmp"));
  for (const model of models) writeModel(join(run, "store", model), model);
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
    metrics_mode: "prometheus",
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
    isReady: async () => {
      for (const model of models)
        if (!(await answers(`http://127.0.0.1:${management}/models/${model}`, "READY"))) return false;
      return true;
    },
  });
  const metricsUrl = `http://127.0.0.1:${metrics}/metrics`;
  return {
    httpPort,
    managementPort: management,
    grpcPort,
    metricsUrl,
    countRequests: (model) => sumMetric(metricsUrl, new RegExp(`^ts_inference_requests_total\\{model_name="${model}"`)),
    stop: async () => {
      await server.stop();
      rmSync(run, { recursive: true, force: true });
    },
  };
}

/** Gives two free ports, one after the other: the management API is at the next port, as in TorchServe's defaults. */
async function findPortPair(): Promise<[number, number]> {
  for (;;) {
    const [port = 0] = await findFreePorts(1);
    if (await isFree(port + 1)) return [port, port + 1];
  }
}

/** Writes a model's folder: all handlers, and which of them is its own. */
function writeModel(folder: string, model: TorchServeModel): void {
  mkdirSync(join(folder, "MAR-INF"), { recursive: true });
  copyFileSync(HANDLERS, join(folder, "handlers.py"));
  const configFile = MODELS[model] === "" ? {} : { configFile: "model-config.yaml" };
  if (MODELS[model] !== "") writeFileSync(join(folder, "model-config.yaml"), MODELS[model]);
  const manifest = {
    runtime: "python",
    model: { modelName: model, handler: `handlers.py:${model}`, modelVersion: "1.0", ...configFile },
    archiverVersion: TORCHSERVE_VERSION,
  };
  writeFileSync(join(folder, "MAR-INF", "MANIFEST.json"), JSON.stringify(manifest));
}

async function finish(draft: string): Promise<void> {
  mkdirSync(join(draft, "site", "torch"));
  writeFileSync(join(draft, "site", "torch", "__init__.py"), TORCH);
}
