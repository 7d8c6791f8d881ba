/** Flags that several commands share, and the check of what was typed against the contract's own schemas. */
import * as HelpDoc from "@effect/cli/HelpDoc"
import * as Options from "@effect/cli/Options"
import * as Effect from "effect/Effect"
import * as Either from "effect/Either"
import * as ParseResult from "effect/ParseResult"
import * as Schema from "effect/Schema"
import { BadArgument } from "./Failure.ts"

export const json = Options.boolean("json").pipe(Options.withDescription("Print JSON instead of a table."))

/** What a command is for, with an example to copy. */
export const about = (text: string, ...examples: ReadonlyArray<string>): HelpDoc.HelpDoc =>
  HelpDoc.blocks([HelpDoc.p(text), ...examples.map((example) => HelpDoc.p(`Example: gateway ${example}`))])

/** A schema's message without its `, actual <value>` end: the value may be a secret. */
const withoutValue = (message: string): string => message.replace(/, actual [\s\S]*$/, "")

/** The first complaint about each field. A field that may also be null is complained about twice. */
const complaints = (error: ParseResult.ParseError): ReadonlyMap<string, string> => {
  const byField = new Map<string, string>()
  for (const { message, path } of ParseResult.ArrayFormatter.formatErrorSync(error)) {
    const field = String(path[0] ?? "")
    if (!byField.has(field)) byField.set(field, withoutValue(message))
  }
  return byField
}

/** Decodes what the flags say as a body of the contract. `flags` names the flag of each field for the message. */
export const body = <A, I>(
  schema: Schema.Schema<A, I>,
  input: Readonly<Record<string, unknown>>,
  flags: Readonly<Record<string, string>>
): Effect.Effect<A, BadArgument> => {
  const given = Object.fromEntries(Object.entries(input).filter(([, value]) => value !== undefined))
  return Either.match(Schema.decodeUnknownEither(schema)(given), {
    onRight: Effect.succeed,
    onLeft: (error) => {
      const lines = Array.from(complaints(error), ([field, message]) => `${flags[field] ?? field}: ${message}`)
      return Effect.fail(new BadArgument({ message: lines.join("; ") }))
    }
  })
}

/** The one record with this id, else with this name. A name that fits several is refused with their ids. */
export const pick = <A extends { readonly id: string; readonly name: string }>(
  what: string,
  all: ReadonlyArray<A>,
  idOrName: string,
  listing: string
): Effect.Effect<A, BadArgument> => {
  const byId = all.find(({ id }) => id === idOrName)
  if (byId !== undefined) return Effect.succeed(byId)
  const [found, ...others] = all.filter(({ name }) => name === idOrName)
  if (found === undefined) {
    return new BadArgument({ message: `There is no ${what} '${idOrName}'.`, hint: `See '${listing}'.` })
  }
  if (others.length === 0) return Effect.succeed(found)
  const ids = [found, ...others].map(({ id }) => id).join(", ")
  return new BadArgument({ message: `Several have the name '${idOrName}': ${ids}.`, hint: "Give the id instead." })
}
