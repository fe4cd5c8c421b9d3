import { problem, UserError } from "../../plan/problem.ts";
import { EXIT } from "../../result/exit-codes.ts";
import { type LoadedCommand, usageOfFlags } from "../command-usage.ts";
import { explainErrors } from "../explain-errors.ts";
import { type Flag, HELP_FLAGS } from "../flags.ts";
import { formatHelpPage, type HelpPage } from "../help/page.ts";
import { COMMAND as MANIFEST } from "./manifest.ts";
import { COMMAND as POD } from "./pod.ts";

/** `rampart k8s …`: sends the load of a scenario from the pods of a Kubernetes cluster. */

const SUBCOMMANDS: Readonly<Record<string, LoadedCommand & { readonly summary: string }>> = {
  manifest: {
    summary: "print a manifest for kubectl apply: a Job whose pods send the load of a scenario",
    ...MANIFEST,
  },
  pod: {
    summary: "the program of each pod of that Job: the first one conducts, the others are agents",
    ...POD,
  },
};

/** Options before a subcommand. */
const FLAGS: readonly Flag[] = HELP_FLAGS;

/** The command. */
export const COMMAND: LoadedCommand = {
  usage: () => ({
    ...usageOfFlags(FLAGS),
    subcommands: Object.entries(SUBCOMMANDS).map(([name, { summary, usage }]) => ({
      ...usage(),
      ...{ name, summary: `${summary.charAt(0).toUpperCase()}${summary.slice(1)}.` },
    })),
  }),
  run: ([name, ...rest], command, io) => {
    const isKnown = name !== undefined && Object.hasOwn(SUBCOMMANDS, name);
    const subcommand = isKnown ? SUBCOMMANDS[name] : undefined;
    if (subcommand !== undefined) return subcommand.run(rest, `${command} ${name}`, io);
    return explainErrors(command, io, async () => {
      const hint = `Use one of ${Object.keys(SUBCOMMANDS).join(", ")}.`;
      if (name === undefined) throw new UserError(problem("missing", "SUBCOMMAND", "is not given", hint));
      if (!["--help", "-h", "--help-all"].includes(name))
        throw new UserError(problem("unknown-name", "SUBCOMMAND", "is not known", hint, name));
      io.out(formatHelpPage(helpPage(command), true));
      return EXIT.passed;
    });
  },
};

function helpPage(command: string): HelpPage {
  return {
    usage: [`${command} SUBCOMMAND [options]`],
    about: ["Sends the load of a scenario from the pods of a Kubernetes cluster. rampart help hosts is the guide."],
    lists: [
      {
        title: "Subcommands",
        rows: Object.entries(SUBCOMMANDS).map(([name, { summary }]) => [name, summary] as const),
      },
    ],
    flags: FLAGS,
  };
}
