import { isAbsolute } from "node:path";
import type { Plan } from "../../plan/plan.ts";
import { addProblems, type Problem, unreadable } from "../../plan/problem.ts";
import { inputKindOf } from "../../registry/input-kinds.ts";
import { membersOf } from "../../registry/mix.ts";
import { urlsOf } from "../../registry/service-kinds.ts";
import { parseUrl } from "../../run/open/endpoint.ts";
import { fileSystem } from "../../runtime/files.ts";

/** Checks the addresses of the servers, and that the files and folders of the inputs exist. Nothing is sent. */
export function findUnusable({ target, inputs }: Plan): Problem[] {
  const problems: Problem[] = [];
  for (const url of urlsOf(target)) {
    try {
      parseUrl(url, 1);
    } catch (error) {
      addProblems(problems, error, (path) => path);
    }
  }
  const parts = [inputs, ...membersOf(target).map((member) => member.inputs)];
  const paths = new Set(parts.flatMap((part) => inputKindOf(part).paths?.(part) ?? []));
  // A pattern matches any number of files.
  for (const path of paths)
    if (isAbsolute(path) && !/[*?]/.test(path) && !fileSystem().existsSync(path))
      problems.push(...unreadable(path, { code: "ENOENT" }).problems);
  return problems;
}
