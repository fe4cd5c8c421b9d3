/** Names of the questions, which are also the names of their flags; `address` has no flag, because `--url` answers it. */
export type QuestionId =
  | "address"
  | "target"
  | "protocol"
  | "url"
  | "path"
  | "directory"
  | "model-repository"
  | "model"
  | "goal"
  | GoalQuestionId
  | "tokenizer"
  | "isl"
  | "osl"
  | "shapes"
  | "files"
  | "save"
  | "run";

/** The questions that belong to goals. */
export type GoalQuestionId =
  | "against"
  | "other-model"
  | "other-url"
  | "recording"
  | "file"
  | "load"
  | "users"
  | "rate"
  | "peak"
  | "for"
  | "around"
  | "p99-limit"
  | "ttft-limit"
  | "error-limit";

/** The answers so far, as text. */
export type Answers = Readonly<Partial<Record<QuestionId, string>>>;

/** Parses `NAME:1,2 NAME2:3` into sizes by input. */
export function parseShapes(text: string): Record<string, number[]> {
  const shapes: Record<string, number[]> = {};
  for (const part of text.split(/\s+/).filter((word) => word !== "")) {
    const colon = part.lastIndexOf(":");
    shapes[part.slice(0, colon)] = part
      .slice(colon + 1)
      .split(",")
      .map(Number);
  }
  return shapes;
}
