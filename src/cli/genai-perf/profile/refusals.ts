import type { Problem } from "../../../plan/problem.ts";
import type { LaterSetting } from "../read-settings.ts";
import type { GenaiSettings } from "../settings.ts";
import { formatOf } from "./endpoint-formats.ts";

/** What this version cannot do yet: it is said before anything is sent or written. */

/** Everything that was asked for and is not there yet. @param later settings that nothing obeys, whatever their value */
export function findLater({ endpoint }: GenaiSettings, later: readonly LaterSetting[]): Problem[] {
  const asked: (readonly [isAsked: boolean, what: string])[] = [
    [formatOf(endpoint) === undefined, `--endpoint-type ${endpoint.type}`],
  ];
  const places = [
    ...later.map(({ place, flag }) => (place.startsWith("-") ? flag : `${place}: ${flag}`)),
    ...asked.flatMap(([isAsked, what]) => (isAsked ? [what] : [])),
  ];
  return places.map((what) => ({ path: what, message: `${what} is not supported yet`, hint: "Leave it out." }));
}
