import {
  type Context,
  formatCase,
  LINKED_NAMES,
  listSteps,
  PROGRAMS,
  quote,
  type ValueCompletion,
} from "./contexts.ts";

const COMPLETES: ValueCompletion = {
  file: "_rampart_files -f; return",
  folder: "_rampart_files -d; return",
  word: "return",
  oneOf: (choices) => `COMPREPLY=($(compgen -W ${quote(choices.join(" "))} -- "$current")); return`,
};

/** Formats the completion script for bash. It does not need the package bash-completion. */
export function formatBash(contexts: readonly Context[]): string {
  return `# Completion of rampart for bash. Made by: rampart completion bash
_rampart_files() {
  compopt -o filenames 2>/dev/null
  local IFS=$'\\n'
  COMPREPLY=($(compgen "$1" -- "$current"))
}
_rampart() {
  local current=\${COMP_WORDS[COMP_CWORD]} previous='' path='rampart' options='' words='' index
  ((COMP_CWORD > 0)) && previous=\${COMP_WORDS[COMP_CWORD-1]}
  COMPREPLY=()
  # --option=value are three words.
  if [[ $current == '=' ]]; then current=''
  elif [[ $previous == '=' ]]; then previous=\${COMP_WORDS[COMP_CWORD-2]}
  fi
  case \${COMP_WORDS[0]##*/} in
${LINKED_NAMES.map((name) => `    ${quote(name)}) path=${quote(`rampart ${name}`)};;`).join("\n")}
  esac
  for ((index = 1; index < COMP_CWORD; index++)); do
    case "$path \${COMP_WORDS[index]}" in
      ${listSteps(contexts).map(quote).join("|")}) path+=" \${COMP_WORDS[index]}";;
    esac
  done
  case $path in
${contexts.map(formatContext).join("\n")}
  esac
  if [[ $current == -* ]]; then COMPREPLY=($(compgen -W "$options" -- "$current"))
  elif [[ -n $words ]]; then COMPREPLY=($(compgen -W "$words" -- "$current"))
  fi
}
complete -F _rampart ${PROGRAMS.join(" ")}
`;
}

function formatContext(context: Context): string {
  const { words, options, operand } = context;
  const offered = [...words.map(({ name }) => name), ...(operand?.choices ?? [])];
  const lists = [
    `options=${quote(options.flatMap(({ names }) => names).join(" "))}`,
    `words=${quote(offered.join(" "))}`,
  ];
  return formatCase(context, lists, COMPLETES);
}
