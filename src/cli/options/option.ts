/**
 * One option of a command line, as an entry of a table. Parsing, defaults, help, configuration files, templates and the way back from a
 * plan to a command line are all made from these entries.
 *
 * @typeParam S the settings that the command's options are read into
 * @typeParam C what reading a value may use besides: where problems and warnings go
 */
export interface Option<S, C> {
  /** All spellings with their dashes. Messages use the first one. */
  readonly names: readonly [name: string, ...others: string[]];
  /** Heading in the help. */
  readonly group: string;
  readonly help: string;
  /** Stands for the value in usage and help. Absent for a switch. */
  readonly value?: string;
  /** Of the value, in words. */
  readonly unit?: string;
  readonly choices?: readonly (string | number)[];
  /** The default in words, where help cannot print the value that the setting starts with. */
  readonly defaultText?: string;
  /** May be given several times, and each time counts. Otherwise the last one counts. */
  readonly isRepeatable?: boolean;
  /** Rampart's own: it takes no part in matching abbreviations, and usage in the original's form leaves it out. */
  readonly isOwn?: boolean;
  /** Stores a value; the empty text for a switch. Reports what is wrong to the context instead of throwing. */
  readonly read: (settings: S, value: string, context: C) => void;
}
