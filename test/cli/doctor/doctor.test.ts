// Runs on: bun, deno, node.
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, test } from "node:test";
import { CHECKS, judgeRate } from "../../../src/cli/doctor/checks.ts";
import { formatFindings, type NamedFinding, runCheck } from "../../../src/cli/doctor/command.ts";
import type { AskedLoad, Status } from "../../../src/cli/doctor/finding.ts";
import type { Host } from "../../../src/cli/doctor/host.ts";
import { LOOPBACK, startMock } from "../../../src/mock/server.ts";
import { DEFAULT_MOCK } from "../../../src/plan/mock.ts";
import { systemClock } from "../../../src/runtime/clock.ts";
import { runDoor } from "../../fuzz/command.ts";
import { makeFolder } from "../../make-folder.ts";

/** `rampart doctor`: each check on hosts as they can be, and the command on this one. */

type Files = Readonly<Record<string, string>>;

const LIMITS = (soft: string, hard = soft): Files => ({
  "/proc/self/limits": `Limit                     Soft Limit           Hard Limit           Units\nMax open files            ${soft}                 ${hard}              files\n`,
});
const PORTS: Files = { "/proc/sys/net/ipv4/ip_local_port_range": "32768\t60999\n" };
const sockets = (waiting: number): Files => ({
  "/proc/net/sockstat": `sockets: used 200\nTCP: inuse 10 orphan 0 tw ${waiting} alloc 12 mem 3\n`,
});
const SOMAXCONN: Files = { "/proc/sys/net/core/somaxconn": "128\n" };
const CLOCK = "/sys/devices/system/clocksource/clocksource0/current_clocksource";
const GOVERNOR = "/sys/devices/system/cpu/cpu0/cpufreq/scaling_governor";

/** A host of Linux with these files. A list is what a file holds from one reading to the next. */
function hostWith(files: Readonly<Record<string, string | readonly string[]>>, more: Partial<Host> = {}): Host {
  const readings = new Map<string, number>();
  return {
    read: (path) => {
      const text = files[path];
      const count = readings.get(path) ?? 0;
      readings.set(path, count + 1);
      return typeof text === "string" || text === undefined ? text : text[Math.min(count, text.length - 1)];
    },
    list: () => [],
    env: {},
    platform: "linux",
    kernel: "6.1",
    coreCount: 8,
    totalMemoryBytes: 2 ** 34,
    freeMemoryBytes: 2 ** 33,
    clock: systemClock,
    wallMs: () => Date.now(),
    ...more,
  };
}

/** A clock whose time moves by so much at each reading, and whose timers come so late. */
const clockOf = (stepNs: number, lateMs = 0): Host["clock"] => {
  let now = 0;
  return {
    ...systemClock,
    nowNs: () => (now += stepNs),
    after: (delayMs, action) => {
      now += (delayMs + lateMs) * 1e6;
      queueMicrotask(action);
      return () => {};
    },
  };
};

const stat = (busy: number, idle: number, steal: number): string =>
  `cpu  ${busy} 0 0 ${idle} 0 0 0 ${steal} 0 0\ncpu0 1 2 3\n`;
const quick = { clock: clockOf(100) };

interface Case {
  readonly check: string;
  readonly host: Host;
  readonly load?: Partial<AskedLoad>;
  readonly status: Status;
  readonly message: RegExp;
  readonly fix?: RegExp;
}

const CASES: readonly Case[] = [
  {
    check: "clock",
    host: hostWith({ [CLOCK]: "tsc\n" }, quick),
    status: "ok",
    message: /steps of 100 ns \(source tsc\)/,
  },
  {
    check: "clock",
    host: hostWith({ [CLOCK]: "hpet\n" }, quick),
    status: "warning",
    message: /slow.*hpet/,
    fix: /clocksource=tsc/,
  },
  { check: "clock", host: hostWith({}, { clock: clockOf(50_000) }), status: "warning", message: /steps of 50000 ns/ },
  {
    check: "timers",
    host: hostWith({}, { ...quick, wallMs: () => 0 }),
    status: "warning",
    message: /wall clock moved -/,
  },
  {
    check: "timers",
    host: hostWith({}, { ...late(0.5) }),
    status: "ok",
    message: /a timer of 1 ms is 0\.5 ms late, at most 0\.5 ms/,
  },
  { check: "timers", host: hostWith({}, { ...late(7) }), status: "warning", message: /7 ms late/, fix: /free a core/ },
  { check: "cores", host: hostWith({}), status: "ok", message: /^8 cores$/ },
  { check: "cores", host: hostWith({}, { coreCount: 1 }), status: "warning", message: /^1 core$/ },
  { check: "CPU quota", host: hostWith({ "/sys/fs/cgroup/cpu.max": "max 100000\n" }), status: "ok", message: /none/ },
  {
    check: "CPU quota",
    host: hostWith({ "/proc/self/cgroup": "0::/pod\n", "/sys/fs/cgroup/pod/cpu.max": "150000 100000\n" }),
    status: "warning",
    message: /may use 1\.5 cores/,
  },
  {
    check: "CPU quota",
    host: hostWith({
      "/sys/fs/cgroup/cpu/cpu.cfs_quota_us": "400000",
      "/sys/fs/cgroup/cpu/cpu.cfs_period_us": "100000",
    }),
    status: "warning",
    message: /may use 4 cores/,
  },
  { check: "CPU quota", host: hostWith({}, { platform: "darwin" }), status: "unknown", message: /no control groups/ },
  { check: "CPU frequency", host: hostWith({ [GOVERNOR]: "performance\n" }), status: "ok", message: /performance/ },
  {
    check: "CPU frequency",
    host: hostWith({ [GOVERNOR]: "powersave\n" }),
    status: "warning",
    message: /powersave/,
    fix: /cpupower/,
  },
  { check: "CPU frequency", host: hostWith({}), status: "unknown", message: /does not report/ },
  {
    check: "other programs",
    host: hostWith({ "/proc/stat": [stat(100, 900, 0), stat(110, 990, 0)] }, quick),
    status: "ok",
    message: /use 10 % of all cores; steal 0 %/,
  },
  {
    check: "other programs",
    host: hostWith({ "/proc/stat": [stat(0, 0, 0), stat(80, 20, 0)] }, quick),
    status: "warning",
    message: /use 80 %/,
  },
  {
    check: "other programs",
    host: hostWith({ "/proc/stat": [stat(0, 0, 0), stat(10, 85, 5)] }, quick),
    status: "warning",
    message: /5 % .*steal/,
  },
  { check: "other programs", host: hostWith({}, quick), status: "unknown", message: /does not report/ },
  {
    check: "memory",
    host: hostWith({ "/proc/meminfo": "MemAvailable:  2097152 kB\n" }),
    status: "ok",
    message: /2,048 MiB available of 16,384/,
  },
  {
    check: "memory",
    host: hostWith({ "/sys/fs/cgroup/memory.max": "1073741824\n", "/sys/fs/cgroup/memory.current": "1000000000\n" }),
    status: "warning",
    message: /^70 MiB available/,
  },
  {
    check: "open files",
    host: hostWith(LIMITS("1024", "4096")),
    status: "ok",
    message: /1,024 open files: enough for 960/,
  },
  { check: "open files", host: hostWith(LIMITS("1024")), load: { concurrency: 960 }, status: "ok", message: /960/ },
  {
    check: "open files",
    host: hostWith(LIMITS("1024", "4096")),
    load: { concurrency: 961 },
    status: "problem",
    message: /1024 open files are allowed, and 961 requests/,
    fix: /^Run ulimit -n 1025 first$/,
  },
  {
    check: "open files",
    host: hostWith(LIMITS("1024")),
    load: { concurrency: 961 },
    status: "problem",
    message: /961/,
    fix: /limits\.conf/,
  },
  {
    check: "open files",
    host: hostWith(LIMITS("1024")),
    load: { concurrency: 5000, protocol: "grpc" },
    status: "ok",
    message: /1,024/,
  },
  {
    check: "open files",
    host: hostWith(LIMITS("unlimited")),
    load: { concurrency: 1e6 },
    status: "ok",
    message: /unlimited/,
  },
  { check: "open files", host: hostWith({}), status: "unknown", message: /does not report/ },
  {
    check: "ephemeral ports",
    host: hostWith({ ...PORTS, ...sockets(7) }),
    status: "ok",
    message: /28,232 ephemeral ports, 7 in TIME_WAIT/,
  },
  {
    check: "ephemeral ports",
    host: hostWith(PORTS),
    load: { concurrency: 28_233 },
    status: "problem",
    message: /28232.*28233/,
    fix: /ip_local_port_range/,
  },
  {
    check: "ephemeral ports",
    host: hostWith({ ...PORTS, ...sockets(20_000) }),
    status: "warning",
    message: /20000 of 28232/,
    fix: /Wait a minute/,
  },
  {
    check: "ephemeral ports",
    host: hostWith(PORTS),
    load: { ratePerSec: 471 },
    status: "warning",
    message: /470 new connections per second/,
    fix: /tcp_tw_reuse/,
  },
  { check: "ephemeral ports", host: hostWith(PORTS), load: { ratePerSec: 470 }, status: "ok", message: /28,232/ },
  { check: "ephemeral ports", host: hostWith({}), status: "unknown", message: /does not report/ },
  {
    check: "listen backlog",
    host: hostWith(SOMAXCONN),
    load: { concurrency: 129 },
    status: "warning",
    message: /129 open at once/,
    fix: /somaxconn=129/,
  },
  {
    check: "listen backlog",
    host: hostWith(SOMAXCONN),
    load: { concurrency: 129, host: "gpu-host.example" },
    status: "ok",
    message: /128/,
  },
  { check: "listen backlog", host: hostWith({}), status: "unknown", message: /does not report/ },
  {
    check: "tokenizers",
    host: hostWith({}, { env: { HF_HUB_CACHE: "/hub" }, list: () => ["models--a--b", "version.txt"] }),
    status: "ok",
    message: /^1 model of HuggingFace's hub in \/hub$/,
  },
  {
    check: "tokenizers",
    host: hostWith({}, { env: { HF_HUB_CACHE: "/hub", HF_HUB_OFFLINE: "1" } }),
    status: "warning",
    message: /HF_HUB_OFFLINE forbids/,
  },
  { check: "GPU", host: hostWith({}), status: "ok", message: /none visible/ },
  {
    check: "GPU",
    host: hostWith(
      { "/proc/driver/nvidia/gpus/0000:01:00.0/information": "Model: \t NVIDIA H200\n" },
      { list: () => ["0000:01:00.0"] },
    ),
    status: "ok",
    message: /^1 visible: NVIDIA H200$/,
  },
];

/** The wall clock moves with the monotonic one. */
function late(lateMs: number): Pick<Host, "clock" | "wallMs"> {
  const clock = clockOf(0, lateMs);
  return { clock, wallMs: () => clock.nowNs() / 1e6 };
}

const checkOf = (name: string): (typeof CHECKS)[number] => {
  const check = CHECKS.find((one) => one.name === name);
  assert.ok(check, name);
  return check;
};

describe("a check", () => {
  for (const { check, host, load = {}, status, message, fix } of CASES)
    test(`${check}: ${status}, ${message.source}`, async () => {
      const finding = await runCheck(checkOf(check), host, { protocol: "http", ...load });
      assert.equal(finding.status, status, finding.message);
      assert.match(finding.message, message);
      assert.equal(finding.fix !== undefined, status === "warning" || status === "problem");
      if (fix !== undefined) assert.match(finding.fix ?? "", fix);
      const text = formatFindings([finding], true);
      assert.ok(!text.includes("undefined"));
      assert.ok(
        text.split("\n").every(({ length }) => length <= 80),
        text,
      );
    });

  test("that fails is unknown, and ends no other", async () => {
    const failing = { name: "x", run: () => Promise.reject(new Error("broken")) };
    const finding = await runCheck(failing, hostWith({}), { protocol: "http" });
    assert.deepEqual(finding, { check: "x", status: "unknown", message: "the check failed: broken" });
  });

  test("of the server opens connections", async () => {
    const server = await startMock(DEFAULT_MOCK, LOOPBACK, []);
    const load: AskedLoad = { host: "127.0.0.1", port: server.httpPort, protocol: "http" };
    const found = await runCheck(checkOf("server"), hostWith({}), load);
    await server.stop();
    assert.equal(found.status, "warning", found.message);
    assert.match(found.message, /takes connections in [\d.]+ ms, on this host/);
    const gone = await runCheck(checkOf("server"), hostWith({}), load);
    assert.equal(gone.status, "problem", gone.message);
  });
});

test("an asked rate is compared with the measured one", () => {
  assert.equal(judgeRate(1000).status, "ok");
  assert.equal(judgeRate(1000, 500).status, "ok");
  assert.equal(judgeRate(1000, 501).status, "warning");
  assert.equal(judgeRate(1000, 2000).status, "warning");
  assert.equal(judgeRate(1000, 2001).status, "problem");
});

test("the verdict comes first, then what there is to do, in 80 columns", () => {
  const findings: NamedFinding[] = [
    { check: "clock", status: "ok", message: "monotonic, steps of 40 ns (source tsc)" },
    { check: "CPU frequency", status: "unknown", message: "this system does not report a frequency governor" },
    {
      check: "other programs",
      status: "warning",
      message: "they use 100 % of all cores, and this sentence is long enough for two lines",
      fix: "End them, or give the client cores of its own (taskset)",
    },
  ];
  assert.equal(
    formatFindings(findings, true),
    `
OK  nothing prevents the asked load: no problems, 1 warning

warning  other programs  they use 100 % of all cores, and this sentence is long
                         enough for two lines
                         → End them, or give the client cores of its own
                         (taskset).
ok       clock           monotonic, steps of 40 ns (source tsc)
unknown  CPU frequency   this system does not report a frequency governor
`.trimStart(),
  );
  const problem: NamedFinding = { check: "open files", status: "problem", message: "too few", fix: "Raise it" };
  assert.match(
    formatFindings([...findings, problem], false),
    /^PROBLEM {2}this host cannot send the asked load as it is: 1 problem, 1 warning\n\nPROBLEM +open files/,
  );
});

test("without -v only what needs action and what limits this host is shown", () => {
  const fine: NamedFinding[] = [
    { check: "clock", status: "ok", message: "monotonic, steps of 40 ns (source tsc)" },
    { check: "cores", status: "ok", message: "4 cores" },
    { check: "CPU frequency", status: "unknown", message: "this system does not report a frequency governor" },
    { check: "self-test", status: "ok", message: "40,000 requests per second" },
  ];
  const shown = `
cores       4 cores
ok   self-test   40,000 requests per second

1 other check ok, 1 unknown on this system: -v shows them
`;
  assert.equal(
    formatFindings(fine, false),
    `OK  nothing prevents the asked load: no problems, no warnings\n\nok   ${shown.trimStart()}`,
  );
  const warned: NamedFinding = { check: "timers", status: "warning", message: "late", fix: "Free a core" };
  assert.match(
    formatFindings([...fine, warned], false),
    /1 warning\n\nwarning +timers +late\n +→ Free a core\.\nok +cores/,
  );
});

describe("rampart doctor", () => {
  test("measures this host, and says with 65 that a load is impossible", async () => {
    const folder = makeFolder();
    const { code, out } = await runDoor(["doctor", "--json", join(folder, "found.json"), "--rate", "1e12"]);
    assert.match(out, /^PROBLEM {2}this host cannot send the asked load/m);
    const text = readFileSync(join(folder, "found.json"), "utf8");
    const report = JSON.parse(text) as {
      isPossible: boolean;
      load: AskedLoad;
      findings: { check: string; status: Status; values?: Record<string, number> }[];
    };
    assert.deepEqual(
      report.findings.map(({ check }) => check),
      CHECKS.map(({ name }) => name),
    );
    assert.deepEqual(report.load, { protocol: "http", ratePerSec: 1e12 });
    const selfTest = report.findings.find(({ check }) => check === "self-test");
    assert.ok((selfTest?.values?.["requestsPerSec"] ?? 0) > 0, JSON.stringify(selfTest));
    assert.equal(selfTest?.status, "problem");
    assert.equal(report.isPossible, false);
    assert.equal(code, 65);
  });

  test("refuses all bad values at once", async () => {
    const { code, out, err } = await runDoor(["doctor", "--rate", "0", "--users", "1.5", "--url", "http://", "--xyz"]);
    assert.equal(code, 64);
    assert.equal(out, "");
    for (const name of ["--rate", "--users", "--url", "--xyz"]) assert.ok(err.includes(`rampart: ${name}: `), err);
  });

  test("takes the server as its argument, as other commands do, and only one", async () => {
    const bad = await runDoor(["doctor", "http://", "--rate", "0"]);
    assert.equal(bad.code, 64);
    assert.match(bad.err, /^rampart: the URL: is not an address \(got http:\/\/\)/m);
    const two = await runDoor(["doctor", "localhost:1", "--url", "localhost:2"]);
    assert.equal(two.code, 64);
    assert.match(two.err, /^rampart: --url: the argument is an address too/m);
  });
});
