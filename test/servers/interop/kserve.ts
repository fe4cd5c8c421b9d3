import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { findFreePorts } from "../free-ports.ts";
import { installPythonServer } from "./python-server.ts";
import { answers, startServerProcess } from "./server-process.ts";

/** The ModelServer of KServe's Python SDK. */

export const KSERVE_VERSION = "0.21.0";

const PACKAGES = `
  aiohappyeyeballs==2.7.1 aiohttp==3.14.5 aiohttp-retry==2.9.1 aiosignal==1.4.0 annotated-doc==0.0.7 annotated-types==0.8.0
  anyio==4.16.0 attrs==26.1.0 certifi==2026.10.18 cffi==2.1.1 charset-normalizer==3.5.2 click==8.5.1 cloudevents==1.13.0
  cryptography==50.0.2 deprecation==2.1.0 durationpy==0.11 fastapi==0.165.0 frozenlist==1.8.0 grpc-interceptor==0.15.4
  grpcio==1.85.1 grpcio-tools==1.81.1 h11==0.16.0 httpcore==1.0.9 httptools==0.9.0 httpx==0.28.1 idna==3.20 kserve==0.21.0
  kubernetes==37.0.1 multidict==7.2.1 numpy==2.4.6 oauthlib==4.0.1 opentelemetry-api==1.45.2 orjson==3.13.0 packaging==26.3
  pandas==2.3.3 pillow==13.0.0 prometheus_client==0.26.0 propcache==0.5.4 protobuf==6.33.6 psutil==5.9.8 pyasn1==0.6.5
  pycparser==3.12 pydantic==2.14.3 pydantic_core==2.50.4 PyJWT==2.15.1 python-dateutil==2.9.0.post0 python-dotenv==1.2.4
  python-multipart==0.0.34 pytz==2026.6 PyYAML==6.0.3 requests==2.34.2 requests-oauthlib==2.0.0 six==1.17.0 starlette==1.10.0
  tabulate==0.10.0 timing-asgi==0.3.2 typing-inspection==0.4.5 typing_extensions==4.16.0 tzdata==2026.6 urllib3==2.8.0
  uvicorn==0.54.0 uvloop==0.23.0 watchfiles==1.3.0 websocket-client==1.9.2 websockets==17.4 yarl==1.25.1
`;

/** A running ModelServer with the models `add_sub` and `echo_bytes`. Its HTTP port has `/metrics`. */
export interface KserveModelServer {
  readonly httpPort: number;
  readonly grpcPort: number;
  stop(): Promise<void>;
}

/** Installs it where it is missing (about 300 MB) and starts it on free ports. @throws when it does not start */
export async function startKserve(): Promise<KserveModelServer> {
  const { python, env, folder } = await installPythonServer(`kserve-${KSERVE_VERSION}`, PACKAGES);
  const [httpPort = 0, grpcPort = 0] = await findFreePorts(2);
  const program = fileURLToPath(new URL("./models/kserve_models.py", import.meta.url));
  const { stop } = await startServerProcess({
    name: "kserve",
    command: [python, program, "--http_port", `${httpPort}`, "--grpc_port", `${grpcPort}`, "--workers", "1"],
    env: { ...env, HOME: join(folder, "home") },
    isReady: () => answers(`http://127.0.0.1:${httpPort}/v2/models/add_sub/ready`),
  });
  return { httpPort, grpcPort, stop };
}
