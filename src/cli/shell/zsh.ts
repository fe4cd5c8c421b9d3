import { firstSentence } from "../help/page.ts";
import {
  type Context,
  formatCase,
  LINKED_NAMES,
  listSteps,
  PROGRAMS,
  quote,
  type ValueCompletion,
  type Word,
} from "./contexts.ts";

const COMPLETES: ValueCompletion = {
  file: "_files; return",
  folder: "_files -/; return",
  word: "return",
  oneOf: (choices) => `compadd -- ${choices.map(quote).join(" ")}; return`,
};

/** Formats the completion script for zsh, which works as a file in `fpath` and with `source`. */
export function formatZsh(contexts: readonly Context[]): string {
  return `#compdef ${PROGRAMS.join(" ")}
# Completion of rampart for zsh. Made by: rampart completion zsh
_rampart() {
  local path_='rampart' previous=\${words[CURRENT-1]} current=\${words[CURRENT]} index
  local -a options_ words_
  case \${words[1]:t} in
${LINKED_NAMES.map((name) => `    ${quote(name)}) path_=${quote(`rampart ${name}`)};;`).join("\n")}
  esac
  for ((index = 2; index < CURRENT; index++)); do
    case "$path_ \${words[index]}" in
      ${listSteps(contexts).map(quote).join("|")}) path_+=" \${words[index]}";;
    esac
  done
  # The value of --option=value.
  if [[ $current == --*=* ]]; then
    previous=\${current%%=*}
    compset -P '*='
    current=\${current#*=}
  fi
  case $path_ in
${contexts.map(formatContext).join("\n")}
  esac
  if [[ $current == -* ]]; then _describe -o 'option' options_
  elif (( $#words_ )); then _describe 'command' words_
  fi
}
if [[ $funcstack[1] == _rampart ]]; then _rampart "$@"
elif (( $+functions[compdef] )); then compdef _rampart ${PROGRAMS.join(" ")}
fi
`;
}

function formatContext(context: Context): string {
  const { words, options, operand } = context;
  const offered: readonly Word[] = [...words, ...(operand?.choices ?? []).map((name) => ({ name, summary: "" }))];
  const flags = options.flatMap(({ names, help }) => names.map((name) => ({ name, summary: firstSentence(help) })));
  const lists = [`options_=(${flags.map(describe).join(" ")})`, `words_=(${offered.map(describe).join(" ")})`];
  return formatCase(context, lists, COMPLETES);
}

/** Formats `name:meaning`, as expected by \`_describe\`. */
function describe({ name, summary }: Word): string {
  const escaped = name.replaceAll(":", "\\:");
  return quote(summary === "" ? escaped : `${escaped}:${summary}`);
}
