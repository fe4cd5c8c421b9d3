/** Axes, grids and legends shared by all plots. */

/** Returns an axis name, centered on its axis. */
export function axisName(name: string) {
  return { name, nameLocation: "middle", nameGap: 8 } as const;
}

/** Returns axes with room for their names inside the picture. @param topPx top of the axes */
export function gridAt(topPx: number): object {
  const bounds = { left: 12, right: 24, top: topPx, bottom: 12 };
  return { ...bounds, outerBoundsMode: "same", outerBoundsContain: "all", outerBounds: bounds };
}

/** Returns a legend in one line, which scrolls if it is too long. @param isOnPage invisible, because the page has its own */
export function legendAt(topPx: number, names: readonly string[], isOnPage: boolean): object {
  if (isOnPage) return { show: false, data: [...names] };
  const look = { itemGap: 24, itemWidth: 16, itemHeight: 9 };
  return { type: "scroll", top: topPx - 20, left: "center", width: "80%", ...look, data: [...names] };
}
