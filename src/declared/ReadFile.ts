/** A file's text → the declared document, or what is wrong with it in a sentence. Pure. */
import * as Either from "effect/Either"
import * as ParseResult from "effect/ParseResult"
import * as Schema from "effect/Schema"
import { parseDocument } from "yaml"
import { Document } from "./Document.ts"
import { variablesOf, withVariables } from "./Variables.ts"

/** Bytes; no longer file is read. */
export const maxFileBytes = 1_048_576
/** More uses of one anchor are refused: a few lines of aliases can stand for gigabytes. */
const maxAliases = 100
const mostListed = 20

/** The value that a YAML or JSON text stands for. */
export const readYaml = (text: string): Either.Either<unknown, string> => {
  try {
    const parsed = parseDocument(text, { uniqueKeys: true })
    const [error] = parsed.errors
    if (error !== undefined) return Either.left(`is no YAML: ${error.message.split("\n", 1)[0] ?? ""}`)
    const value: unknown = parsed.toJS({ maxAliasCount: maxAliases })
    return Either.right(value)
  } catch (error) {
    // The parser throws for too many aliases, and the engine for too deep a nesting.
    return Either.left(error instanceof ReferenceError ? "uses its anchors too often" : "is nested too deeply")
  }
}

/** What is wrong, without the values: one may be a secret. */
const problemsOf = (error: ParseResult.ParseError): string => {
  const all = ParseResult.ArrayFormatter.formatErrorSync(error).map(
    ({ message, path }) => `${path.map(String).join(".")}: ${message.replace(/, actual [\s\S]*$/, "")}`
  )
  const more = all.length > mostListed ? [`and ${all.length - mostListed} more`] : []
  return [...all.slice(0, mostListed), ...more].join("; ")
}

export const readDocument = (
  value: unknown,
  variables: ReadonlyMap<string, string>
): Either.Either<Document, string> => {
  const unset = variablesOf(value).filter((name) => !variables.has(name))
  if (unset.length > 0) return Either.left(`refers to variables that are not set: ${unset.join(", ")}`)
  return Either.mapLeft(Schema.decodeUnknownEither(Document)(withVariables(value, variables)), problemsOf)
}
