import { posix } from "node:path";
import { topicsByKind } from "../../src/cli/help/topics.ts";
import { formatTable } from "./table.ts";

/** The list of all guides, made from the topics of `rampart help`. */

const HERE = "scenarios/guide";

/** A table of pages for each kind, as Markdown. */
export function listPages(): string {
  return topicsByKind()
    .map(([kind, topics]) => {
      const rows = topics.map(({ name, guide, summary }) => [`[${name}](${posix.relative(HERE, guide)})`, summary]);
      return `**${kind}**\n\n${formatTable(["topic", "what it says"], rows)}`;
    })
    .join("\n\n");
}
