import type { BusPlan } from "../plan/plan.ts";
import { type Problem, problem, UserError } from "../plan/problem.ts";
import { checkBus } from "../registry/check-plan.ts";
import { EXIT } from "../result/exit-codes.ts";
import { startAgent } from "../run/fleet/bus/agent.ts";
import type { CommandIo } from "./execute.ts";
import { flagCommand } from "./explain-errors.ts";
import type { Flag, FlagValues } from "./flags.ts";
import type { HelpPage } from "./help/page.ts";
import { putValue } from "./options/place.ts";
import type { Door } from "./options/shared-option.ts";
import { commandFlags, readShared } from "./shared-flags.ts";

/** `rampart agent`: sends the load of runs of other hosts. */

/** Its options. */
export const FLAGS: readonly Flag[] = commandFlags("agent", [
  { name: "once", help: "End after one run, with its repetitions, instead of waiting for the next one." },
]);

/** Longest time between two repetitions of a scenario. */
const REPETITION_MS = 5000;

/** The command. */
export const COMMAND = flagCommand({ page: helpPage, run: runAgentCommand });

/** Waits for runs until Ctrl-C, or for one. Returns the exit code. */
async function runAgentCommand(flags: FlagValues, io: CommandIo): Promise<number> {
  const { promise: over, resolve: end } = Promise.withResolvers<number>();
  io.onInterrupt(() => end(EXIT.passed));
  let ending: ReturnType<typeof setTimeout> | undefined;
  const agent = await startAgent(readBus(flags, "agent", [...flags.problems]), {
    ready: (name) => io.out(`agent ${name}: waiting for runs; Ctrl-C stops\n`),
    began: () => {
      clearTimeout(ending);
      io.out("a run began\n");
    },
    ended: (reason) => {
      io.out(reason === undefined ? "the run ended\n" : `the run was cancelled: ${reason}\n`);
      const code = reason === undefined ? EXIT.passed : EXIT.unreachable;
      if (flags.has("once")) ending = setTimeout(() => end(code), REPETITION_MS);
    },
  });
  const code = await over;
  clearTimeout(ending);
  await agent.close();
  return code;
}

/** Reads the bus, which is required. @param problems problems of the command so far @throws UserError with all problems */
export function readBus(flags: FlagValues, door: Door, problems: Problem[]): BusPlan {
  const settings: { client?: { bus?: object } } = {};
  for (const [setting, value] of readShared(flags, door, problems)) putValue(settings, setting, value);
  const { bus } = settings.client ?? {};
  const hint = "Give the NATS server on which runs are announced: nats://USER:PASSWORD@HOST:4222.";
  if (!flags.has("bus")) problems.push(problem("missing", "--bus", "is needed", hint));
  if (problems.length > 0) throw new UserError(problems);
  return checkBus(bus);
}

function helpPage(command: string): HelpPage {
  return {
    usage: [`${command} --bus URL`],
    about: [
      "Waits on a NATS server for runs with --bus, and sends their load from this host, one run at a time. An agent runs the code of scenarios: the server must require a login.",
    ],
    flags: FLAGS,
    exitCodes:
      "0 stopped, or the run of --once ended; 64 wrong usage; 69 the bus cannot be used, or that run was cancelled.",
  };
}
