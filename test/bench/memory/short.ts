import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { REPORT_FLAGS } from "../../cli/report-flags.ts";
import { makeFolder } from "../../make-folder.ts";
import type { Stub } from "../../servers/stub.ts";
import { userFlags, type Way } from "../clients.ts";
import { slopeMbPerHour, watchMemory } from "./watch.ts";

const GROWTH_LIMIT_MB = 30;
const PEAK_LIMIT_MB = 250;
const SETTLE_S = 10;
const SAMPLE_S = 0.5;
const SLOPE_S = 60;

/** A run at full speed whose memory is looked at. */
interface MemoryCase {
  readonly title: string;
  readonly way: Way;
  args(stub: Stub, durationS: number, folder: string): string[];
}

/** Windows of 6 s that never count as stable, more of them than the time allows. */
function windowsOf(way: Way): MemoryCase {
  const endless = ["-s", "0.0001", "-r", "1000"];
  const flagsOf = (stub: Stub, durationS: number): string[] =>
    userFlags({ way, concurrency: 16 }, stub, { windowMs: 5000, durationS });
  return { title: way, way, args: (stub, durationS) => ["perf_analyzer", ...flagsOf(stub, durationS), ...endless] };
}

/** One level of the whole time, which is longer than the time that is looked at. @param options for a file in a folder */
function levelWith(title: string, options: readonly string[]): MemoryCase {
  return {
    title,
    way: "http",
    args: ({ httpPort }, durationS, folder) => {
      const body = join(folder, "body.json");
      const data = Array.from({ length: 16 }, (_, at) => at);
      const inputs = ["INPUT0", "INPUT1"].map((name) => ({ name, shape: [1, 16], datatype: "INT32", data }));
      writeFileSync(body, JSON.stringify({ inputs }));
      const files = options.flatMap((option) => [option, join(folder, option.slice(2))]);
      const url = `http://127.0.0.1:${httpPort}/v2/models/simple/infer`;
      return ["http", url, "-c", "16", "-d", `@${body}`, "--for", `${durationS}s`, "-q", ...files];
    },
  };
}

const CASES: readonly MemoryCase[] = [
  windowsOf("http"),
  windowsOf("grpc"),
  levelWith("http with all reports", REPORT_FLAGS),
  levelWith("http with files of all requests", ["--records", "--profile-export-file"]),
];

/**
 * Runs the executable at full speed, over HTTP and gRPC, with reports and with files of single requests, and compares its memory after the first
 * 10 s with the highest later. Gives the exit code: 1 when it grew by 30 MB or more while the load lasted, or was 250 MB or more.
 */
export async function measureMemory(executable: string, stub: Stub, durationS: number): Promise<number> {
  let exitCode = 0;
  for (const { title, way, args } of CASES) {
    await stub.reset();
    const folder = makeFolder();
    const memory = await sampleMemory([executable, ...args(stub, durationS, folder)], durationS);
    const counter = await stub.counter();
    const growthMb = memory.highestMb - memory.settledMb;
    const passed = growthMb < GROWTH_LIMIT_MB && memory.peakMb < PEAK_LIMIT_MB && memory.samples > 1;
    if (!passed) exitCode = 1;
    // A shorter one shows only when garbage was collected.
    const slope = durationS < SLOPE_S ? "" : `slope ${memory.slopeMbPerHour.toFixed(1)} MB/h, `;
    const course = `${memory.settledMb.toFixed(1)} MB after 10 s, at most ${memory.highestMb.toFixed(1)} MB later, ${slope}peak with the report ${memory.peakMb.toFixed(1)} MB`;
    const verdict = `growth ${growthMb.toFixed(1)} MB of ${GROWTH_LIMIT_MB} allowed: ${passed ? "PASS" : "FAIL"}`;
    console.log(
      `memory, ${title}, ${durationS} s, ${counter[way].toLocaleString("en")} requests: ${course}; ${verdict}`,
    );
  }
  return exitCode;
}

/** Time for the report. */
const REPORT_S = 30;

/** `highestMb` and `slopeMbPerHour` are of the load after 10 s, `peakMb` of all. */
type Course = { settledMb: number; highestMb: number; slopeMbPerHour: number; peakMb: number; samples: number };

async function sampleMemory(command: readonly string[], durationS: number): Promise<Course> {
  // Windows without end are ended.
  const isPerfAnalyzer = command[1] === "perf_analyzer";
  const limitSec = durationS + (isPerfAnalyzer ? 0 : REPORT_S);
  const { samples, peakMb } = await watchMemory(command, { everySec: SAMPLE_S, limitSec });
  const load = samples.filter(([sec]) => sec >= SETTLE_S && sec < durationS);
  const highestMb = Math.max(...load.map(([, mb]) => mb));
  const settledMb = load[0]?.[1] ?? Number.NaN;
  return { settledMb, highestMb, slopeMbPerHour: slopeMbPerHour(load).slope, peakMb, samples: load.length };
}
