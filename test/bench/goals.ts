/** A goal of a bench, and what was measured. */
export interface Goal {
  readonly text: string;
  /** NaN: it was not measured. */
  readonly measured: number;
  /** What it may be at most. Absent: it is only stated. */
  readonly limit?: number;
  readonly passed: boolean;
  /** The same of other tools. */
  readonly peers?: string;
}

/** Judges a goal. One that was not measured is not passed. */
export function judgeGoal(text: string, measured: number, limit?: number, peers?: string): Goal {
  return {
    ...{ text, measured },
    ...(limit === undefined ? {} : { limit }),
    passed: limit === undefined ? !Number.isNaN(measured) : measured <= limit,
    ...(peers === undefined ? {} : { peers }),
  };
}

/** The goals as a Markdown table. */
export function renderGoals(goals: readonly Goal[]): string {
  const rows = goals.map((goal) => [
    goal.text,
    Number.isNaN(goal.measured) ? "–" : goal.measured.toFixed(3),
    goal.limit?.toFixed(3) ?? "–",
    verdictOf(goal),
  ]);
  return renderTable(["goal", "measured", "at most", ""], rows);
}

/** What a table says of a goal. */
export function verdictOf({ measured, limit, passed }: Goal): string {
  if (Number.isNaN(measured)) return "not measured";
  if (limit === undefined) return "";
  return passed ? "PASS" : "FAIL";
}

/** A table in Markdown; columns of numbers stand to the right. */
export function renderTable(header: readonly string[], rows: readonly (readonly string[])[]): string {
  const line = (cells: readonly string[]): string => `| ${cells.join(" | ")} |`;
  const isText = (column: number): boolean => column === 0 || rows.some((row) => !NUMBER.test(row[column] ?? ""));
  return [line(header), line(header.map((_, column) => (isText(column) ? "---" : "---:"))), ...rows.map(line)].join(
    "\n",
  );
}

/** Begins with a digit, or stands for a number that is missing. */
const NUMBER = /^(?:-?\d|–|$)/;
