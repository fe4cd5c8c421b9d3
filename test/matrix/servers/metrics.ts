/** Reads the page of a server's metrics and adds up the samples whose line matches. @param url of the page */
export async function sumMetric(url: string, sample: RegExp): Promise<number> {
  const response = await fetch(url, { headers: { connection: "close" }, signal: AbortSignal.timeout(5000) });
  const lines = (await response.text()).split("\n").filter((line) => sample.test(line));
  return lines.reduce((sum, line) => sum + Number(line.slice(line.lastIndexOf(" ") + 1)), 0);
}
