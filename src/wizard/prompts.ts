import { isCancel, log, select, text } from "@clack/prompts";
import { maskText } from "../plan/secrets.ts";
import { escapeControls } from "../plan/terminal-text.ts";
import type { Answers, Question, Surroundings } from "./questions.ts";

/** Draws questions on the terminal. */

/** Asks one question. Returns undefined when the user gives up (Ctrl-C or Escape). */
export async function askQuestion(
  question: Question,
  answers: Answers,
  around: Surroundings,
): Promise<string | undefined> {
  const preset = question.preset(answers, around);
  const choices = question.choices?.(answers, around);
  const answer =
    choices !== undefined && choices.length > 0
      ? await askChoice(question, choices, preset, answers, around)
      : await text({
          message: question.message,
          ...(preset === undefined ? {} : { initialValue: preset }),
          validate: (given) => clean(question.check((given ?? "").trim(), answers, around)),
        });
  return typeof answer === "string" ? answer.trim() : undefined;
}

/** Asks until the choice is one that can be taken. */
async function askChoice(
  question: Question,
  choices: readonly { value: string; label: string; hint?: string }[],
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

/** Says something between the questions. */
export function warn(message: string): void {
  log.warn(clean(message));
}

/** Names of models are the server's, and what a server says of a question may hold anything. */
function clean<T extends string | undefined>(text: T): T {
  return (text === undefined ? text : escapeControls(maskText(text))) as T;
}
