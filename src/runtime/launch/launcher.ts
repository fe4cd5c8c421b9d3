import { isMpiRank } from "./mpi.ts";

/** The launcher that started this process together with others, which send one load together. */
export type Launch =
  /** The ranks of an MPI job. Only MPI knows their number. */
  | { readonly kind: "mpi" }
  /** The tasks of a step of Slurm. */
  | {
      readonly kind: "slurm";
      /** 0 to `size` - 1. */
      readonly rank: number;
      /** Number of tasks, 2 or more. */
      readonly size: number;
      /** Number of the job and of the step, such as `17.0`. It is unique in the cluster. */
      readonly step: string;
    };

/** Returns the launch of this process; undefined if the launcher started it alone, and without a launcher. */
export function findLaunch(env: Readonly<Record<string, string | undefined>> = process.env): Launch | undefined {
  const size = env["OMPI_COMM_WORLD_SIZE"] ?? env["PMI_SIZE"] ?? env["SLURM_STEP_NUM_TASKS"];
  if (size === "1") return undefined;
  const { SLURM_PROCID: rank, SLURM_JOB_ID: job, SLURM_STEP_ID: step } = env;
  // If mpirun runs in a step, the tasks of the step are its daemons, not these processes.
  const isTask = size !== undefined && size === env["SLURM_STEP_NUM_TASKS"];
  if (isTask && rank !== undefined && job !== undefined && step !== undefined)
    return { kind: "slurm", rank: Number(rank), size: Number(size), step: `${job}.${step}` };
  return isMpiRank(env) ? { kind: "mpi" } : undefined;
}
