/**
 * Options are JSON, so they contain the names of the functions that format the numbers of their axes. This is the source of a
 * function that inserts these functions into an option, for browsers and for pictures that are drawn here.
 */
export const SET_AXIS_FORMATS = `(option) => {
  const formats = {
    percentile: (nines) => {
      const value = typeof nines === "object" ? Number(nines.value) : nines;
      return Number((100 * (1 - 10 ** -value)).toFixed(Math.max(1, Math.ceil(value) - 1))) + " %";
    },
    power: (value) => String(Number((10 ** value).toPrecision(3))),
  };
  for (const axis of [option.xAxis ?? [], option.yAxis ?? []].flat())
    for (const part of [axis.axisLabel, axis.axisPointer?.label])
      if (part?.formatter in formats) part.formatter = formats[part.formatter];
}`;
