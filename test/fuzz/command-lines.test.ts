import { after, before, describe, test } from "node:test";
import fc from "fast-check";
import { flagsOf, SUBCOMMANDS } from "../../src/cli/genai-perf/options/subcommands.ts";
import { OPTIONS } from "../../src/cli/perf-analyzer/options/table.ts";
import { LIMIT } from "../time-limit.ts";
import { type AnsweringKserve, startHttp } from "./answering-kserve.ts";
import { fewerRuns } from "./bounds.ts";
import { assertEndsWell, CODES, runDoor } from "./command.ts";

/** Command lines of random flags and values: a plan or clear errors with a documented exit code. Nothing is sent. */

const VALUES =
  '0 1 2 -1 1.5 1e400 nan inf 99999999999999999999999 x 1:2 1:2:3:4 2:1 : , a:b a,b {} [ {"a":1} a: :a IN:2 IN:-1 IN:99999999999 __proto__:1 __proto__ constructor http://x:1/y http://[ ::1 localhost:99999 /dev/null /nonexistent none http grpc true None on off count_windows time_windows poisson random zero system OFF triton openai chat ü -- - = % name:value:type a:1:int a:1e400:double b:x:bool 5s'.split(
    " ",
  );
const value = fc.oneof({ arbitrary: fc.constantFrom("", " ", "a\nb", ...VALUES), weight: 6 }, fc.string());

let server: AnsweringKserve<string>;
before(async () => {
  server = await startHttp();
});
after(() => server.stop());

describe("fuzz: command lines", () => {
  test("perf_analyzer's", LIMIT, async () => {
    // MPI is looked for on the machine; help ends everything.
    const options = OPTIONS.filter(({ names }) => !["--enable-mpi", "--help"].includes(names[0]));
    const part = fc.tuple(fc.constantFrom(...options), value, fc.nat({ max: 19 })).map(([option, text, dice]) => {
      if (dice === 0) return [text].filter((one) => one !== "--");
      return option.value === undefined || dice === 1 ? [option.names[0]] : [option.names[0], text];
    });
    await fc.assert(
      fc.asyncProperty(fc.array(part, { maxLength: 6 }), async (parts) => {
        const args = ["perf_analyzer", "--dry-run", "-m", "m", "-u", server.url, ...parts.flat()];
        assertEndsWell(await runDoor(args), CODES.perfAnalyzer, args.join(" "));
      }),
      fewerRuns(1),
    );
  });

  test("genai-perf's", LIMIT, async () => {
    const line = fc.constantFrom(...SUBCOMMANDS).chain((subcommand) => {
      const part = fc
        .tuple(fc.constantFrom(...flagsOf(subcommand)), value, fc.nat({ max: 19 }))
        .map(([flag, text, dice]) => {
          if (dice === 0) return [text];
          return flag.count === "switch" || dice === 1 ? [flag.names[0] as string] : [flag.names[0] as string, text];
        });
      return fc.tuple(fc.constant(subcommand), fc.array(part, { maxLength: 6 }));
    });
    await fc.assert(
      fc.asyncProperty(line, async ([subcommand, parts]) => {
        // Without a template's or a merge's required flags: those write files.
        const isMeasuring = subcommand === "profile" || subcommand === "analyze";
        if (subcommand === "create-template") return;
        const least = isMeasuring ? ["--dry-run", "-m", "m", "--tokenizer", "none", "-u", server.url] : [];
        const args = ["genai-perf", subcommand, ...least, ...parts.flat()];
        assertEndsWell(await runDoor(args), CODES.genaiPerf, args.join(" "));
      }),
      fewerRuns(1),
    );
  });

  test("rampart's own", LIMIT, async () => {
    const part = fc.constantFrom(
      "run",
      "--url",
      "--json",
      "--csv",
      "--client",
      "--stall-timeout",
      "--dry-run",
      "-v",
      "--nope",
    );
    await fc.assert(
      fc.asyncProperty(fc.array(fc.oneof(part, value), { maxLength: 5 }), async (parts) => {
        const args = ["run", ...parts, "--dry-run"];
        assertEndsWell(await runDoor(args), CODES.own, args.join(" "));
      }),
      fewerRuns(2),
    );
  });
});
