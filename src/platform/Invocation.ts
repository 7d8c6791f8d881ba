/**
 * Command by which this program is called from a shell, so that proposed commands can be typed as they are: its name is
 * not on every path.
 */
import { realpathSync } from "node:fs"
import { homedir } from "node:os"
import { basename, delimiter, join } from "node:path"

export interface Surroundings {
  /** The script that was started, absolute; null when there is none. */
  readonly script: string | null
  /** `PATH`. */
  readonly path: string
  readonly home: string
  /** The file that a path leads to when its links are followed; null when there is none. */
  readonly real: (file: string) => string | null
}

const name = "gateway"

/** A word of a command line as a shell takes it. A path below the home folder is written with `~`. */
export const shellWord = (text: string, home: string): string => {
  const isBelowHome = home !== "" && home !== "/" && text.startsWith(`${home}/`)
  const rest = isBelowHome ? text.slice(home.length + 1) : text
  const quoted = /^[\w@%+=:,./-]+$/.test(rest) ? rest : `'${rest.replaceAll("'", `'\\''`)}'`
  return isBelowHome ? `~/${quoted}` : quoted
}

/** Finds the command to type for this program: `gateway` where that finds it, else the path it was started by. */
export const commandIn = ({ home, path, real, script }: Surroundings): string => {
  if (script === null) return name
  const started = real(script)
  // The first one found is the one that a shell takes.
  const found = path
    .split(delimiter)
    .filter((folder) => folder !== "")
    .map((folder) => real(join(folder, name)))
    .find((file) => file !== null)
  if (started !== null && found === started) return name
  const word = shellWord(script, home)
  return /\.[cm]?[jt]s$/.test(basename(script)) ? `node ${word}` : word
}

const realOrNull = (file: string): string | null => {
  try {
    return realpathSync(file)
  } catch {
    return null
  }
}

/** Finds the command to type for this program, under an environment. */
export const commandName = (environment: ReadonlyMap<string, string>): string =>
  commandIn({
    script: process.argv[1] ?? null,
    path: environment.get("PATH") ?? "",
    home: homedir(),
    real: realOrNull
  })

/** `DATA_DIR=… ` before a command that is to find this data folder; empty for the usual one. */
export const dataDirPrefix = (dataDir: string): string =>
  dataDir === join(homedir(), ".gateway") ? "" : `DATA_DIR=${shellWord(dataDir, "")} `
