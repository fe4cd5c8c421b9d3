import type { BusPlan } from "../plan/plan.ts";
import { type Problem, problem, UserError } from "../plan/problem.ts";
import { checkBus } from "../registry/check-plan.ts";
import { EXIT } from "../result/exit-codes.ts";
import { startAgent } from "../run/fleet/bus/agent.ts";
import { commandOf } from "./command-usage.ts";
import type { CommandIo } from "./execute.ts";
import { explainErrors } from "./explain-errors.ts";
import { type Flag, type FlagValues, formatFlags, parseFlags } from "./flags.ts";
import { putValue } from "./options/place.ts";
import { commandFlags, readShared } from "./shared-flags.ts";

/** `rampart agent`: sends the load of runs of other hosts. */

/** Its options. */
export const FLAGS: readonly Flag[] = commandFlags("agent", []);

/** The command. */
export const COMMAND = commandOf(FLAGS, runAgentCommand);

/** Waits for runs until Ctrl-C. Returns the exit code. */
export async function runAgentCommand(args: readonly string[], command: string, io: CommandIo): Promise<number> {
  return explainErrors(command, io, async () => {
    const flags = parseFlags(FLAGS, args, 0);
    if (flags.has("help")) {
      io.out(formatHelp(command));
      return EXIT.passed;
    }
    const interrupted = new Promise<void>((resolve) => {
      io.onInterrupt(() => resolve());
    });
    const agent = await startAgent(readBus(flags), {
      ready: (name) => io.out(`agent ${name}: waiting for runs; Ctrl-C stops\n`),
      began: () => io.out("a run began\n"),
      ended: (reason) => io.out(reason === undefined ? "the run ended\n" : `the run was cancelled: ${reason}\n`),
    });
    await interrupted;
    await agent.close();
    return EXIT.passed;
  });
}

/** @throws UserError with all problems */
function readBus(flags: FlagValues): BusPlan {
  const problems: Problem[] = [...flags.problems];
  const settings: { client?: { bus?: object } } = {};
  for (const [setting, value] of readShared(flags, "agent", problems)) putValue(settings, setting, value);
  const { bus } = settings.client ?? {};
  const hint = "Give the NATS server on which runs are announced: nats://USER:PASSWORD@HOST:4222.";
  if (!flags.has("bus")) problems.push(problem("missing", "--bus", "is needed", hint));
  if (problems.length > 0) throw new UserError(problems);
  return checkBus(bus);
}

function formatHelp(command: string): string {
  return [
    `Usage: ${command} --bus URL`,
    "",
    "Waits on a NATS server for runs with --bus, and sends their load from this host, one run at a time.",
    "An agent runs the code of scenarios: the server must ask its users who they are.",
    "",
    formatFlags(FLAGS),
    "",
  ].join("\n");
}
