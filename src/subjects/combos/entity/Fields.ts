/**
 * The kinds of values in a combo's `config`. A kind has the meaning of the field, its range, and one error message for any wrong value.
 */
import * as Schema from "effect/Schema"

/** The description is for the OpenAPI document, the message for the sender of a wrong value. */
const telling = (description: string, message: string) => ({
  description,
  message: () => ({ message, override: true })
})

export const between = (least: number, most: number, description: string) =>
  Schema.Number.pipe(Schema.between(least, most, telling(description, `must be a number from ${least} to ${most}`)))

export const whole = (least: number, most: number, description: string) =>
  Schema.Number.pipe(
    Schema.int(),
    Schema.between(least, most, telling(description, `must be a whole number from ${least} to ${most}`))
  )

export const positive = (description: string) =>
  Schema.Number.pipe(Schema.finite(), Schema.positive(telling(description, "must be a number above 0")))

export const notNegative = (description: string) =>
  Schema.Number.pipe(Schema.finite(), Schema.nonNegative(telling(description, "must be a number, not negative")))

/** A wait in milliseconds. */
export const waitMs = (description: string) => between(0, 600_000, description)

export const flag = (description: string) => Schema.Boolean.annotations(telling(description, "must be true or false"))

const longestText = 300
const longestList = 1_000

const Text = Schema.String.pipe(Schema.maxLength(longestText), Schema.pattern(/\S/))

export const text = (description: string) =>
  Text.annotations(telling(description, `must be a text of 1 to ${longestText} characters`))

export const maybeEmpty = (description: string) =>
  Schema.String.pipe(
    Schema.maxLength(longestText, telling(description, `must be a text of at most ${longestText} characters`))
  )

export const texts = (description: string) =>
  Schema.Array(Text).pipe(
    Schema.maxItems(longestList, telling(description, `must be a list of at most ${longestList} texts`))
  )

export const someTexts = (description: string) =>
  Schema.Array(Text).pipe(
    Schema.minItems(1),
    Schema.maxItems(longestList, telling(description, `must be a list of 1 to ${longestList} texts`))
  )

export const oneOf = <const Word extends string>(words: ReadonlyArray<Word>, description: string) =>
  Schema.Literal(...words).annotations(telling(description, `must be one of ${words.join(", ")}`))

export const someOf = <const Word extends string>(words: ReadonlyArray<Word>, description: string) => {
  const One = Schema.Literal(...words)
  return Schema.Union(One, Schema.Array(One).pipe(Schema.minItems(1))).annotations(
    telling(description, `must be one or a list of ${words.join(", ")}`)
  )
}

/** The only value that may be saved. */
export const only = <const Value extends string | number | boolean>(value: Value, message: string) =>
  Schema.Literal(value).annotations(telling(message, message))

/** A key of other gateways that this one does not support: keeping it as unknown would suggest that it works. */
export const unsupported = (why: string) => only(false, `is not supported: ${why}`)
