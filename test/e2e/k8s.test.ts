import assert from "node:assert/strict";
import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { beforeEach, test } from "node:test";
import { expandReferences, Manifest } from "../cli/k8s/cluster.ts";
import { makeFolder } from "../make-folder.ts";
import { type Nats, startNats } from "../servers/nats.ts";
import { type NetworkHost, withNetwork } from "../servers/network.ts";
import { type Stub, startStub } from "../servers/stub.ts";
import { LIMIT } from "../time-limit.ts";
import { commandUnderTest, runRampart } from "./command.ts";

/**
 * The command lines of a manifest's containers as processes, each pod on a host in a network namespace, where it finds the bus by the name of its
 * Service. The bus is a real NATS server with the arguments and the login of the manifest. Needs root, see servers/network.ts.
 */

const LINE = { outMs: 1, inMs: 1 };

let folder: string;
beforeEach(() => {
  folder = makeFolder();
});

/** What a pod printed, and how it ended. */
interface Pod {
  readonly child: ChildProcess;
  readonly code: Promise<number | null>;
  out: string;
  err: string;
}

/** A scenario in a folder of its own, with a module, a file outside of that folder, a parameter and a secret one. */
function writeScenario(url: string): string {
  const row = { INPUT0: Array(16).fill(3), INPUT1: Array(16).fill(4) };
  for (const name of ["load", "data"]) mkdirSync(join(folder, name));
  writeFileSync(join(folder, "data", "rows.json"), JSON.stringify({ data: [row] }));
  writeFileSync(join(folder, "load", "limit.ts"), "export const MOST_FAILED: number = 0;\n");
  const text = `import { defineScenario, errorRate, hold, input, p50, param, triton } from "rampart";
import { MOST_FAILED } from "./limit.ts";
export default defineScenario({
  name: "Pods: a test",
  params: { users: param.integer(1), mostUs: param.integer(60_000_000), word: param.text({ secret: true }) },
  target: triton("${url}", { model: "simple" }),
  load: ({ users, word }) => hold(word === "a $(B) $word" ? users : 1, { requests: 200 }),
  inputs: input.json("../data/rows.json"),
  check: () => (MOST_FAILED === 0 ? undefined : "wrong limit"),
  assert: ({ mostUs }) => [errorRate().is(0), p50("latency").below(\`\${mostUs} us\`)],
});
`;
  const file = join(folder, "load", "agents.ts");
  writeFileSync(file, text);
  return file;
}

/** A cluster: the scenario's server, the bus, and the hosts of the pods. */
interface Cluster {
  readonly manifest: Manifest;
  readonly stub: Stub;
  readonly bus: Nats;
  readonly nodes: readonly NetworkHost[];
}

/** Makes the manifest of the scenario, and starts all but the pods. @param more options of the manifest */
async function withCluster(more: readonly string[], use: (cluster: Cluster) => Promise<void>): Promise<void> {
  await withNetwork({ server: {}, bus: {}, first: LINE, second: LINE, third: LINE }, async (hosts) => {
    const stub = await startStub({ on: hosts.server });
    let bus: Nats | undefined;
    try {
      const manifest = await makeManifest(`${hosts.server.address}:${stub.httpPort}`, more);
      bus = await startBus(manifest, hosts.bus);
      const names = ["127.0.0.1 localhost", `${hosts.bus.address} ${manifest.find("Job").metadata.name}-nats`, ""];
      writeFileSync(join(folder, "hosts"), names.join("\n"));
      await use({ manifest, stub, bus, nodes: [hosts.first, hosts.second, hosts.third] });
    } finally {
      await Promise.all([bus?.stop(), stub.stop()]);
    }
  });
}

async function makeManifest(url: string, more: readonly string[]): Promise<Manifest> {
  const file = writeScenario(url);
  const args = ["k8s", "manifest", file, "--agents", "2", "--image", "rampart:test", "--set", "users=4", ...more];
  const env = { RAMPART_WORD: "a $(B) $word" };
  const { code, stdout, stderr } = await runRampart(args, { cwd: folder, env });
  assert.deepEqual([code, stderr], [0, ""]);
  return new Manifest(stdout);
}

function startBus(manifest: Manifest, on: NetworkHost): Promise<Nats> {
  const { container } = manifest.podOf("Deployment");
  const variables = manifest.environmentOf(container);
  const args = container.args.map((one) => expandReferences(one, variables));
  return startNats({ login: "nobody-asked", args, on });
}

/** Runs a program with the names of the cluster's hosts. */
const WITH_NAMES = ["unshare", "--mount", "sh", "-c", 'mount --bind "$0" /etc/hosts && exec "$@"'];

/** Starts the pod of an index on a node. Its mounted folder is that of this host. */
function startPod(manifest: Manifest, index: number, { enter }: NetworkHost): Pod {
  const { container } = manifest.podOf("Job");
  const env = manifest.environmentOf(container);
  assert.deepEqual(container.command, ["rampart"]);
  const args = container.args.map((one) => expandReferences(one, env).replace(/^\/rampart\//, `${folder}/mounted/`));
  const [program = "", ...first] = [...enter, ...WITH_NAMES, join(folder, "hosts"), ...commandUnderTest];
  const cwd = mkdtempSync(join(folder, "pod-"));
  const child = spawn(program, [...first, ...args], {
    cwd,
    env: { ...process.env, ...env, JOB_COMPLETION_INDEX: String(index) },
    stdio: ["ignore", "pipe", "pipe"],
  });
  const pod: Pod = { child, out: "", err: "", code: once(child, "close").then(([code]) => code as number | null) };
  child.stdout?.setEncoding("utf8").on("data", (text: string) => {
    pod.out += text;
  });
  child.stderr?.setEncoding("utf8").on("data", (text: string) => {
    pod.err += text;
  });
  return pod;
}

async function withPods({ manifest, nodes }: Cluster, use: (pods: readonly Pod[]) => Promise<void>): Promise<void> {
  mkdirSync(join(folder, "mounted"));
  manifest.mount(join(folder, "mounted"));
  // The files of the pods are those of the manifest.
  for (const name of ["load", "data"]) rmSync(join(folder, name), { recursive: true });
  const pods = nodes.map((node, index) => startPod(manifest, index, node));
  try {
    await use(pods);
  } finally {
    for (const { child } of pods) child.kill("SIGKILL");
    await Promise.all(pods.map(({ code }) => code));
  }
}

test("the pods of a manifest send its scenario's load, and all of them end", LIMIT, async () => {
  await withCluster([], (cluster) =>
    withPods(cluster, async (pods) => {
      const codes = await Promise.all(pods.map(({ code }) => code));
      const [conductor, ...agents] = pods;
      assert.deepEqual(codes, [0, 0, 0], `${conductor?.out}\n${pods.map(({ err }) => err).join("\n")}`);
      assert.match(conductor?.out ?? "", /^PASSED {2}Pods: a test.* 200 requests/m);
      assert.match(conductor?.out ?? "", /^ +4 /m);
      assert.equal((await cluster.stub.counter()).http, 200);
      for (const { out } of agents) assert.match(out, /^a run began\nthe run ended$/m);
    }),
  );
});

test(
  "pods wait for a bus that starts later, and the Job has the exit code of an assertion that failed",
  LIMIT,
  async () => {
    await withCluster(["--set", "mostUs=1"], async (cluster) => {
      await cluster.bus.kill();
      await withPods(cluster, async (pods) => {
        await Promise.all(pods.map(({ child }) => once(child.stderr as NodeJS.ReadableStream, "data")));
        for (const { err } of pods) assert.match(err, /the bus at .* cannot be used: .*; trying again for 300 s/);
        await cluster.bus.restart();
        const codes = await Promise.all(pods.map(({ code }) => code));
        assert.deepEqual(codes, [65, 0, 0], pods[0]?.out);
        assert.equal((await cluster.stub.counter()).http, 200);
      });
    });
  },
);

test("a manifest says that the scenario's server is not on the pods' host", LIMIT, async () => {
  const file = writeScenario("127.0.0.1:8000");
  const args = ["k8s", "manifest", file, "--agents", "2", "--image", "rampart:test"];
  const { code, stderr } = await runRampart(args, { cwd: folder, env: { RAMPART_WORD: "a" } });
  assert.equal(code, 0, stderr);
  assert.match(stderr, /127\.0\.0\.1:8000 is that of each pod itself/);
});

test("the command of a pod says what is missing outside of a Job", LIMIT, async () => {
  const { code, stderr } = await runRampart(["k8s", "pod", "x.ts"]);
  assert.equal(code, 64);
  assert.match(stderr, /JOB_COMPLETION_INDEX: is not set/);
  assert.match(stderr, /--bus: is needed/);
});
