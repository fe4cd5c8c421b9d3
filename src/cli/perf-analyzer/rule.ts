/** A rule between options: whether it is broken, and the problem to report then. */
export type Rule = readonly [isBroken: boolean, path: string, message: string, hint: string, value?: string];
