/** What axes, grids and legends of all plots have alike. */

/** An axis name at the middle of its axis. */
export function axisName(name: string): {
  readonly name: string;
  readonly nameLocation: "middle";
  readonly nameGap: number;
} {
  return { name, nameLocation: "middle", nameGap: 8 };
}

/** Axes with room for their names within the picture. @param topPx where they begin */
export function gridAt(topPx: number): object {
  return {
    left: 12,
    right: 24,
    top: topPx,
    bottom: 12,
    outerBoundsMode: "same",
    outerBoundsContain: "all",
    outerBounds: { left: 12, right: 24, top: topPx, bottom: 12 },
  };
}

/** One line of names that can be clicked away; it scrolls where it is too long. @param isOnPage leaves room for the tools beside it */
export function legendAt(topPx: number, names: readonly string[], isOnPage: boolean): object {
  const place = isOnPage ? { left: 8, right: 130, align: "left" } : { left: "center", width: "80%" };
  const look = { itemGap: isOnPage ? 14 : 24, itemWidth: 16, itemHeight: 9 };
  return { type: "scroll", top: isOnPage ? 6 : topPx - 20, ...place, ...look, data: [...names] };
}
