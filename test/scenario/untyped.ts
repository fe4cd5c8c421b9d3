/** A builder as JavaScript sees it. */
// biome-ignore lint/complexity/noBannedTypes: the point is to call it with anything
export function untyped(builder: Function): (...args: readonly unknown[]) => unknown {
  return (...args) => Reflect.apply(builder, undefined, args) as unknown;
}
