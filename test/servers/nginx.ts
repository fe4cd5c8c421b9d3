import { type ChildProcess, execFile, spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync } from "node:fs";
import { mkdir, mkdtemp, readdir, readFile, rm, writeFile } from "node:fs/promises";
import { connect } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { findFreePorts } from "./free-ports.ts";
import { installTool } from "./install-tool.ts";

/** An nginx on loopback: an HTTP/1.1 and HTTP/2 implementation that has nothing to do with ours. */

const cacheFolder = fileURLToPath(new URL("../../.cache/nginx", import.meta.url));
const READY_TIMEOUT_MS = 120_000;

/** What {@link startNginx} puts in front of what. */
export interface NginxOptions {
  /** HTTP server behind `/behind/`, as `host:port`. */
  readonly httpUpstream: string;
  /** gRPC server behind the HTTP/2 port, as `host:port`. */
  readonly grpcUpstream: string;
}

/** A running nginx. */
export interface Nginx {
  /**
   * HTTP/1.1:
   * - `/length` with Content-Length
   * - `/chunked` a page put together by server-side includes: chunks
   * - `/empty` 204, `/moved` 301, `/missing` 404
   * - `/close` with `Connection: close`
   * - `/twice` closes after the second request of a connection
   * - `/behind/` the HTTP upstream, unbuffered; asks for the body with 100 when the request expects that
   */
  readonly httpPort: number;
  /** HTTP/2 without TLS, gRPC passed on: 3 concurrent streams, GOAWAY after 10 requests. */
  readonly grpcPort: number;
  stop(): Promise<void>;
}

/** Installs nginx where it is missing (as root by apt-get, otherwise unpacked into `.cache`) and starts it with a configuration of its own. */
export async function startNginx(options: NginxOptions): Promise<Nginx> {
  const executable = await installNginx();
  const folder = await mkdtemp(join(tmpdir(), "rampart-nginx-"));
  const [httpPort, grpcPort] = await findFreePorts(2);
  await mkdir(join(folder, "html"));
  await writeFile(join(folder, "html", "chunked.html"), 'before <!--#include virtual="/length" --> after\n');
  await writeFile(join(folder, "nginx.conf"), configuration(options, httpPort, grpcPort));
  const child = spawn(executable, ["-p", folder, "-c", join(folder, "nginx.conf"), "-e", join(folder, "error.log")], {
    stdio: ["ignore", "ignore", "inherit"],
  });
  try {
    await waitUntilListening(child, httpPort, join(folder, "error.log"));
  } catch (error) {
    await stop(child, folder);
    throw error;
  }
  return { httpPort, grpcPort, stop: () => stop(child, folder) };
}

function configuration({ httpUpstream, grpcUpstream }: NginxOptions, httpPort: number, grpcPort: number): string {
  return `daemon off;
master_process off;
pid nginx.pid;
error_log error.log warn;
events { worker_connections 256; }
http {
  access_log off;
  client_body_temp_path body;
  proxy_temp_path proxy;
  fastcgi_temp_path fastcgi;
  uwsgi_temp_path uwsgi;
  scgi_temp_path scgi;
  default_type text/plain;
  server {
    listen 127.0.0.1:${httpPort};
    client_max_body_size 64m;
    location = /length { return 200 "sixteen bytes..\\n"; }
    location = /empty { return 204; }
    location = /moved { return 301 /length; }
    location = /missing { return 404; }
    location = /close { keepalive_timeout 0; return 200 "closed after this\\n"; }
    location = /twice { keepalive_requests 2; return 200 "at most twice\\n"; }
    location = /chunked { ssi on; ssi_types *; root html; try_files /chunked.html =404; }
    location /behind/ {
      proxy_pass http://${httpUpstream}/;
      proxy_http_version 1.1;
      proxy_set_header Connection "";
      proxy_buffering off;
    }
  }
  server {
    listen 127.0.0.1:${grpcPort} http2;
    http2_max_concurrent_streams 3;
    keepalive_requests 10;
    client_max_body_size 64m;
    location / { grpc_pass grpc://${grpcUpstream}; }
  }
}
`;
}

async function installNginx(): Promise<string> {
  for (const path of ["/usr/sbin/nginx", "/usr/bin/nginx", join(cacheFolder, "usr/sbin/nginx")])
    if (existsSync(path)) return path;
  const run = promisify(execFile);
  if (process.getuid?.() === 0) {
    installTool("nginx", ["nginx-light"]);
    return "/usr/sbin/nginx";
  }
  await mkdir(cacheFolder, { recursive: true });
  await run("apt-get", ["download", "nginx-light", "nginx-common"], { cwd: cacheFolder, timeout: 120_000 });
  for (const name of (await readdir(cacheFolder)).filter((entry) => entry.endsWith(".deb")))
    await run("dpkg", ["-x", name, "."], { cwd: cacheFolder, timeout: 120_000 });
  return join(cacheFolder, "usr/sbin/nginx");
}

async function waitUntilListening(child: ChildProcess, port: number, logFile: string): Promise<void> {
  const deadlineMs = Date.now() + READY_TIMEOUT_MS;
  while (!(await canConnect(port))) {
    if (child.exitCode !== null || Date.now() > deadlineMs)
      throw new Error(`nginx did not start: ${await readFile(logFile, "utf8").catch(() => "no log")}`);
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
}

function canConnect(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = connect(port, "127.0.0.1");
    socket.on("connect", () => {
      socket.destroy();
      resolve(true);
    });
    socket.on("error", () => resolve(false));
  });
}

async function stop(child: ChildProcess, folder: string): Promise<void> {
  if (child.exitCode === null && child.signalCode === null) {
    const ended = once(child, "exit");
    child.kill("SIGKILL"); // one process, and nothing of it is kept
    await ended;
  }
  await rm(folder, { recursive: true, force: true });
}
