import { cpSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { findFreePorts } from "../free-ports.ts";
import { installPythonServer } from "./python-server.ts";
import { answers, startServerProcess } from "./server-process.ts";

/** Seldon's MLServer, a Python server of KServe's protocol. */

export const MLSERVER_VERSION = "1.7.1";

const PACKAGES = `
  aiofiles==25.1.0 aiohappyeyeballs==2.7.1 aiohttp==3.14.5 aiokafka==0.14.0 aiosignal==1.4.0 annotated-types==0.8.0
  anyio==4.16.0 asgiref==3.13.0 async-timeout==5.0.1 attrs==26.1.0 brotli==1.2.1 certifi==2026.10.18 click==8.5.1
  fastapi==0.115.14 frozenlist==1.8.0 gevent==26.9.0 geventhttpclient==2.6.1 googleapis-common-protos==1.76.0 greenlet==3.3.2
  grpcio==1.85.1 h11==0.16.0 idna==3.20 importlib_resources==6.5.2 ml_dtypes==0.5.4 mlserver==1.7.1 multidict==7.2.1
  numpy==2.4.6 opentelemetry-api==1.45.2 opentelemetry-exporter-otlp-common==0.66b2
  opentelemetry-exporter-otlp-proto-common==1.45.2 opentelemetry-exporter-otlp-proto-grpc==1.45.2
  opentelemetry-instrumentation==0.66b2 opentelemetry-instrumentation-asgi==0.66b2
  opentelemetry-instrumentation-fastapi==0.66b2 opentelemetry-instrumentation-grpc==0.66b2 opentelemetry-proto==1.45.2
  opentelemetry-sdk==1.45.2 opentelemetry-semantic-conventions==0.66b2 opentelemetry-util-http==0.66b2 orjson==3.13.0
  packaging==26.3 pandas==3.1.1 prometheus_client==0.26.0 propcache==0.5.4 protobuf==6.33.6 py-grpc-prometheus==0.8.0
  pydantic==2.14.3 pydantic-settings==2.16.3 pydantic_core==2.50.4 python-dateutil==4.0.0 python-dotenv==1.2.4
  python-multipart==0.0.34 python-rapidjson==1.25 starlette==0.46.2 starlette_exporter==0.24.0 tritonclient==2.73.0
  typing-inspection==0.4.5 typing_extensions==4.16.0 tzdata==2026.6 urllib3==2.8.0 uvicorn==0.54.0 uvloop==0.23.0 wrapt==2.5.2
  yarl==1.25.1 zope.event==6.2 zope.interface==8.7
`;

/** A running MLServer with the models `add_sub` and `echo_bytes`. */
export interface MlServer {
  readonly httpPort: number;
  readonly grpcPort: number;
  /** Of its page `/metrics`. */
  readonly metricsPort: number;
  stop(): Promise<void>;
}

const FP32 = { datatype: "FP32", shape: [4] };
const MODELS = {
  add_sub: {
    implementation: "mlserver_models.AddSub",
    inputs: ["INPUT0", "INPUT1"].map((name) => ({ name, ...FP32 })),
    outputs: ["OUTPUT0", "OUTPUT1"].map((name) => ({ name, ...FP32 })),
  },
  echo_bytes: {
    implementation: "mlserver_models.EchoBytes",
    inputs: [{ name: "INPUT0", datatype: "BYTES", shape: [2] }],
    outputs: [{ name: "OUTPUT0", datatype: "BYTES", shape: [-1] }],
  },
};

/** Installs it where it is missing (about 220 MB) and starts it on free ports. @throws when it does not start */
export async function startMlServer(): Promise<MlServer> {
  const { python, env } = await installPythonServer(`mlserver-${MLSERVER_VERSION}`, PACKAGES);
  const [httpPort = 0, grpcPort = 0, metricsPort = 0] = await findFreePorts(3);
  const folder = mkdtempSync(join(tmpdir(), "rampart-mlserver-"));
  cpSync(fileURLToPath(new URL("./models/mlserver_models.py", import.meta.url)), join(folder, "mlserver_models.py"));
  for (const [name, model] of Object.entries(MODELS)) {
    mkdirSync(join(folder, name));
    const settings = { name, platform: "custom", parameters: { version: "1" }, ...model };
    writeFileSync(join(folder, name, "model-settings.json"), JSON.stringify(settings));
  }
  const settings = {
    ...{ host: "127.0.0.1", http_port: httpPort, grpc_port: grpcPort, metrics_port: metricsPort, parallel_workers: 0 },
    ...{ metrics_dir: join(folder, "metrics"), environments_dir: join(folder, "environments") },
  };
  writeFileSync(join(folder, "settings.json"), JSON.stringify(settings));
  const server = await startServerProcess({
    name: "mlserver",
    command: [python, "-c", "from mlserver.cli import main; main()", "start", folder],
    env: { ...env, PYTHONPATH: `${env["PYTHONPATH"]}:${folder}` },
    cwd: folder,
    isReady: () => answers(`http://127.0.0.1:${httpPort}/v2/models/add_sub/ready`),
  });
  const stop = async (): Promise<void> => {
    await server.stop();
    rmSync(folder, { recursive: true, force: true });
  };
  return { httpPort, grpcPort, metricsPort, stop };
}
