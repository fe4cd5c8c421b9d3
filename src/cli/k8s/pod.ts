import { DEFAULT_AGENTS_WAIT_MS } from "../../plan/defaults.ts";
import type { BusPlan } from "../../plan/plan.ts";
import { type Problem, problem, RunError } from "../../plan/problem.ts";
import { msToNs, msToSec } from "../../plan/units.ts";
import { openNatsBus } from "../../run/fleet/bus/nats-bus.ts";
import { nowNs, sleepMs } from "../../runtime/clock.ts";
import { COMMAND as AGENT, readBus } from "../agent.ts";
import type { CommandIo } from "../execute.ts";
import { flagCommand } from "../explain-errors.ts";
import type { Flag, FlagValues } from "../flags.ts";
import type { HelpPage } from "../help/page.ts";
import { FLAGS as RUN_FLAGS, runScenarioCommand } from "../run.ts";

/** `rampart k8s pod`: the command of each pod of a Job from `rampart k8s manifest`. The image needs no shell. */

/** Options of the command: those of `rampart run`. */
export const FLAGS: readonly Flag[] = RUN_FLAGS;

/** Variable that Kubernetes sets in the pods of a Job with `completionMode: Indexed`. */
const INDEX = "JOB_COMPLETION_INDEX";
const CONDUCTOR = "0";

/** Time between two attempts to reach the bus, which starts at the same time as the pods. */
const RETRY_MS = 1000;

/** The subcommand. */
export const COMMAND = flagCommand({ page: helpPage, operand: { name: "SCENARIO", takes: "file" }, run: runPod });

/** Runs the command: conducts in the pod with the index 0, and else is an agent for one run. Returns the exit code. */
async function runPod(flags: FlagValues, io: CommandIo, command: string, args: readonly string[]): Promise<number> {
  const { bus, index } = readSettings(flags);
  await waitForBus(bus, io);
  if (index === CONDUCTOR) return runScenarioCommand(args, command, io);
  return AGENT.run([...busArguments(flags), "--once"], command, io);
}

/** @throws UserError with all problems */
function readSettings(flags: FlagValues): { readonly bus: BusPlan; readonly index: string } {
  const problems: Problem[] = [...flags.problems];
  const index = process.env[INDEX] ?? "";
  const hint = "rampart k8s manifest prints a Job that runs this command.";
  if (!/^\d+$/.test(index)) problems.push(problem("missing", INDEX, "is not set to the index of a pod", hint));
  return { bus: readBus(flags, "run", problems), index };
}

/** @throws RunError if the bus cannot be used in time */
async function waitForBus(bus: BusPlan, io: CommandIo): Promise<void> {
  const { waitMs = DEFAULT_AGENTS_WAIT_MS } = bus;
  const endNs = nowNs() + msToNs(waitMs);
  let isReported = false;
  for (;;) {
    try {
      const connection = await openNatsBus(bus, "rampart pod");
      return await connection.close();
    } catch (error) {
      if (!(error instanceof RunError) || nowNs() >= endNs) throw error;
      if (!isReported) io.err(`rampart: ${error.message}; trying again for ${msToSec(waitMs)} s\n`);
      isReported = true;
    }
    await sleepMs(RETRY_MS);
  }
}

/** Returns the options of the bus, which agents also have. */
function busArguments(flags: FlagValues): string[] {
  return FLAGS.flatMap(({ name }) => {
    const text = flags.text(name);
    return text === undefined || !/^bus(?:-|$)/.test(name) ? [] : [`--${name}=${text}`];
  });
}

function helpPage(command: string): HelpPage {
  return {
    usage: [`${command} SCENARIO --agents N --bus URL [options]`],
    about: [
      "The program of each pod of a Job that rampart k8s manifest prints: the pod with the index 0 (JOB_COMPLETION_INDEX) runs the scenario like rampart run, and the others are agents, which end after the run. It waits for the bus, which starts with the pods.",
    ],
    flags: FLAGS,
  };
}
