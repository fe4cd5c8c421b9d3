import { createSvgPainter, readChartLibrary } from "../../src/report/plots/chart-library.ts";
import { toChartOption } from "../../src/report/plots/chart-option.ts";
import { readStoredReport } from "../../src/report/stored-report.ts";

/** The picture of the first guide: charts of the page of a run, side by side. */

/** Its file, from the repository's root. */
export const PICTURE = "scenarios/knee.svg";

const TITLES = ["Throughput over load", "Latency over load"];
const [WIDTH_PX, HEIGHT_PX] = [480, 320];

/** Draws a picture of a run as SVG, which is the same in light and dark. @param path of its JSON report */
export async function drawPicture(path: string): Promise<string> {
  const charts = readStoredReport(path).sections.flatMap((section) => section.charts);
  const library = await readChartLibrary();
  const drawn = TITLES.map((title, index) => {
    const chart = charts.find((one) => one.title === title);
    if (chart === undefined) throw new Error(`${path}: there is no chart '${title}'`);
    const svg = createSvgPainter(library)(toChartOption(chart, "alone"), WIDTH_PX, HEIGHT_PX);
    const content = svg
      .slice(svg.indexOf(">", svg.indexOf("<svg")) + 1, svg.lastIndexOf("</svg>"))
      // What happens under a pointer.
      .replaceAll(/<style[\s\S]*?<\/style>/g, "")
      // A painter numbers the ids of its pictures, and those of one file must differ.
      .replaceAll(/\bzr\d+-/g, `chart${index}-`);
    return `<g transform="translate(${index * WIDTH_PX})">${content}</g>\n`;
  });
  const width = TITLES.length * WIDTH_PX;
  return `<svg xmlns="http://www.w3.org/2000/svg" width="${width}" height="${HEIGHT_PX}" viewBox="0 0 ${width} ${HEIGHT_PX}">\n<title>${TITLES.join(", ")}</title>\n${drawn.join("")}</svg>\n`;
}
