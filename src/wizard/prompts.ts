import { isCancel, log, select, text } from "@clack/prompts";
import { maskText } from "../plan/secrets.ts";
import { escapeControls } from "../plan/terminal-text.ts";
import type { Answers } from "./answers.ts";
import type { Choice, Question, Surroundings } from "./questions.ts";

/** Draws questions on the terminal. */

/** What the user does at a question: answers it, goes back to the one before (Escape), or ends the wizard (Ctrl-C). */
export type Reply =
  | { readonly kind: "answer"; readonly text: string }
  | { readonly kind: "back" }
  | { readonly kind: "end" };

let lastKey = "";
let isListening = false;

/** Both keys are the same to the prompts: the last key pressed says which one it was. */
function listenForKeys(): void {
  if (isListening) return;
  isListening = true;
  process.stdin.on("keypress", (_text: string | undefined, key: { readonly name?: string } | undefined) => {
    lastKey = key?.name ?? "";
  });
}

/**
 * Asks one question.
 * @param typed what was answered before a step back, to be changed or taken again
 */
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
          message: question.message,
          ...(preset === undefined ? {} : { initialValue: preset }),
          validate: (given) => clean(question.check((given ?? "").trim(), answers, around)),
        });
  return toReply(answer);
}

/** Asks for one of several ways to proceed. */
export async function askWay(message: string, choices: readonly Choice[]): Promise<Reply> {
  listenForKeys();
  return toReply(await select({ message, options: choices.map((choice) => ({ ...choice })) }));
}

function toReply(answer: string | symbol): Reply {
  if (typeof answer === "string") return { kind: "answer", text: answer.trim() };
  return { kind: lastKey === "escape" ? "back" : "end" };
}

/** Asks until the choice is one that can be taken. */
async function askChoice(
  question: Question,
  choices: readonly Choice[],
  preset: string | undefined,
  answers: Answers,
  around: Surroundings,
): Promise<string | symbol> {
  for (;;) {
    const answer = await select({
      message: question.message,
      options: choices.map(({ value, label, hint }) => ({
        value,
        label: clean(label),
        ...(hint === undefined ? {} : { hint: clean(hint) }),
      })),
      ...(preset === undefined ? {} : { initialValue: preset }),
    });
    if (isCancel(answer)) return answer;
    const problem = question.check(answer, answers, around);
    if (problem === undefined) return answer;
    warn(`${answer} ${problem}`);
  }
}

/** Prints a warning between the questions. */
export function warn(message: string): void {
  log.warn(clean(message));
}

/** Names of models are the server's, and what a server says of a question may hold anything. */
function clean<T extends string | undefined>(text: T): T {
  return (text === undefined ? text : escapeControls(maskText(text))) as T;
}

/** Prints how to move between the questions. */
export function explainKeys(): void {
  log.info("Enter answers, Escape goes one question back, Ctrl-C ends without writing anything.");
}
