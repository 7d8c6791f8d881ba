/** Files of variables (`NAME=value`, `.env`). Lines that are none are kept. */
import type { Json } from "../../../../wire/json/Json.ts"
import type { Format, Path } from "./Format.ts"

const lineOf = /^\s*(?:export\s+)?([A-Za-z_]\w*)\s*=\s*(.*?)\s*$/

const unquoted = (text: string): string => /^(["'])(.*)\1$/.exec(text)?.[2] ?? text

/** Quoted only where it must be: readers differ in what quotes mean. */
const quoted = (text: string): string => (/^[\w!%+,./:=@-]*$/.test(text) ? text : JSON.stringify(text))

const nameOf = (path: Path): string => String(path[0] ?? "")

const linesOf = (text: string): ReadonlyArray<string> => (text === "" ? [] : text.replace(/\r?\n$/, "").split(/\r?\n/))

const joined = (lines: ReadonlyArray<string>): string => (lines.length === 0 ? "" : `${lines.join("\n")}\n`)

export const dotEnv: Format = {
  parse: (text) =>
    Object.fromEntries(
      linesOf(text).flatMap((line) => {
        const [, name, value = ""] = lineOf.exec(line) ?? []
        return name === undefined ? [] : [[name, unquoted(value)]]
      })
    ),
  set: (text, path, value: Json) => {
    const name = nameOf(path)
    const written = `${name}=${quoted(String(value))}`
    const lines = linesOf(text)
    const at = lines.findLastIndex((line) => lineOf.exec(line)?.[1] === name)
    return joined(at === -1 ? [...lines, written] : lines.with(at, written))
  },
  remove: (text, path) => joined(linesOf(text).filter((line) => lineOf.exec(line)?.[1] !== nameOf(path)))
}
