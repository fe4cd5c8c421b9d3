/** Paths of the files to write, by the key of their report. Absent: not written. The tables of reports declare the keys. */
// biome-ignore lint/suspicious/noEmptyInterface: the tables of reports add to it.
export interface OutputFilesPlan {}
