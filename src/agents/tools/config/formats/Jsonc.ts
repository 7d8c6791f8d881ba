/** JSON, also with comments and trailing commas, as editors and their tools write it. */
import { applyEdits, modify, type ParseError, parse, printParseErrorCode } from "jsonc-parser"
import type { Json } from "../../../../wire/json/Json.ts"
import { type Format, indexed, type Path, unreadable, type Unreadable } from "./Format.ts"

const parsed = (text: string): Json | Unreadable => {
  if (text.trim() === "") return {}
  const errors: Array<ParseError> = []
  const value = parse(text, errors, { allowTrailingComma: true }) as Json
  const [first] = errors
  if (first !== undefined) {
    const line = text.slice(0, first.offset).split("\n").length
    return unreadable(`is no JSON: ${printParseErrorCode(first.error)} in line ${line}`)
  }
  return typeof value === "object" && value !== null && !Array.isArray(value)
    ? value
    : unreadable("is JSON, but no object")
}

/** Chooses the indentation of the file; two spaces where it has none. */
const optionsOf = (text: string) => {
  const indent = /\n([\t ]+)\S/.exec(text)?.[1] ?? "  "
  return {
    formattingOptions: {
      insertSpaces: !indent.startsWith("\t"),
      tabSize: indent.startsWith("\t") ? 1 : indent.length,
      eol: text.includes("\r\n") ? "\r\n" : "\n"
    }
  }
}

const edited = (text: string, path: Path, value: Json | undefined): string => {
  const before = text.trim() === "" ? "{}\n" : text
  const root = parsed(before)
  const steps = indexed(root as Json, path)
  return applyEdits(before, modify(before, steps, value, optionsOf(before)))
}

export const jsonc: Format = {
  parse: parsed,
  set: edited,
  remove: (text, path) => edited(text, path, undefined)
}
