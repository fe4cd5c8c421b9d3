/** Identity of a level across the runs of one plan. */

export interface LevelPlace {
  /** Concurrency, or requests per second. */
  readonly level: number;
  /** Absent if the load has no phases. */
  readonly phase?: { readonly index: number; readonly label?: string } | undefined;
}

/** Returns a level's identity: its phase and its load. */
export function identifyLevel({ level, phase }: LevelPlace): string {
  return phase === undefined ? `${level}` : `phase ${phase.index}: ${level}`;
}

/**
 * Matches the levels of several runs. Returns for each level its result in each run, in the order of their first appearance; undefined for
 * a run that did not measure it. A level that a run measures several times is matched with the same repetition in the others.
 * @param identify returns a level's identity; default: its phase and its load
 */
export function alignLevels<L extends LevelPlace>(
  runs: readonly (readonly L[])[],
  identify: (level: L) => string = identifyLevel,
): (L | undefined)[][] {
  const aligned = new Map<string, (L | undefined)[]>();
  for (const [run, levels] of runs.entries()) {
    const times = new Map<string, number>();
    for (const level of levels) {
      const name = identify(level);
      const time = (times.get(name) ?? 0) + 1;
      times.set(name, time);
      const key = `${time}. ${name}`;
      const results = aligned.get(key) ?? new Array<L | undefined>(runs.length).fill(undefined);
      results[run] = level;
      aligned.set(key, results);
    }
  }
  return [...aligned.values()];
}
