/** The settings file of the data folder, `<DATA_DIR>/.env`: one `NAME='value'` per line. Its name, and how a line is read and written. */
import { join } from "node:path"
import { parseEnv } from "node:util"

export const envFile = (folder: string): string => join(folder, ".env")

/** The values of a file's text. */
export const parse = (text: string): ReadonlyMap<string, string> =>
  new Map(Object.entries(parseEnv(text)).filter((entry): entry is [string, string] => entry[1] !== undefined))

const quotes = ["'", '"', "`"]

/** A line that reads back as the same value; null when no quote of the format can hold it. */
export const line = (name: string, value: string): string | null => {
  const quote = quotes.find((mark) => !value.includes(mark))
  // Inside double quotes the format turns `\n` into a line break.
  if (quote === undefined || (quote === '"' && value.includes("\\n"))) return null
  return `${name}=${quote}${value}${quote}`
}

/** What the file has put into the environment of this process. */
let entered: ReadonlyMap<string, string> = new Map()

/** Puts a file's values below those that the environment has. What an earlier file put there gives way first. */
export const enter = (values: ReadonlyMap<string, string>): void => {
  for (const [name, value] of entered) if (process.env[name] === value) delete process.env[name]
  entered = new Map([...values].filter(([name]) => process.env[name] === undefined))
  for (const [name, value] of entered) process.env[name] = value
}
