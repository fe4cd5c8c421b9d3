/**
 * One option of a command line, as an entry of a table. Parsing, defaults, help, configuration files, templates and the conversion of a
 * plan to a command line all use these entries.
 *
 * @typeParam S the settings that the command's options set
 * @typeParam C context for reading a value, which receives problems and warnings
 */
export interface Option<S, C> {
  /** All names, with their dashes. Messages use the first one. */
  readonly names: readonly [name: string, ...others: string[]];
  /** Names in other tools, with dashes. The error for such a name suggests this option. */
  readonly meant?: readonly string[];
  /** Heading in the help. */
  readonly group: string;
  readonly help: string;
  /** Placeholder of the value in usage and help. Absent for a switch. */
  readonly value?: string;
  /** Words that may follow a switch. Any other argument does not belong to it. Absent: none. */
  readonly switchWords?: readonly string[];
  /** Unit of the value, in words. */
  readonly unit?: string;
  readonly choices?: readonly (string | number)[];
  /** The default in words, if help cannot print the setting's default value. */
  readonly defaultText?: string;
  /** Whether it can be given several times, and each occurrence counts. Otherwise the last one counts. */
  readonly isRepeatable?: boolean;
  /** Whether it is one of Rampart's own options. These take no part in abbreviations, and compatible usage omits them. */
  readonly isRampart?: boolean;
  /** Stores a value; an empty string for a switch. Reports errors to the context instead of throwing. */
  readonly read: (settings: S, value: string, context: C) => void;
}
