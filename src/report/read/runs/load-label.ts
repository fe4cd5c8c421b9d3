import { LEVEL_UNITS } from "../../../load/level-units.ts";

/** Names of units in the files of the different tools, without hyphens and underscores. */
const UNITS = Object.values(LEVEL_UNITS).flatMap((unit) =>
  [unit.name, unit.title, unit.exported].map((name) => [normalize(name), unit] as const),
);

/** Describes a level of load the same way for all formats: `concurrency 4`, `10 requests/s`. @param unit as the file names it */
export function describeLoad(unit: string, level: number): string {
  const known = UNITS.find(([name]) => name === normalize(unit));
  return known === undefined ? `${unit.replaceAll("_", " ")} ${level}` : known[1].describe(level);
}

function normalize(name: string): string {
  return name.toLowerCase().replace(/[-_\s]+/g, " ");
}
