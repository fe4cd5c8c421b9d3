// npm run bench:find-max [-- --runs N] [-- --only TEXT]
//
// Runs whole searches of findMax on simulated servers whose highest load is known, and prints how many of them were right: the true highest load lies
// between the load that keeps the limits and the one that breaks them. Exits with 1 when fewer than 95 % are right.
// The clock is simulated too, so it needs no idle machine; 100 runs take about five minutes.
import { parseArgs } from "node:util";
import { formatThreeDigits } from "../../src/report/model/values.ts";
import { SEARCH_CASES, simulateCase, tallyAnswers } from "../run/conduct/search-cases.ts";
import { judgeGoal } from "./goals.ts";
import { writeFigures } from "./write-figures.ts";

const MOST_FAILED_PCT = 5;
const DEFAULT_RUNS = 100;

const { values } = parseArgs({
  options: { runs: { type: "string", default: String(DEFAULT_RUNS) }, only: { type: "string", default: "" } },
});
const runs = Number(values.runs);
console.log("| server and limit | truth | right | unresolved | wrong | median answer | points | simulated time |");
console.log("| --- | --- | --- | --- | --- | --- | --- | --- |");
const failedPct: number[] = [];
for (const one of SEARCH_CASES.filter(({ name }) => name.includes(values.only))) {
  const answers = await simulateCase(one, runs);
  const { right, unresolved, wrong } = tallyAnswers(one, answers);
  failedPct.push((100 * (runs - right)) / runs);
  const mean = (of: (answer: (typeof answers)[number]) => number): number =>
    answers.reduce((sum, answer) => sum + of(answer), 0) / runs;
  const { highest, next } = answers.toSorted((a, b) => (a.highest ?? 0) - (b.highest ?? 0))[runs >> 1] ?? {};
  const truth = Number.isFinite(one.truth) ? formatThreeDigits(one.truth) : "all";
  const answer = next === undefined ? `at least ${highest}` : `${highest} to ${next}`;
  const costs = [mean(({ levels }) => levels.length).toFixed(1), `${mean(({ seconds }) => seconds).toFixed(0)} s`];
  console.log(`| ${[one.name, truth, right, unresolved, wrong, answer, ...costs].join(" | ")} |`);
}
const goal = judgeGoal("searches that are not right, %", Math.max(...failedPct), MOST_FAILED_PCT);
if (runs >= DEFAULT_RUNS && values.only === "") writeFigures("bench:find-max", { goals: [goal] });
process.exitCode = goal.passed ? 0 : 1;
