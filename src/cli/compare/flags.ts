import { type Flag, HELP_FLAG } from "../flags.ts";
import { sharedFlags } from "../shared-flags.ts";

/** The flags of `rampart compare`. `--base` and `--new` take all files up to the next flag; `sides.ts` reads them. */
export const FLAGS: readonly Flag[] = [
  {
    name: "base",
    value: "FILE…",
    help: "The runs to compare with: all files up to the next flag. Instead of the first argument.",
  },
  {
    name: "new",
    value: "FILE…",
    help: "The runs of a candidate: all files up to the next flag; once for each candidate. Instead of the other arguments.",
  },
  {
    name: "fail-if",
    value: "LIMIT",
    help: "Exit with 65 when this is shown: 'p99 > +5%', 'throughput < -3%', 'timeToFirstToken.p99 > +10%', 'p99 > 25ms', 'errorRate > 1%'; may be given several times.",
  },
  { name: "strict", help: "Exit with 66 when a limit of --fail-if can be neither kept nor broken." },
  {
    name: "within-runs",
    help: "With one run on a side, take the confidence interval within the run, which lacks the variation between runs.",
  },
  {
    name: "precision",
    value: "PERCENT",
    default: "5%",
    help: "Smallest difference that matters: no difference is shown only when a larger one is excluded.",
  },
  {
    name: "all",
    help: "Show all metrics and notes. Without it: the metrics that changed or that --fail-if names; with one run on a side, the main ones.",
  },
  ...sharedFlags("compare"),
  HELP_FLAG,
];
