/** Flags that several commands share, and the check of what was typed against the contract's own schemas. */
import * as HelpDoc from "@effect/cli/HelpDoc"
import * as Options from "@effect/cli/Options"
import * as Effect from "effect/Effect"
import * as Either from "effect/Either"
import * as ParseResult from "effect/ParseResult"
import * as Schema from "effect/Schema"
import { expectedOf } from "../../kernel/Expectation.ts"
import { BadArgument } from "../Failure.ts"
import { didYouMean, near } from "../tree/Near.ts"

export const json = Options.boolean("json").pipe(Options.withDescription("Print JSON instead of a table."))

/** Writes the purpose of a command, with an example to copy. */
export const about = (text: string, ...examples: ReadonlyArray<string>): HelpDoc.HelpDoc =>
  HelpDoc.blocks([HelpDoc.p(text), ...examples.map((example) => HelpDoc.p(`Example: gateway ${example}`))])

/** A schema's message without its `, actual <value>` end: the value may be a secret. */
export const withoutValue = (message: string): string => message.replace(/, actual [\s\S]*$/, "")

/** Collects the problems by field. */
const complaints = (error: ParseResult.ParseError): ReadonlyMap<string, string> => {
  const byField = new Map<string, Array<string>>()
  for (const { message, path } of ParseResult.ArrayFormatter.formatErrorSync(error)) {
    const field = String(path[0] ?? "")
    byField.set(field, [...(byField.get(field) ?? []), withoutValue(message)])
  }
  return new Map(Array.from(byField, ([field, messages]) => [field, expectedOf(messages)]))
}

/**
 * Decodes what the flags say as a body of the contract. `flags` names the flag of each field for the message. A field that the contract does
 * not have, such as a misspelt one of a file, is refused as the gateway would.
 */
export const body = <A, I>(
  schema: Schema.Schema<A, I>,
  input: Readonly<Record<string, unknown>>,
  flags: Readonly<Record<string, string>>
): Effect.Effect<A, BadArgument> => {
  const given = Object.fromEntries(Object.entries(input).filter(([, value]) => value !== undefined))
  return Either.match(Schema.decodeUnknownEither(schema, { onExcessProperty: "error" })(given), {
    onRight: Effect.succeed,
    onLeft: (error) => {
      const lines = Array.from(complaints(error), ([field, message]) => `${flags[field] ?? field}: ${message}`)
      return Effect.fail(new BadArgument({ message: lines.join("; ") }))
    }
  })
}

/** Decodes what flags say is to be changed; nothing is refused, with an example of the command. */
export const changes = <A extends object, I>(
  schema: Schema.Schema<A, I>,
  input: Readonly<Record<string, unknown>>,
  flags: Readonly<Record<string, string>>,
  example: string
): Effect.Effect<A, BadArgument> =>
  Effect.filterOrFail(
    body(schema, input, flags),
    (payload) => Object.keys(payload).length > 0,
    () => new BadArgument({ message: "What is to be changed is not said.", hint: `Example: gateway ${example}` })
  )

/** Shorter beginnings of an id are more likely a mistyped name. */
const leastBeginning = 4
const mostListed = 5

const listed = (all: ReadonlyArray<string>): string =>
  [...all.slice(0, mostListed), ...(all.length > mostListed ? [`and ${all.length - mostListed} more`] : [])].join(", ")

/**
 * Finds the one record with this id or name, else the one whose id begins so. A word that fits several is refused with their
 * names and ids. `listing` is the command that lists them.
 */
export const pick = <A extends { readonly id: string; readonly name: string }>(
  what: string,
  all: ReadonlyArray<A>,
  idOrName: string,
  listing: string
): Effect.Effect<A, BadArgument> => {
  const byId = all.find(({ id }) => id === idOrName)
  if (byId !== undefined) return Effect.succeed(byId)
  const byName = all.filter(({ name }) => name === idOrName)
  const begun = idOrName.length < leastBeginning ? [] : all.filter(({ id }) => id.startsWith(idOrName))
  const fitting = byName.length > 0 ? byName : begun
  const [found, ...others] = fitting
  if (found === undefined) {
    const known = all.map(({ name }) => name)
    return new BadArgument({
      message: `There is no ${what} '${idOrName}'.`,
      hint: didYouMean(near(idOrName, known)) ?? `See '${listing}'.`
    })
  }
  if (others.length === 0) return Effect.succeed(found)
  const reason =
    byName.length > 0
      ? `Several have the name '${idOrName}': ${listed(byName.map(({ id }) => id))}.`
      : `Several ids begin with '${idOrName}': ${listed(begun.map(({ id, name }) => `${id} (${name})`))}.`
  return new BadArgument({ message: reason, hint: "Give one of the ids, or more of it." })
}
