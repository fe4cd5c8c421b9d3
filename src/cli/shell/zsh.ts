import type { ShownOption, ValueKind } from "../command-usage.ts";
import { firstSentence } from "../help/page.ts";
import { type Context, keyOf, LINKED_NAMES, listSteps, PROGRAMS, quote, type Word } from "./contexts.ts";

/** Completion of a value, by its kind. */
const FILES: Readonly<Record<ValueKind, string>> = {
  file: "_files; return",
  folder: "_files -/; return",
  word: "return",
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
  const cases = options
    .filter(({ value }) => value !== undefined)
    .map((option) => `        ${option.names.map(quote).join("|")}) ${offerValue(option)};;`);
  return [
    `    ${quote(keyOf(context))})`,
    ...(cases.length === 0 ? [] : ["      case $previous in", ...cases, "      esac"]),
    `      options_=(${options.flatMap(({ names, help }) => names.map((name) => describe({ name, summary: firstSentence(help) }))).join(" ")})`,
    `      words_=(${offered.map(describe).join(" ")})`,
    ...(operand === undefined || operand.takes === "word"
      ? []
      : [`      [[ $current == -* ]] || { ${FILES[operand.takes]}; }`]),
    "      ;;",
  ].join("\n");
}

function offerValue({ choices, takes }: ShownOption): string {
  return choices === undefined ? FILES[takes] : `compadd -- ${choices.map(quote).join(" ")}; return`;
}

/** Formats `name:meaning`, as expected by \`_describe\`. */
function describe({ name, summary }: Word): string {
  const escaped = name.replaceAll(":", "\\:");
  return quote(summary === "" ? escaped : `${escaped}:${summary}`);
}
