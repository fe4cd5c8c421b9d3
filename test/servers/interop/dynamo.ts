import { execFile } from "node:child_process";
import { cpSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { findFreePorts } from "../free-ports.ts";
import { tinyTokenizer } from "../tiny-llama.ts";
import { installPythonServer } from "./python-server.ts";
import { answers, type ServerProcess, startServerProcess } from "./server-process.ts";

/** NVIDIA Dynamo: its frontends, and its mocker in place of an engine, which simulates scheduling and timing without a GPU. */

export const DYNAMO_VERSION = "1.6.1";

/** What is needed of it here: its own list names a package that is no more than a stub, and one that is not published. */
const PACKAGES = `
  ai-dynamo==1.6.1 ai-dynamo-runtime==1.6.1 aiohappyeyeballs==2.7.1 aiohttp==3.14.5 aiosignal==1.4.0 annotated-doc==0.0.7
  annotated-types==0.8.0 anyio==4.16.0 attrs==26.1.0 certifi==2026.10.18 cffi==2.1.1 charset-normalizer==3.5.2 click==8.5.1
  cryptography==50.0.2 durationpy==0.11 filelock==4.2.11 frozenlist==1.8.0 fsspec==2026.9.0 google-auth==2.62.2 h11==0.16.0
  hf-xet==1.8.0 httpcore2==2.16.2 httpx2==2.16.2 huggingface_hub==2.4.0 idna==3.20 kubernetes==32.0.1 markdown-it-py==4.3.0
  mdurl==0.1.2 msgspec==0.22.0 multidict==7.2.1 numpy==2.4.6 oauthlib==4.0.1 packaging==26.3 prometheus_client==0.26.0
  propcache==0.5.4 pyasn1==0.6.5 pyasn1_modules==0.4.2 pycparser==3.12 pydantic==2.14.3 pydantic_core==2.50.4 Pygments==2.21.0
  python-dateutil==4.0.0 PyYAML==6.0.3 pyzmq==27.3.0 redis==8.1.0 regex==2026.11.15 requests==2.34.2 requests-oauthlib==2.0.0
  rich==15.0.0 safetensors==0.8.0 shellingham==1.5.4 six==1.17.0 tokenizers==0.23.3 tqdm==4.70.1 transformers==5.23.0
  truststore==0.10.5 typer==0.29.2 typing-inspection==0.4.5 typing_extensions==4.16.0 tzdata==2026.6 urllib3==2.8.0
  uvloop==0.23.0 websocket-client==1.9.2 yarl==1.25.1 zstandard==0.25.0
`;

/** The name of its model. */
export const DYNAMO_MODEL = "tiny";

/** A running Dynamo. */
export interface Dynamo {
  /** OpenAI's API, Anthropic's messages, and `/metrics`. */
  readonly httpPort: number;
  /** KServe's protocol. */
  readonly grpcPort: number;
  stop(): Promise<void>;
}

const CONFIG = {
  architectures: ["LlamaForCausalLM"],
  model_type: "llama",
  vocab_size: 2000,
  hidden_size: 64,
  intermediate_size: 128,
  num_hidden_layers: 2,
  num_attention_heads: 4,
  num_key_value_heads: 4,
  max_position_embeddings: 4096,
  bos_token_id: 0,
  eos_token_id: 1,
  torch_dtype: "float16",
};

/** Installs it where it is missing (about 510 MB; needs `cc`) and starts it on free ports. @throws when it does not start */
export async function startDynamo(): Promise<Dynamo> {
  const { python, env, folder } = await installPythonServer(`dynamo-${DYNAMO_VERSION}`, PACKAGES, finish);
  const [httpPort = 0, grpcPort = 0, metricsPort = 0] = await findFreePorts(3);
  const run = mkdtempSync(join(tmpdir(), "rampart-dynamo-"));
  const loopback = ["DYN_EVENT_PLANE_HOST", "DYN_HTTP_RPC_HOST", "DYN_SYSTEM_HOST", "DYN_TCP_RPC_HOST"]
    .concat("DYN_TCP_RESPONSE_STREAM_HOST")
    .map((name) => [name, "127.0.0.1"]);
  const common = {
    env: {
      ...env,
      ...(Object.fromEntries(loopback) as Record<string, string>),
      DYN_FILE_KV: join(run, "kv"),
      XDG_CACHE_HOME: run,
      HF_HOME: run,
      HF_HUB_OFFLINE: "1",
      LD_PRELOAD: join(folder, "loopback.so"),
    },
    cwd: run,
  };
  const frontend = [
    python,
    "-m",
    "dynamo.frontend",
    "--discovery-backend",
    "file",
    "--http-host",
    "127.0.0.1",
  ] as const;
  const mocker = [python, "-m", "dynamo.mocker", "--discovery-backend", "file", "--speedup-ratio", "0"] as const;
  const started: ServerProcess[] = [];
  const stop = async (): Promise<void> => {
    await Promise.all(started.map((server) => server.stop()));
    rmSync(run, { recursive: true, force: true });
  };
  const model = ["--model-path", join(folder, "model"), "--model-name", DYNAMO_MODEL];
  const kserve = ["--kserve-grpc-server", "--http-port", `${grpcPort}`, "--grpc-metrics-port", `${metricsPort}`];
  try {
    mkdirSync(join(run, "kv"));
    started.push(await startServerProcess({ ...common, name: "dynamo-mocker", command: [...mocker, ...model] }));
    started.push(await startServerProcess({ ...common, name: "dynamo-kserve", command: [...frontend, ...kserve] }));
    started.push(
      await startServerProcess({
        ...common,
        name: "dynamo-frontend",
        command: [...frontend, "--http-port", `${httpPort}`, "--enable-anthropic-api"],
        isReady: () => answers(`http://127.0.0.1:${httpPort}/v1/models`, DYNAMO_MODEL),
      }),
    );
  } catch (error) {
    await stop();
    throw error;
  }
  return { httpPort, grpcPort, stop };
}

/** Adds a model without weights, and what keeps the mocker's sockets on loopback. */
async function finish(draft: string): Promise<void> {
  cpSync(tinyTokenizer, join(draft, "model"), { recursive: true });
  writeFileSync(join(draft, "model/config.json"), JSON.stringify(CONFIG));
  writeFileSync(join(draft, "model/generation_config.json"), JSON.stringify({ bos_token_id: 0, eos_token_id: 1 }));
  const source = fileURLToPath(new URL("./models/loopback.c", import.meta.url));
  await promisify(execFile)("cc", ["-shared", "-fPIC", "-O1", "-o", join(draft, "loopback.so"), source, "-ldl"]);
}
