/**
 * Forms of flags and arguments, as schemas over the text that was typed: `taking` has the command-line library decode it before
 * the command runs. A schema's own message would repeat what was given and not name the flag, so each form words its own.
 */
import * as Options from "@effect/cli/Options"
import * as Either from "effect/Either"
import * as Schema from "effect/Schema"

/** The message of a schema, whatever of it did not fit. */
export const worded = <A, I>(schema: Schema.Schema<A, I>, problem: (given: I) => string): Schema.Schema<A, I> =>
  schema.annotations({ message: ({ actual }) => ({ message: problem(actual as I), override: true }) })

/** A flag that is decoded by a schema. `problem` is the error message for a value the schema refuses. */
export const taking =
  <A, I>(schema: Schema.Schema<A, I>, problem: (given: I) => string) =>
  (option: Options.Options<I>): Options.Options<A> =>
    Options.withSchema(option, worded(schema, problem))

/** Every text of what may be given several times; the problem is that of the first wrong one. */
export const each = <A>(
  schema: Schema.Schema<A, string>,
  problem: (text: string) => string
): Schema.Schema<Array<A>, Array<string>> => {
  const decode = Schema.decodeEither(schema)
  const wrong = (texts: ReadonlyArray<string>) => texts.find((text) => Either.isLeft(decode(text)))
  return worded(Schema.mutable(Schema.Array(schema)), (texts) => problem(wrong(texts) ?? ""))
}

/** The message for a text that has not its form. */
export const notOf =
  (flag: string, shape: string) =>
  (text: string): string =>
    `${flag}: '${text}' is not of the form ${shape}.`

export const FiniteNumber = Schema.NumberFromString.pipe(Schema.finite())

/** Two numbers with a sign between them, such as `300,900`. */
export const twoNumbers = (separator: string): Schema.Schema<readonly [number, number], string> =>
  Schema.compose(Schema.split(separator), Schema.Tuple(FiniteNumber, FiniteNumber), { strict: false })

const NamedText = Schema.Tuple(Schema.String, Schema.String)

/** `name=value`, taken apart at the sign that `signOf` finds. Without a sign there is no name. */
const nameAndValue = <A>(value: Schema.Schema<A, string>, signOf: (text: string) => number) =>
  Schema.transform(Schema.String, NamedText, {
    strict: true,
    decode: (text) => [text.slice(0, Math.max(0, signOf(text))), text.slice(signOf(text) + 1)] as const,
    encode: ([name, text]) => `${name}=${text}`
  }).pipe(Schema.compose(Schema.Tuple(Schema.NonEmptyString, value)))

/** `name=value` of a name that may hold the sign. */
export const named = <A>(value: Schema.Schema<A, string>): Schema.Schema<readonly [string, A], string> =>
  nameAndValue(value, (text) => text.lastIndexOf("="))

/** `name=value` of a value that may hold the sign. */
export const NamedAny: Schema.Schema<readonly [string, string], string> = nameAndValue(Schema.String, (text) =>
  text.indexOf("=")
)
