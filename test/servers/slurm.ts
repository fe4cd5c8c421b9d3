import { type ChildProcess, spawn, spawnSync } from "node:child_process";
import { randomBytes } from "node:crypto";
import { once } from "node:events";
import { existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { hostname } from "node:os";
import { join } from "node:path";
import { setTimeout as sleepMs } from "node:timers/promises";
import { findFreePort } from "../../src/transport/wait-for-address.ts";
import { installTool } from "./install-tool.ts";

/** A real cluster of Slurm with one node, on loopback, from Debian's packages. It needs root. */

const READY_MS = 60_000;
const LOOK_MS = 200;
const CPUS = 4;

/** A running cluster. */
export interface Slurm {
  /** What its commands, such as `srun`, need in their environment. */
  readonly env: { readonly SLURM_CONF: string };
  stop(): Promise<void>;
}

/** Installs Slurm where it is missing, and starts a cluster. */
export async function startSlurm(): Promise<Slurm> {
  installTool("srun", ["slurm-client", "slurmctld", "slurmd", "munge"]);
  // munged refuses a path that others may write to.
  const folder = mkdtempSync("/run/rampart-slurm-");
  for (const name of ["state", "spool", "munge"]) mkdirSync(join(folder, name), { mode: 0o755 });
  spawnSync("chmod", ["755", folder]);
  const munge = join(folder, "munge");
  writeFileSync(join(munge, "key"), randomBytes(128), { mode: 0o600 });
  const env = { SLURM_CONF: join(folder, "slurm.conf") };
  writeFileSync(
    env.SLURM_CONF,
    configuration(folder, join(munge, "socket"), [await findFreePort(), await findFreePort()]),
  );
  const children: ChildProcess[] = [];
  const start = (command: string, ...args: string[]): void => {
    children.push(spawn(command, args, { env: { ...process.env, ...env }, stdio: "ignore" }));
  };
  const stop = async (): Promise<void> => {
    for (const child of children.reverse()) {
      if (child.exitCode !== null || child.signalCode !== null) continue;
      const ended = once(child, "exit");
      child.kill("SIGKILL");
      await ended;
    }
    killStartedWith(env.SLURM_CONF);
    rmSync(folder, { recursive: true, force: true });
  };
  try {
    const inMunge = (name: string): string => join(munge, name);
    const files = [`--socket=${inMunge("socket")}`, `--key-file=${inMunge("key")}`, `--pid-file=${inMunge("pid")}`];
    start(
      "munged",
      "--foreground",
      "--force",
      ...files,
      `--log-file=${inMunge("log")}`,
      `--seed-file=${inMunge("seed")}`,
    );
    await until("munged listens", folder, () => existsSync(inMunge("socket")));
    start("slurmctld", "-D", "-f", env.SLURM_CONF);
    start("slurmd", "-D", "-f", env.SLURM_CONF);
    const states = (): string =>
      spawnSync("sinfo", ["-h", "-o", "%t"], { env: { ...process.env, ...env }, encoding: "utf8" }).stdout;
    await until("the node is idle", folder, () => states().startsWith("idle"));
  } catch (error) {
    await stop();
    throw error;
  }
  return { env, stop };
}

/** Kills the processes that have a cluster's configuration in their environment: its `slurmstepd` outlives `slurmd`. */
function killStartedWith(configuration: string): void {
  for (const pid of readdirSync("/proc").filter((name) => /^\d+$/.test(name)))
    try {
      const isOne = readFileSync(`/proc/${pid}/environ`, "utf8").includes(`SLURM_CONF=${configuration}\0`);
      if (isOne) process.kill(Number(pid), "SIGKILL");
    } catch {
      // It has ended.
    }
}

async function until(what: string, folder: string, isTrue: () => boolean): Promise<void> {
  const endMs = Date.now() + READY_MS;
  while (!isTrue()) {
    if (Date.now() > endMs) {
      const logs = ["slurmctld.log", "slurmd.log"].map((name) => join(folder, name)).filter((path) => existsSync(path));
      throw new Error(
        `not within ${READY_MS} ms: ${what}\n${logs.map((path) => readFileSync(path, "utf8")).join("\n")}`,
      );
    }
    await sleepMs(LOOK_MS);
  }
}

function configuration(folder: string, socket: string, [controllerPort, nodePort]: readonly number[]): string {
  const [host = "localhost"] = hostname().split(".");
  return `ClusterName=rampart
SlurmctldHost=${host}(127.0.0.1)
SlurmUser=root
SlurmctldPort=${controllerPort}
SlurmdPort=${nodePort}
AuthType=auth/munge
AuthInfo=socket=${socket}
CredType=cred/munge
MpiDefault=none
ProctrackType=proctrack/pgid
TaskPlugin=task/none
SelectType=select/cons_tres
SelectTypeParameters=CR_Core
JobAcctGatherType=jobacct_gather/none
ReturnToService=2
CommunicationParameters=NoInAddrAny,NoCtldInAddrAny
StateSaveLocation=${folder}/state
SlurmdSpoolDir=${folder}/spool
SlurmctldPidFile=${folder}/slurmctld.pid
SlurmdPidFile=${folder}/slurmd.pid
SlurmctldLogFile=${folder}/slurmctld.log
SlurmdLogFile=${folder}/slurmd.log
SlurmdParameters=config_overrides
NodeName=${host} NodeAddr=127.0.0.1 CPUs=${CPUS} State=UNKNOWN
PartitionName=all Nodes=ALL Default=YES MaxTime=INFINITE State=UP
`;
}
