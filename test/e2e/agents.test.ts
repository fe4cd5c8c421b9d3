import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { once } from "node:events";
import { readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { after, before, test } from "node:test";
import { setTimeout as sleepMs } from "node:timers/promises";
import { makeFolder, writeIn } from "../make-folder.ts";
import { KserveServer } from "../run/kserve-server.ts";
import { type Nats, startNats } from "../servers/nats.ts";
import { ensureOpenMpi } from "../servers/open-mpi.ts";
import { startSlurm } from "../servers/slurm.ts";
import { LIMIT } from "../time-limit.ts";
import { type AgentProcess, withAgentProcesses } from "./agent-process.ts";
import { commandUnderTest, type RunOptions, runRampart } from "./command.ts";

/** The command as conductor and as agents, processes of their own, on a real NATS server. */

const folder = makeFolder();
let nats: Nats;
before(async () => {
  nats = await startNats();
});
after(() => nats?.stop());

const withAgents = (
  count: number,
  use: (agents: readonly AgentProcess[]) => Promise<void>,
  options?: readonly string[],
): Promise<void> => withAgentProcesses({ count, folder, busUrl: nats.url, options }, use);

/** A scenario with a function, a module of its own and a file. */
function writeScenario(url: string, load: string, more = ""): string {
  const row = { INPUT0: Array(16).fill(3), INPUT1: Array(16).fill(4) };
  writeFileSync(join(folder, "data.json"), JSON.stringify({ data: [row] }));
  writeFileSync(join(folder, "limit.ts"), "export const MOST_FAILED: number = 0;\n");
  const text = `import { defineScenario, errorRate, hold, input, rate, steps, triton } from "rampart";
import { MOST_FAILED } from "./limit.ts";
export default defineScenario({
  name: "agents",
  target: triton("${url}", { model: "simple" }),
  load: ${load},
  inputs: input.json("./data.json"),
  check: () => (MOST_FAILED === 0 ? undefined : "wrong limit"),
  assert: [errorRate().is(0)],${more}
});
`;
  return writeIn(folder, "agents.ts", text);
}

function run(file: string, agents: number, options: RunOptions = {}): ReturnType<typeof runRampart> {
  return runRampart(["run", file, "--bus", nats.url, "--agents", String(agents)], { cwd: folder, ...options });
}

/** So that a closed loop waits and does not take the cores. */
const wait = (): Promise<undefined> => sleepMs(10, undefined);

test("agents without any file send the scenario's load, each its share, run after run", LIMIT, async () => {
  await withAgents(2, async (agents) => {
    await using server = await new KserveServer({}).start();
    const file = writeScenario(server.url, "hold(4, { requests: 200 })");
    for (let time = 1; time <= 2; time++) {
      const { code, stdout, stderr } = await run(file, 2);
      assert.equal(code, 0, `${stdout}\n${stderr}`);
      assert.match(stdout, /^PASSED {2}agents.* 200 requests/);
      assert.equal(server.successCount, 200 * time);
      for (const { name } of agents) assert.match(stdout, new RegExp(`^${name} +1 +100 +0$`, "m"));
    }
    const codes = await Promise.all(agents.map((agent) => agent.end("SIGINT")));
    assert.deepEqual(codes, [0, 0]);
  });
});

test(
  "what is missing when an agent is killed and may be: the level, the time, the requests in no row",
  LIMIT,
  async () => {
    await withAgents(2, async ([, killed]) => {
      await using server = await new KserveServer({}).start();
      const file = writeScenario(server.url, "rate(200, { requests: 1400 })");
      const report = join(folder, "lost.json");
      const startMs = performance.now();
      const running = runRampart(
        ["run", file, "--bus", nats.url, "--agents", "2", "--allow-lost", "1", "--json", report],
        { cwd: folder },
      );
      await server.until(() => server.successCount > 200);
      const name = killed?.name;
      await killed?.end("SIGKILL");
      const killedSec = (performance.now() - startMs) / 1000;
      const { code, stdout, stderr } = await running;
      assert.equal(code, 0, `${stdout}\n${stderr}`);
      const { requests, levels, hosts, notes } = JSON.parse(readFileSync(report, "utf8"));
      const { lost } = hosts.find((host: { readonly name: string }) => host.name === name);
      // It says when it was last heard, not when that was noticed.
      assert.ok(
        lost.afterSec > 0 && lost.afterSec < killedSec + 0.5,
        `${lost.afterSec} s, killed after ${killedSec} s`,
      );
      assert.deepEqual([levels[0].completed, lost.inNoLevelCount > 0], [700, true]);
      assert.equal(requests.completed, levels[0].completed + lost.inNoLevelCount);
      const note = notes.find((one: { readonly code: string }) => one.code === "agent-lost");
      assert.deepEqual([note.severity, note.levels.length], ["wrong", 1]);
      assert.match(
        note.text,
        new RegExp(
          ` and 50 % of the load is missing .* ${lost.inNoLevelCount} requests that it reported are in no row`,
        ),
      );
    });
  },
);

test("an agent that stands still for a time is named with that time, although the others continue", LIMIT, async () => {
  await withAgents(2, async ([, stopped]) => {
    await using server = await new KserveServer({ onInfer: wait }).start();
    const reports = `onRecord: ({ level }) => level?.isWarmup === false && console.error("MEASURED"),`;
    const file = writeScenario(server.url, `hold(4, { for: "7 s" })`, reports);
    const report = join(folder, "still.json");
    const measured = Promise.withResolvers<void>();
    const running = runRampart(["run", file, "--bus", nats.url, "--agents", "2", "--json", report], {
      cwd: folder,
      onStderr: (printed) => {
        if (printed.split("MEASURED").length > 50) measured.resolve();
      },
    });
    // The window has begun: it waits for all agents to begin, which takes any time on a busy machine.
    await Promise.race([measured.promise, running]);
    const startMs = performance.now();
    stopped?.signal("SIGSTOP");
    await sleepMs(2000);
    stopped?.signal("SIGCONT");
    const stoppedSec = (performance.now() - startMs) / 1000;
    const { code, stdout, stderr } = await running;
    assert.equal(code, 0, `${stdout}\n${stderr}`);
    const { notes } = JSON.parse(readFileSync(report, "utf8"));
    const note = notes.find((one: { readonly code: string }) => one.code === "agent-stood-still");
    const times = new RegExp(`${stopped?.name} from ([\\d.]+) s to ([\\d.]+) s \\(([\\d.]+) s\\)`).exec(
      note?.text ?? "",
    );
    const [fromSec = 0, toSec = 0, lengthSec = 0] = (times ?? []).slice(1).map(Number);
    assert.ok(Math.abs(toSec - fromSec - lengthSec) < 0.11, note?.text);
    // It may stand still for longer on a busy machine.
    assert.ok(
      lengthSec > 1.8 && lengthSec < stoppedSec + 2 && toSec <= 10,
      `${note?.text}, stopped for ${stoppedSec} s`,
    );
  });
});

test("the function of generate is called once, by the conductor, whoever sends what it makes", LIMIT, async () => {
  await withAgents(2, async () => {
    await using server = await new KserveServer({}).start();
    const file = join(folder, "made.ts");
    const text = `import { threadId } from "node:worker_threads";
import { defineScenario, hold, input, mix, triton } from "rampart";
const make = async function* () {
  for (let n = 0; n < 10; n++) yield { tensors: { INPUT0: Array(16).fill(n), INPUT1: Array(16).fill(threadId) } };
};
const target = triton("${server.url}", { model: "simple" });
export default defineScenario({
  name: "made",
  load: hold(4, { requests: 40 }),
  TARGET
});
`;
    const alone = text.replace("TARGET", "target, inputs: input.generate(make),");
    const member = "{ name: NAME, target, inputs: input.generate(make) }";
    const members = ["a", "b"].map((name) => member.replace("NAME", JSON.stringify(name)));
    const mixed = text.replace("TARGET", `target: mix([${members}]),`);
    for (const [scenario, options] of [
      [alone, ["--bus", nats.url, "--agents", "2"]],
      [mixed, ["--workers", "2"]],
    ] as const) {
      writeFileSync(file, scenario);
      const before = server.infers.length;
      const { code, stderr } = await runRampart(["run", file, ...options], { cwd: folder });
      assert.equal(code, 0, stderr);
      const sent = server.infers.slice(before).map(({ binary }) => Buffer.from(binary));
      // Senders are threads with other numbers.
      assert.deepEqual([...new Set(sent.map((bytes) => bytes.readInt32LE(64)))], [0]);
      // Each of the ten four times, divided among the senders; in a mix twice for each member.
      assert.deepEqual(
        sent.map((bytes) => bytes.readInt32LE(0)).sort((a, b) => a - b),
        Array.from({ length: 40 }, (_, at) => Math.floor(at / 4)),
      );
    }
  });
});

/** The limits of Linux. */
const LINUX = { ...LIMIT, skip: process.platform === "linux" ? false : "ulimit is that of Linux" };

test("the limits of a load are those of the agents, by name, whatever the conductor's", LINUX, async () => {
  const few = ["sh", "-c", 'ulimit -n 300 && exec "$@"', "sh"];
  const setup = { folder, busUrl: nats.url };
  await withAgentProcesses({ ...setup, count: 1, enter: few }, ([least]) =>
    withAgents(1, async () => {
      await using server = await new KserveServer({}).start();
      const warned = await run(writeScenario(server.url, "steps([2, 2000], { requests: 50 })"), 2);
      assert.equal(warned.code, 66, warned.stderr);
      const why = new RegExp(
        `the 2 agents' limit of (\\d+): the agent ${least?.name} may open 300 files\\. Raise that limit where the agent starts`,
        "g",
      );
      const text = `${warned.stdout}\n${warned.stderr}`;
      const [first] = text.matchAll(why);
      const limit = Number(first?.[1]);
      // Of 300 files some are for other things than connections; each agent has half of the load.
      assert.ok(limit > 400 && limit < 600 && limit % 2 === 0, text);
      assert.match(text, / before 2,000 requests in flight/);
      assert.match(text, /the load needs 2,000 requests in flight, above the 2 agents' limit/);
    }),
  );
  // Its own files are not those of its agents.
  await withAgents(2, async () => {
    await using server = await new KserveServer({}).start();
    const { code, stdout, stderr } = await run(writeScenario(server.url, "steps([2, 600], { requests: 600 })"), 2, {
      enter: few,
    });
    assert.equal(code, 0, `${stdout}\n${stderr}`);
    assert.doesNotMatch(stderr, /limit/);
  });
});

/** Times of 1 to 40 ms, in an order that looks like none. */
const scattered = (): (() => Promise<undefined>) => {
  let count = 0;
  return async () => {
    await sleepMs(1 + ((count++ * 17) % 40));
    return undefined;
  };
};

test(
  "the percentiles of the joined report are those of all single requests, which the conductor writes",
  LIMIT,
  async () => {
    await withAgents(2, async () => {
      await using server = await new KserveServer({ onInfer: scattered() }).start();
      const file = writeScenario(server.url, "hold(6, { requests: 400 })");
      const [report, records, exported] = [join(folder, "r.json"), join(folder, "r.jsonl"), join(folder, "p.json")];
      const files = ["--json", report, "--records", records, "--profile-export-file", exported];
      const { code, stderr } = await runRampart(["run", file, "--bus", nats.url, "--agents", "2", ...files]);
      assert.equal(code, 0, stderr);
      const lines = readFileSync(records, "utf8").trimEnd().split("\n");
      const timesUs = lines
        .map((line) => JSON.parse(line).metrics.request_latency.value * 1000)
        .sort((a: number, b: number) => a - b);
      assert.equal(timesUs.length, 400);
      const { latencyUs } = JSON.parse(readFileSync(report, "utf8")).levels[0].metrics;
      const mean = timesUs.reduce((sum: number, one: number) => sum + one, 0) / timesUs.length;
      assert.ok(Math.abs(latencyUs.mean - mean) < 0.01, `${latencyUs.mean} and ${mean}`);
      // The nearest one, in whole microseconds below a second.
      for (const percent of [1, 5, 10, 25, 50, 75, 90, 95, 99]) {
        const exactUs = timesUs[Math.round((percent / 100) * (timesUs.length - 1))] ?? 0;
        assert.ok(
          Math.abs(latencyUs[`p${percent}`] - exactUs) <= 1,
          `p${percent}: ${latencyUs[`p${percent}`]}, ${exactUs}`,
        );
      }
      const { experiments } = JSON.parse(readFileSync(exported, "utf8"));
      assert.equal(experiments[0].requests.length, 400);
      assert.equal(server.successCount, 400);
    });
  },
);

test("agents for one run take its repetitions too, and then end", LIMIT, async () => {
  const use = async (agents: readonly AgentProcess[]): Promise<void> => {
    await using server = await new KserveServer({}).start();
    const file = writeScenario(server.url, "hold(2, { requests: 20 })", "\n  repeat: 3,");
    const { code, stderr } = await run(file, 2);
    assert.equal(code, 0, stderr);
    assert.equal(server.successCount, 60);
    assert.deepEqual(await Promise.all(agents.map((agent) => agent.end())), [0, 0]);
  };
  await withAgents(2, use, ["--once"]);
});

test("an agent for one run ends with 69 when the run is cancelled", LIMIT, async () => {
  const use = async ([agent]: readonly AgentProcess[]): Promise<void> => {
    await using server = await new KserveServer({ onInfer: wait }).start();
    const file = writeScenario(server.url, 'hold(2, { for: "60 s" })');
    let kill: () => void = () => {};
    const onStart = (signal: (name: NodeJS.Signals) => void): void => {
      kill = () => signal("SIGKILL");
    };
    const running = run(file, 1, { onStart });
    await server.until(() => server.successCount > 20);
    kill();
    await running;
    assert.equal(await agent?.end(), 69);
  };
  await withAgents(1, use, ["--once"]);
});

test("an agent that is killed ends the run, by name, within seconds", LIMIT, async () => {
  await withAgents(2, async ([first, second]) => {
    await using server = await new KserveServer({ onInfer: wait }).start();
    const file = writeScenario(server.url, 'hold(4, { for: "60 s" })');
    const running = run(file, 2);
    await server.until(() => server.successCount > 50);
    await second?.end("SIGKILL");
    const { code, stdout, stderr } = await running;
    assert.equal(code, 69, stderr);
    // That it is no result. Whether a row was measured depends on when the agent ended.
    assert.match(stdout, /^PARTIAL {2}agents: /m, stdout);
    assert.match(stderr, new RegExp(`the agent ${second?.name} is lost, .* 50 % of the load: .* 4 s`));
    await first?.says("the run ended");
  });
});

test("agents whose conductor is killed stop, and take the next run", LIMIT, async () => {
  await withAgents(1, async ([agent]) => {
    await using server = await new KserveServer({ onInfer: wait }).start();
    const file = writeScenario(server.url, 'hold(4, { for: "60 s" })');
    let kill: () => void = () => {};
    const running = run(file, 1, {
      onStart: (signal) => {
        kill = () => signal("SIGKILL");
      },
    });
    await server.until(() => server.successCount > 50);
    kill();
    await running;
    await agent?.says("the run was cancelled: its conductor is gone");
    const sentCount = server.infers.length;
    await new Promise((resolve) => setTimeout(resolve, 300));
    assert.equal(server.infers.length, sentCount, "it sends nothing more");
    const { code, stderr } = await run(writeScenario(server.url, "hold(2, { requests: 20 })"), 1);
    assert.equal(code, 0, stderr);
  });
});

/** Runs the scenario of 200 requests, whose `setup` says SET UP, by a launcher with three processes. */
async function launch(url: string, command: readonly string[], env: Readonly<Record<string, string>> = {}) {
  const file = writeScenario(url, "hold(4, { requests: 200 })");
  const setup = '  setup: () => console.error("SET UP"),\n  load:';
  writeFileSync(file, readFileSync(file, "utf8").replace("  load:", setup));
  const [launcher = "", ...options] = command;
  const child = spawn(launcher, [...options, "-n", "3", ...commandUnderTest, "run", file], {
    cwd: folder,
    env: { ...process.env, NO_COLOR: "", FORCE_COLOR: "", ...env },
    stdio: ["ignore", "pipe", "pipe"],
  });
  const texts = { stdout: "", stderr: "" };
  for (const name of ["stdout", "stderr"] as const)
    child[name].setEncoding("utf8").on("data", (text: string) => {
      texts[name] += text;
    });
  const [code] = (await once(child, "close")) as [number | null];
  assert.equal(code, 0, `${texts.stdout}\n${texts.stderr}`);
  assert.equal(texts.stdout.match(/ +1 +100 +0$/gm)?.length, 2, texts.stdout);
  assert.equal(texts.stderr.match(/SET UP/g)?.length, 1, texts.stderr);
  return texts;
}

test("the ranks of an MPI job run a scenario together: rank 0 reports, and setup runs once", LIMIT, async () => {
  await using server = await new KserveServer({}).start();
  const { stdout } = await launch(server.url, ensureOpenMpi());
  assert.match(stdout, /^\[1,0\]<stdout>:PASSED {2}agents.* 200 requests/m);
  assert.doesNotMatch(stdout, /^\[1,[12]\]/m);
  assert.equal(server.successCount, 200);
});

test(
  "why a run does not begin is said by rank 0, with its exit code, although other ranks start later",
  LIMIT,
  async () => {
    const enter = [...ensureOpenMpi(), "-n", "3"];
    const { code, stderr } = await runRampart(["run", "missing.ts"], { cwd: folder, enter });
    assert.match(stderr, /^\[1,0\]<stderr>:rampart: missing\.ts: /m);
    assert.doesNotMatch(stderr, /^\[1,[12]\]/m);
    assert.equal(code, 64, stderr);
  },
);

test("so do the tasks of a step of Slurm, without MPI, and nothing is left of how they met", LIMIT, async () => {
  const slurm = await startSlurm();
  try {
    await using server = await new KserveServer({}).start();
    for (const mpi of ["none", "pmi2"]) {
      const { stdout } = await launch(server.url, ["srun", "--label", `--mpi=${mpi}`], slurm.env);
      assert.match(stdout, /^0: PASSED {2}agents.* 200 requests/m);
      assert.doesNotMatch(stdout, /^[12]: /m);
    }
    assert.equal(server.successCount, 400);
    assert.deepEqual(
      readdirSync(folder).filter((name) => name.startsWith(".rampart")),
      [],
    );
  } finally {
    await slurm.stop();
  }
});

test("a wrong address, login or number is one error, before anything is sent", LIMIT, async () => {
  const file = writeScenario("127.0.0.1:1", "hold(1, { requests: 1 })");
  const wrong = await runRampart(["run", file, "--bus", "http://x", "--agents", "0"]);
  assert.equal(wrong.code, 64);
  assert.match(wrong.stderr, /--bus.*nats:\/\/HOST:4222/);
  assert.match(wrong.stderr, /--agents/);
  const login = await runRampart(["agent", "--bus", nats.url.replace("s3cret", "wrong-one")]);
  assert.equal(login.code, 69);
  assert.match(login.stderr, /cannot be used: .*uthorization/);
  assert.ok(!`${login.stderr}${login.stdout}`.includes("wrong-one"));
  const none = await runRampart(["agent"]);
  assert.equal(none.code, 64);
  assert.match(none.stderr, /--bus: is needed/);
  const few = await runRampart(["run", file, "--bus", nats.url, "--agents", "2", "--agents-wait", "500ms"]);
  assert.equal(few.code, 69);
  assert.match(few.stderr, /2 agents are needed, and 0 came within 0.5 s/);
});
