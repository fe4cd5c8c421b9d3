import { formatCount, formatPct, nsToMs, plural, sum, usToMs } from "../../plan/units.ts";
import { type Check, type Finding, ok, unknown, warning } from "./finding.ts";
import { type Host, readNumber } from "./host.ts";

/** Cores, memory and time of this machine. */

const MEBIBYTE = 2 ** 20;
const LEAST_MEMORY_BYTES = 512 * MEBIBYTE;
const REST_MS = 300;
const STEAL_PCT = 1;
const BUSY_PCT = 25;
const TICKS = 40;
const LATE_MS = 3;
const CLOCK_READS = 20_000;
const COARSE_NS = 1000;
const DRIFT_MS = 20;
/** Sources of the kernel's clock that a process reads without a system call. */
const FAST_SOURCES = ["tsc", "kvm-clock", "hyperv_clocksource_tsc_page", "arch_sys_counter", "xen"];

/** The checks, in the order of the report. */
export const CORE_CHECKS: readonly Check[] = [
  { name: "clock", run: checkClock },
  { name: "timers", run: checkTimers },
  { name: "cores", isLimit: true, run: checkCores },
  { name: "CPU quota", run: checkQuota },
  { name: "CPU frequency", run: checkFrequency },
  { name: "other programs", run: checkOthers },
  { name: "memory", run: checkMemory },
];

function checkClock({ clock, read }: Host): Finding {
  let stepNs = Number.POSITIVE_INFINITY;
  let last = clock.nowNs();
  for (let index = 0; index < CLOCK_READS; index++) {
    const now = clock.nowNs();
    if (now > last) stepNs = Math.min(stepNs, now - last);
    last = now;
  }
  const resolutionNs = Number.isFinite(stepNs) ? Math.round(stepNs) : undefined;
  const source = read("/sys/devices/system/clocksource/clocksource0/current_clocksource")?.trim();
  const values = { resolutionNs, source };
  const named = source === undefined ? "source unknown" : `source ${source}`;
  if (resolutionNs === undefined || resolutionNs > COARSE_NS)
    return warning(
      `the monotonic clock has steps of ${resolutionNs ?? "many"} ns (${named})`,
      "Short latencies are rounded to that: use another machine or runtime for them",
      values,
    );
  if (source !== undefined && !FAST_SOURCES.includes(source))
    return warning(
      `the monotonic clock is slow to read (${named})`,
      "Boot with clocksource=tsc, if the machine's tsc is stable",
      values,
    );
  return ok(`monotonic, steps of ${resolutionNs} ns (${named})`, values);
}

/** Measures how late timers are while nothing else runs in this process, and whether the wall clock steps meanwhile. */
async function checkTimers({ clock, wallMs }: Host): Promise<Finding> {
  const lateMs: number[] = [];
  const startNs = clock.nowNs();
  const startMs = wallMs();
  for (let index = 0; index < TICKS; index++) {
    const before = clock.nowNs();
    await new Promise<void>((resolve) => void clock.after(1, resolve));
    lateMs.push(nsToMs(clock.nowNs() - before) - 1);
  }
  const driftMs = wallMs() - startMs - nsToMs(clock.nowNs() - startNs);
  lateMs.sort((a, b) => a - b);
  const [median = 0, most = 0] = [lateMs[TICKS / 2], lateMs[TICKS - 1]];
  const values = { medianLateMs: round(median), mostLateMs: round(most), wallClockDriftMs: round(driftMs) };
  if (Math.abs(driftMs) > DRIFT_MS)
    return warning(
      `the wall clock moved ${round(driftMs)} ms against the monotonic clock`,
      "Wait until the time service has set it; latencies use the monotonic clock and are right",
      values,
    );
  const said = `a timer of 1 ms is ${round(median)} ms late, at most ${round(most)} ms`;
  if (median > LATE_MS) return warning(said, "Other programs use the cores, or they sleep deeply: free a core", values);
  return ok(said, values);
}

function checkCores({ coreCount }: Host): Finding {
  const values = { cores: coreCount };
  if (coreCount > 1) return ok(`${coreCount} cores`, values);
  return warning("1 core", "Give the client two: with one, its own threads wait for each other", values);
}

/** Checks the limit of a container. Source: the kernel's documentation of cgroups, versions 2 and 1. */
function checkQuota(host: Host): Finding {
  if (host.platform !== "linux") return unknown("this system has no control groups");
  const folder = /^0::(\/.*)$/m.exec(host.read("/proc/self/cgroup") ?? "")?.[1] ?? "/";
  const root = "/sys/fs/cgroup";
  const group = `${root}${folder === "/" ? "" : folder}`;
  const [quota, period] = (host.read(`${group}/cpu.max`) ?? host.read(`${root}/cpu.max`) ?? "").trim().split(" ");
  const quotaUs = quota === "" ? readNumber(host, `${root}/cpu/cpu.cfs_quota_us`) : Number(quota);
  const periodUs = quota === "" ? readNumber(host, `${root}/cpu/cpu.cfs_period_us`) : Number(period);
  if (quota === "max" || quotaUs === undefined || periodUs === undefined || !(quotaUs > 0)) return ok("none");
  const cores = quotaUs / periodUs;
  return warning(
    `this control group may use ${round(cores)} ${plural(round(cores), "core")}, and stops for the rest of each ${round(usToMs(periodUs))} ms when they are used up`,
    "Remove the limit (a Kubernetes pod: no CPU limit, or whole cores with the static CPU manager)",
    { cores: round(cores) },
  );
}

function checkFrequency({ read }: Host): Finding {
  const governor = read("/sys/devices/system/cpu/cpu0/cpufreq/scaling_governor")?.trim();
  if (governor === undefined)
    return unknown("this system does not report a frequency governor (virtual machines have none)");
  if (governor === "performance") return ok("governor performance", { governor });
  return warning(
    `governor ${governor}: cores slow down between requests, which makes latencies longer`,
    "Set it: cpupower frequency-set -g performance",
    { governor },
  );
}

/** Measures the CPU time that other programs and other guests of the hypervisor use, while this process rests. */
async function checkOthers(host: Host): Promise<Finding> {
  const before = readCpuTicks(host);
  await new Promise<void>((resolve) => void host.clock.after(REST_MS, resolve));
  const after = readCpuTicks(host);
  if (before === undefined || after === undefined) return unknown("this system does not report the use of its cores");
  const total = after.total - before.total;
  if (total <= 0) return unknown("the use of the cores did not change while it was measured");
  const busyPct = round((100 * (after.busy - before.busy)) / total);
  const stealPct = round((100 * (after.steal - before.steal)) / total);
  const values = { busyPct, stealPct };
  if (stealPct > STEAL_PCT)
    return warning(
      `the hypervisor gave ${formatPct(stealPct / 100)} of the cores' time to other machines (steal)`,
      "Use a machine with cores of its own",
      values,
    );
  if (busyPct > BUSY_PCT)
    return warning(
      `they use ${formatPct(busyPct / 100)} of all cores`,
      "End them, or give the client cores of its own (taskset)",
      values,
    );
  return ok(`they use ${formatPct(busyPct / 100)} of all cores; steal ${formatPct(stealPct / 100)}`, values);
}

interface CpuTicks {
  readonly total: number;
  readonly busy: number;
  readonly steal: number;
}

/** Source: proc_stat(5): user, nice, system, idle, iowait, irq, softirq, steal, then guests, which are already part of user. */
function readCpuTicks({ read }: Host): CpuTicks | undefined {
  const line = /^cpu +(.*)$/m.exec(read("/proc/stat") ?? "")?.[1];
  if (line === undefined) return undefined;
  const ticks = line.split(" ").slice(0, 8).map(Number);
  const [, , , idle = 0, wait = 0, , , steal = 0] = ticks;
  const total = sum(ticks);
  return { total, busy: total - idle - wait - steal, steal };
}

function checkMemory({ read, totalMemoryBytes, freeMemoryBytes }: Host): Finding {
  const available = /^MemAvailable:\s+(\d+) kB/m.exec(read("/proc/meminfo") ?? "")?.[1];
  const freeBytes = available === undefined ? freeMemoryBytes : Number(available) * 1024;
  const limitText = read("/sys/fs/cgroup/memory.max")?.trim();
  const limitBytes = Number(limitText);
  const usedBytes = Number(read("/sys/fs/cgroup/memory.current")?.trim());
  const leftBytes = limitBytes - usedBytes >= 0 ? Math.min(freeBytes, limitBytes - usedBytes) : freeBytes;
  const values = { availableBytes: leftBytes, totalBytes: totalMemoryBytes };
  const said = `${formatCount(Math.round(leftBytes / MEBIBYTE))} MiB available of ${formatCount(Math.round(totalMemoryBytes / MEBIBYTE))} MiB`;
  if (leftBytes < LEAST_MEMORY_BYTES)
    return warning(said, "Free some: long runs and exports of every request need it", values);
  return ok(said, values);
}

function round(value: number): number {
  return Number(value.toFixed(2));
}
