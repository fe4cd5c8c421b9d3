import { isAbsolute } from "node:path";
import { fieldOf } from "../../plan/defined.ts";
import type { Plan } from "../../plan/plan.ts";
import { addProblems, type Problem, unreadable } from "../../plan/problem.ts";
import { membersOf } from "../../registry/mix.ts";
import { urlsOf } from "../../registry/service-kinds.ts";
import { parseUrl } from "../../run/open/endpoint.ts";
import { fileSystem } from "../../runtime/files.ts";
import { textsIn } from "../output-files.ts";

/** Fields of inputs with files and folders. */
const INPUT_PATHS = ["file", "files", "paths", "directory", "folder"] as const;

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
  const paths = new Set(parts.flatMap((part) => INPUT_PATHS.flatMap((key) => textsIn(fieldOf(part, key)))));
  // A pattern matches any number of files.
  for (const path of paths)
    if (isAbsolute(path) && !/[*?]/.test(path) && !fileSystem().existsSync(path))
      problems.push(...unreadable(path, { code: "ENOENT" }).problems);
  return problems;
}
