import type { ShownOption } from "../command-usage.ts";
import { firstSentence } from "../help/page.ts";
import { type Context, keyOf, LINKED_NAMES, listSteps, PROGRAMS } from "./contexts.ts";

/** Formats the completion script for fish. */
export function formatFish(contexts: readonly Context[]): string {
  const conditions = contexts.flatMap((context) => [
    ...formatWords(context),
    ...context.options.map((option) => completeFor(context, formatOption(option))),
  ]);
  return `# Completion of rampart for fish. Made by: rampart completion fish
function __rampart_at
  set -l words (commandline -opc)
  set -l path rampart
  switch (string replace -r '.*/' '' -- $words[1])
${LINKED_NAMES.map((name) => `    case ${quoteFish(name)}\n      set path ${quoteFish(`rampart ${name}`)}`).join("\n")}
  end
  for word in $words[2..-1]
    switch "$path $word"
      case ${listSteps(contexts).map(quoteFish).join(" ")}
        set path "$path $word"
    end
  end
  test "$path" = "$argv[1]"
end
for program in ${PROGRAMS.join(" ")}
  complete -c $program -f
${conditions.map((line) => `  ${line}`).join("\n")}
end
`;
}

function formatWords(context: Context): string[] {
  const { words, operand } = context;
  const lines = words.map(({ name, summary }) => `-a ${quoteFish(name)} -d ${quoteFish(summary)}`);
  if (operand?.choices !== undefined) lines.push(`-a ${quoteFish(operand.choices.join(" "))}`);
  if (operand?.takes === "file") lines.push("-F");
  if (operand?.takes === "folder") lines.push("-a '(__fish_complete_directories)'");
  return lines.map((line) => completeFor(context, line));
}

function completeFor(context: Context, rest: string): string {
  return `complete -c $program -n "__rampart_at ${quoteFish(keyOf(context))}" ${rest}`;
}

function formatOption({ names, value, choices, takes, help }: ShownOption): string {
  const spellings = names.map((name) => {
    if (name.startsWith("--")) return `-l ${quoteFish(name.slice(2))}`;
    return `${name.length === 2 ? "-s" : "-o"} ${quoteFish(name.slice(1))}`;
  });
  return [...spellings, ...offerValue(value, choices, takes), `-d ${quoteFish(firstSentence(help))}`].join(" ");
}

function offerValue(value: string | undefined, choices: ShownOption["choices"], takes: ShownOption["takes"]): string[] {
  if (value === undefined) return [];
  if (choices !== undefined) return [`-x -a ${quoteFish(choices.join(" "))}`];
  if (takes === "file") return ["-r -F"];
  return takes === "folder" ? ["-x -a '(__fish_complete_directories)'"] : ["-x"];
}

function quoteFish(text: string): string {
  return `'${text.replaceAll("\\", "\\\\").replaceAll("'", "\\'")}'`;
}
