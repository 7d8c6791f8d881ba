/**
 * Computes the lines that the settings file of the data folder needs so that it holds a provider's variables again.
 * Pure.
 */
import { line, parse } from "../../platform/EnvText.ts"

export interface Repair {
  /** The whole file. */
  readonly text: string
  /** Names of the variables that were written. */
  readonly repaired: ReadonlyArray<string>
}

/**
 * Adds a line at the end for each variable whose value in the text is missing, empty, or another than the running one because its line
 * cannot be read. A line that names such a variable becomes a comment, so that none is lost. Variables that the file sets to a proper
 * other value are left: who wrote it means it for the next start.
 */
export const repair = (text: string, names: ReadonlyArray<string>, running: ReadonlyMap<string, string>): Repair => {
  const held = parse(text)
  const lines = text === "" ? [] : text.replace(/\n$/, "").split("\n")
  const repaired: Array<string> = []
  for (const name of names) {
    const value = running.get(name)
    if (value === undefined || value === "") continue
    const found = held.get(name)
    if (found !== undefined && found !== "" && !isTorn(found)) continue
    const fresh = line(name, value)
    if (fresh === null) continue
    lines.forEach((one, index) => {
      if (new RegExp(`^\\s*(?:export\\s+)?${name}\\b`, "i").test(one.slice(0, 1_000))) lines[index] = `# ${one}`
    })
    lines.push(fresh)
    repaired.push(name)
  }
  return { text: lines.length === 0 ? "" : `${lines.join("\n")}\n`, repaired }
}

/** A quote without an end in its line: the value begins with it, or goes on to the next quote of another line. */
const isTorn = (value: string): boolean => /[\r\n]/.test(value) || /^['"`\u2018\u2019\u201c\u201d]/.test(value)
