/**
 * One option of a command line, as an entry of a table. Parsing, defaults, help, configuration files, templates and the conversion of a
 * plan to a command line all use these entries.
 *
 * @typeParam S the settings that the command's options set
 * @typeParam C context for reading a value, which receives problems and warnings
 */
export interface Option<S, C> {
  /** All names with their dashes. Messages use the first one. */
  readonly names: readonly [name: string, ...others: string[]];
  /** Names that others give it, with dashes: the error for such a name suggests its own. */
  readonly meant?: readonly string[];
  /** Heading in the help. */
  readonly group: string;
  readonly help: string;
  /** Placeholder of the value in usage and help. Absent for a switch. */
  readonly value?: string;
  /** What may follow a switch; any other argument is not its. Absent: nothing. */
  readonly switchWords?: readonly string[];
  /** Unit of the value, in words. */
  readonly unit?: string;
  readonly choices?: readonly (string | number)[];
  /** The default in words, if help cannot print the setting's default value. */
  readonly defaultText?: string;
  /** Can be given several times, and each occurrence counts. Otherwise the last one counts. */
  readonly isRepeatable?: boolean;
  /** Rampart's own. It does not take part in abbreviations, and compatible usage leaves it out. */
  readonly isRampart?: boolean;
  /** Stores a value; an empty string for a switch. Reports errors to the context instead of throwing. */
  readonly read: (settings: S, value: string, context: C) => void;
}
