import { inferPerSec } from "../../measure/derived-values.ts";
import { messageOf } from "../../plan/problem.ts";
import { countOf, formatCount, nsToMs } from "../../plan/units.ts";
import { isExecutable, runtimeName } from "../../runtime/runtime.ts";
import { openSocket } from "../../runtime/sockets.ts";
import { isThisHost } from "../../runtime/this-host.ts";
import { VERSION } from "../../runtime/this-program.ts";
import { defineScenario } from "../../scenario/define.ts";
import { hold } from "../../scenario/loads/concurrency.ts";
import { embedded } from "../../scenario/targets/embedded.ts";
import { toPlan } from "../../scenario/to-plan.ts";
import { hubCacheFolder } from "../../tokenize/hub-cache.ts";
import { describeConnectError } from "../../transport/connect-failure.ts";
import { executePlan } from "../execute.ts";
import { CORE_CHECKS } from "./cores.ts";
import { type AskedLoad, type Check, type Finding, impossible, ok, unknown, warning } from "./finding.ts";
import type { Host } from "./host.ts";
import { LIMIT_CHECKS } from "./limits.ts";

/** Default and maximum number of requests in flight. */
const CONCURRENCY = 16;
const MOST_CONCURRENCY = 256;
/** Client and embedded server share the cores. A client alone can send at about this multiple of their rate. */
const ALONE_FACTOR = 2;
/** Above this share of the highest rate, sends become late. */
const SAFE_RATIO = 0.5;

/** Measures for a second how many requests per second this host sends to the embedded target. */
async function checkClientRate(_host: Host, { concurrency, ratePerSec, protocol }: AskedLoad): Promise<Finding> {
  const inFlight = Math.min(concurrency ?? CONCURRENCY, MOST_CONCURRENCY);
  const scenario = defineScenario({
    name: "self-test",
    target: embedded({ protocol }),
    load: hold(inFlight, { for: "1 s" }),
  });
  const silent = { out: () => {}, err: () => {}, onInterrupt: () => () => {}, loadApi: async () => ({}) };
  let perSec: number;
  try {
    const run = await executePlan(toPlan(scenario, process.cwd()), silent);
    const [level] = run.result.levels;
    if (level === undefined || run.result.failedCount > 0)
      return unknown(
        `${countOf(run.result.failedCount, "request")} to the embedded target failed: ${run.result.failures[0]?.example}`,
      );
    perSec = Math.round(inferPerSec(level.window, 1));
  } catch (error) {
    return unknown(`the embedded target cannot be measured: ${messageOf(error)}`);
  }
  const values = { requestsPerSec: perSec, concurrency: inFlight, protocol };
  const said = `${formatCount(perSec)} requests per second to the embedded target, which shares the cores (${protocol}, ${inFlight} in flight)`;
  const { status, fix } = judgeRate(perSec, ratePerSec);
  if (status === "problem") return impossible(`${said}; ${ratePerSec} were asked for`, fix, values);
  return status === "warning" ? warning(`${said}; ${ratePerSec} were asked for`, fix, values) : ok(said, values);
}

/** Judges a requested rate by the rate that was measured with client and server on the same cores. */
export function judgeRate(
  measuredPerSec: number,
  askedPerSec = 0,
): { readonly status: "ok" | "warning" | "problem"; readonly fix: string } {
  const fix = "Use a host with more or faster cores, or several hosts";
  if (askedPerSec > measuredPerSec * ALONE_FACTOR) return { status: "problem", fix };
  return { status: askedPerSec > measuredPerSec * SAFE_RATIO ? "warning" : "ok", fix };
}

const CONNECT_TIMEOUT_MS = 3000;
const CONNECTS = 5;

/** All checks, in the order of the report. The last one loads the cores, so it must not run before the others. */
export const CHECKS: readonly Check[] = [
  { name: "versions", run: checkVersions },
  ...CORE_CHECKS,
  ...LIMIT_CHECKS,
  { name: "tokenizers", run: checkTokenizers },
  { name: "GPU", run: checkGpu },
  { name: "server", run: checkServer },
  { name: "self-test", isLimit: true, run: checkClientRate },
];

function checkVersions({ platform, kernel }: Host): Finding {
  const { versions } = process;
  const runtime = { bun: versions["bun"], deno: versions["deno"], node: versions.node }[runtimeName] ?? "?";
  const form = isExecutable ? ", executable" : "";
  const said = `rampart ${VERSION}, ${runtimeName} ${runtime}${form}, ${platform} ${kernel} ${process.arch}`;
  return ok(said, {
    rampart: VERSION,
    runtime: `${runtimeName} ${runtime}`,
    platform,
    kernel,
    architecture: process.arch,
  });
}

function checkTokenizers({ env, list }: Host): Finding {
  const folder = hubCacheFolder(env);
  const count = list(folder).filter((name) => name.startsWith("models--")).length;
  const isOffline = (env["HF_HUB_OFFLINE"] ?? "0") !== "0";
  const values = { folder, models: count, isOffline };
  const said = `${countOf(count, "model")} of HuggingFace's hub in ${folder}`;
  if (count === 0 && isOffline)
    return warning(
      `${said}, and HF_HUB_OFFLINE forbids to download`,
      "Copy the folder of a tokenizer here and name it, or unset HF_HUB_OFFLINE",
      values,
    );
  return ok(count === 0 ? `${said}; others are downloaded when they are needed` : said, values);
}

/** The client uses no GPU; a server on this host may. */
function checkGpu({ list, read }: Host): Finding {
  const gpus = list("/proc/driver/nvidia/gpus");
  if (gpus.length === 0) return ok("none visible; the client needs none", { gpus: 0 });
  const names = gpus.map(
    (gpu) => /^Model:\s*(.*)$/m.exec(read(`/proc/driver/nvidia/gpus/${gpu}/information`) ?? "")?.[1],
  );
  return ok(`${gpus.length} visible: ${names.map((name) => name ?? "unnamed").join(", ")}`, { gpus: gpus.length });
}

async function checkServer(host: Host, { host: name, port }: AskedLoad): Promise<Finding> {
  if (name === undefined || port === undefined) return ok("not asked for; --url checks one");
  const timesMs: number[] = [];
  try {
    for (let index = 0; index < CONNECTS; index++) timesMs.push(await connectMs(host, name, port));
  } catch (error) {
    return impossible(
      `no connection to ${name}:${port}: ${describeConnectError(error as Error)}`,
      "Start the server, or correct --url",
    );
  }
  const leastMs = Number(Math.min(...timesMs).toFixed(3));
  const values = { connectMs: leastMs };
  const said = `${name}:${port} takes connections in ${leastMs} ms`;
  if (isThisHost(name))
    return warning(`${said}, on this host`, "Measure from another host, or give each side cores of its own", values);
  return ok(said, values);
}

/** Opens a connection and closes it. Returns the time that opening took. */
function connectMs({ clock }: Host, host: string, port: number): Promise<number> {
  const startNs = clock.nowNs();
  return new Promise((resolve, reject) => {
    const cancel = clock.after(CONNECT_TIMEOUT_MS, () => {
      reject(new Error(`no response within ${CONNECT_TIMEOUT_MS} ms`));
      socket.close();
    });
    const socket = openSocket(
      { host, port },
      {
        onOpen: () => {
          resolve(nsToMs(clock.nowNs() - startNs));
          socket.close();
        },
        onData: () => {},
        onClose: (error) => {
          cancel();
          reject(error ?? new Error("closed"));
        },
      },
    );
  });
}
