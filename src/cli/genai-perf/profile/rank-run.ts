import { word } from "../../../plan/messages.ts";
import { problem, UserError } from "../../../plan/problem.ts";
import { joinPeers } from "../../../run/peers/join-peers.ts";
import type { Peers } from "../../../run/peers/peers.ts";
import type { CommandIo } from "../../execute.ts";
import { isPassed, type PassedFlags } from "../options/passed-flags.ts";

/** Profiles with ranks that mpirun starts, with `--enable-mpi` after `--`. */

const FLAG = "--enable-mpi";

/** Reports whether the flags after `--` request to measure with the other ranks of an MPI job. */
export function isOfRanks(passed: PassedFlags): boolean {
  return isPassed(passed, FLAG);
}

/**
 * Measures as one rank of an MPI job, or alone if mpirun did not start this process.
 * @param several reason why the command has several runs; undefined: it has one
 * @param body measures, and prints everything including errors, because mpirun may end this process when another rank
 * has failed
 * @throws UserError for a command with several runs
 */
export async function runAsRank(
  several: string | undefined,
  io: CommandIo,
  body: (peers: Peers) => Promise<number>,
): Promise<number> {
  if (several !== undefined) {
    const message = `${FLAG} after -- is for one run on all ranks, and ${several} can have another number of runs on each`;
    throw new UserError([problem("conflict", `-- ${FLAG}`, message, `Leave ${FLAG} or ${several} out.`)]);
  }
  const peers = await joinPeers(true, (line) => io.err(`${word(line, io.nameOf)}\n`));
  try {
    return await body(peers);
  } finally {
    await peers.close();
  }
}
