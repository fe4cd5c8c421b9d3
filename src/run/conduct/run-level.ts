/**
 * Measures a level.
 * @param repeat number of earlier measurements of the level
 * @returns `kept`: stable and within the limits, so the search continues; `over`: not within them; `ended`: neither
 */
export type RunLevel = (level: number, repeat: number) => Promise<LevelVerdict>;

/** The result of measuring a level, for the search. */
export type LevelVerdict = "kept" | "over" | "ended";
