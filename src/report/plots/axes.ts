/** Axes, grids and legends that all plots share. */

/** Returns an axis name, centered on its axis. */
export function axisName(name: string) {
  return { name, nameLocation: "middle", nameGap: 8 } as const;
}

/** Returns axes with room for their names inside the picture. @param topPx top of the axes */
export function gridAt(topPx: number): object {
  const bounds = { left: 12, right: 24, top: topPx, bottom: 12 };
  return { ...bounds, outerBoundsMode: "same", outerBoundsContain: "all", outerBounds: bounds };
}

/** Lower entries of a legend that scrolls would cut off the tops of their letters. */
const ENTRY_PX = 14;

/**
 * Returns a one-line legend whose entries can be toggled. It scrolls if it is too long.
 * @param isOnPage leaves room for the toolbar above it
 */
export function legendAt(topPx: number, names: readonly string[], isOnPage: boolean): object {
  const place = isOnPage ? { left: 8, right: 8, align: "left" } : { left: "center", width: "80%" };
  const look = { itemGap: isOnPage ? 14 : 24, itemWidth: 16, itemHeight: isOnPage ? ENTRY_PX : 9 };
  return { type: "scroll", top: isOnPage ? 22 : topPx - 20, ...place, ...look, data: [...names] };
}
