import assert from "node:assert/strict";
import { test } from "node:test";
import { findLaunch } from "../../../src/runtime/launch/launcher.ts";

const STEP = { SLURM_JOB_ID: "17", SLURM_STEP_ID: "2", SLURM_STEP_NUM_TASKS: "4", SLURM_PROCID: "3" };
const TASK = { kind: "slurm", rank: 3, size: 4, step: "17.2" };

test("a process knows what started it together with others", () => {
  for (const [env, launch] of [
    [{}, undefined],
    [{ OMPI_COMM_WORLD_SIZE: "2" }, { kind: "mpi" }],
    [{ OMPI_COMM_WORLD_SIZE: "1" }, undefined],
    [STEP, TASK],
    // With a plugin for MPI, too.
    [{ ...STEP, PMIX_RANK: "3" }, TASK],
    [{ ...STEP, PMI_SIZE: "4", PMI_RANK: "3" }, TASK],
    // One task, such as an interactive shell.
    [{ ...STEP, SLURM_STEP_NUM_TASKS: "1" }, undefined],
    // mpirun starts its daemons as the tasks of a step, one for each host.
    [{ ...STEP, OMPI_COMM_WORLD_SIZE: "8" }, { kind: "mpi" }],
    [{ ...STEP, PMI_SIZE: "8" }, { kind: "mpi" }],
    // The script of a batch job.
    [{ SLURM_JOB_ID: "17", SLURM_NTASKS: "4", SLURM_PROCID: "0" }, undefined],
    [{ SLURM_JOB_ID: "17", SLURM_STEP_ID: "4294967291", SLURM_PROCID: "0" }, undefined],
  ] as const)
    assert.deepEqual(findLaunch(env), launch, JSON.stringify(env));
});
