import { isCancel, log, select, text } from "@clack/prompts";
import { defined } from "../plan/objects.ts";
import { maskText } from "../plan/secrets.ts";
import { escapeControls } from "../plan/terminal-text.ts";
import { wrapText } from "../report/text/text-table.ts";
import type { Answers } from "./answers.ts";
import type { Choice, Question, Surroundings } from "./question.ts";

/** The user's reply: an answer, back to the previous question (Escape), or the end of the wizard (Ctrl-C). */
export type Reply =
  | { readonly kind: "answer"; readonly text: string }
  | { readonly kind: "back" }
  | { readonly kind: "end" };

let lastKey = "";
let isListening = false;

/** Records the last key, because the prompts report Escape and Ctrl-C in the same way. */
function listenForKeys(): void {
  if (isListening) return;
  isListening = true;
  process.stdin.on("keypress", (_text: string | undefined, key: { readonly name?: string } | undefined) => {
    lastKey = key?.name ?? "";
  });
}

/** Asks a question on the terminal. @param typed the user's earlier answer, as the initial value */
export async function askQuestion(
  question: Question,
  answers: Answers,
  around: Surroundings,
  typed: string | undefined,
): Promise<Reply> {
  listenForKeys();
  const preset = typed ?? question.preset(answers, around);
  const choices = question.choices?.(answers, around);
  const answer =
    choices !== undefined && choices.length > 0
      ? await askChoice(question, choices, preset, answers, around)
      : await text({
          message: messageOf(question, answers),
          ...defined({ initialValue: preset }),
          validate: (given) => clean(question.check((given ?? "").trim(), answers, around)),
        });
  return toReply(answer);
}

/** Asks how to proceed. */
export async function askWay(message: string, choices: readonly Choice[]): Promise<Reply> {
  listenForKeys();
  return toReply(await select({ message, options: choices.map((choice) => ({ ...choice })) }));
}

function messageOf({ message }: Question, answers: Answers): string {
  return typeof message === "string" ? message : message(answers);
}

function toReply(answer: string | symbol): Reply {
  if (typeof answer === "string") return { kind: "answer", text: answer.trim() };
  return { kind: lastKey === "escape" ? "back" : "end" };
}

/** Asks until the choice is valid. */
async function askChoice(
  question: Question,
  choices: readonly Choice[],
  preset: string | undefined,
  answers: Answers,
  around: Surroundings,
): Promise<string | symbol> {
  for (;;) {
    const answer = await select({
      message: messageOf(question, answers),
      options: choices.map(toOption),
      ...defined({ initialValue: preset }),
    });
    if (isCancel(answer)) return answer;
    const problem = question.check(answer, answers, around);
    if (problem === undefined) return answer;
    warn(`${answer} ${problem}`);
  }
}

/** Returns a choice as an option of the prompt. A hint is shown beside the answer if there is room, otherwise at the cursor. */
function toOption({ value, label, hint }: Choice): { value: string; label: string; hint?: string } {
  if (hint === undefined || hint === "") return { value, label: clean(label) };
  const explained = clean(`${label} (${hint})`);
  const hasRoom = explained.length + MARK_COLUMNS <= (process.stdout.columns || 80);
  return hasRoom ? { value, label: explained } : { value, label: clean(label), hint: clean(hint) };
}

/** Columns before an answer. */
const MARK_COLUMNS = 6;
/** Narrower terminals break lines themselves. */
const LEAST_COLUMNS = 20;

/** Prints a warning. */
export function warn(message: string): void {
  log.warn(wrap(message));
}

/** Prints a sentence. */
export function inform(message: string): void {
  log.info(wrap(message));
}

/** Breaks a message at words, so that the terminal does not break it within one. */
function wrap(message: string): string {
  const room = Math.max(LEAST_COLUMNS, (process.stdout.columns || 80) - MARK_COLUMNS);
  const lines = clean(message).split("\n");
  return lines.flatMap((line) => wrapText(line, room)).join("\n");
}

/** Masks secrets, and escapes control characters, because names and messages come from the server. */
function clean<T extends string | undefined>(text: T): T {
  if (text === undefined) return text;
  return escapeControls(maskText(text)) as T;
}

/** Prints the keys for moving between questions. */
export function explainKeys(): void {
  inform("Enter answers, Escape goes one question back, Ctrl-C ends without writing anything.");
}
