/** What an executable file is. */
export interface FileFormat {
  readonly format: "ELF" | "Mach-O" | "PE";
  readonly machine: "x64" | "arm64";
  /** File name of the dynamic loader of an ELF file. */
  readonly loader?: string;
}

type Machine = FileFormat["machine"];

const ELF_MACHINES: Readonly<Record<number, Machine>> = { 62: "x64", 183: "arm64" };
const MACH_MACHINES: Readonly<Record<number, Machine>> = { 16777223: "x64", 16777228: "arm64" };
const PE_MACHINES: Readonly<Record<number, Machine>> = { 34404: "x64", 43620: "arm64" };
/** Type of the ELF program header that names the dynamic loader. */
const INTERPRETER = 3;
const MACH_64 = 0xfe_ed_fa_cf;

/** Reads the header of a 64-bit executable. @throws for a file of another format or machine */
export function readFormat(file: Buffer): FileFormat {
  if (file.toString("latin1", 0, 5) === "\x7fELF\x02") {
    const loader = loaderOf(file);
    const machine = machineOf(ELF_MACHINES, file.readUInt16LE(18));
    return { format: "ELF", machine, ...(loader === undefined ? {} : { loader }) };
  }
  if (file.readUInt32LE(0) === MACH_64)
    return { format: "Mach-O", machine: machineOf(MACH_MACHINES, file.readUInt32LE(4)) };
  if (file.toString("latin1", 0, 2) === "MZ") {
    const header = file.readUInt32LE(0x3c);
    if (file.toString("latin1", header, header + 4) === "PE\0\0")
      return { format: "PE", machine: machineOf(PE_MACHINES, file.readUInt16LE(header + 4)) };
  }
  throw new Error("not a 64-bit executable of Linux, macOS or Windows");
}

function machineOf(machines: Readonly<Record<number, Machine>>, code: number): Machine {
  const machine = machines[code];
  if (machine === undefined) throw new Error(`an executable of an unknown machine: ${code}`);
  return machine;
}

function loaderOf(file: Buffer): string | undefined {
  const table = Number(file.readBigUInt64LE(32));
  const [bytes, count] = [file.readUInt16LE(54), file.readUInt16LE(56)];
  for (let at = table; at < table + bytes * count; at += bytes) {
    if (file.readUInt32LE(at) !== INTERPRETER) continue;
    const offset = Number(file.readBigUInt64LE(at + 8));
    const path = file.toString("latin1", offset, file.indexOf(0, offset));
    return path.slice(path.lastIndexOf("/") + 1);
  }
  return undefined;
}
