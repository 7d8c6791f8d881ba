/**
 * Lists the parts of an answer's usage that its model's price does not cover: they are reported, never taken for free.
 * Pure.
 */
import type { ModelPrice } from "../../subjects/pricing/entity.ts"
import type { TokenCounts } from "../../contract/domain/Usage.ts"
import { isPriced, pricePerImage } from "./Cost.ts"
import { unknownTerms } from "./Rates.ts"

const none: ReadonlyArray<string> = []

/** Nothing that could be counted costs anything: a local model. */
const isFreeOfCharge = (price: ModelPrice): boolean =>
  Object.entries(price).every(
    ([name, each]) => each === 0 || name === "minSeconds" || (typeof each === "object" && name !== "perImage")
  )

const unitsWithout = ({ units = {} }: TokenCounts, price: ModelPrice): ReadonlyArray<string> => [
  ...(units.images === undefined || pricePerImage(units.images, price) !== null ? none : ["images"]),
  ...(units.characters === undefined || price.perCharacter !== undefined ? none : ["characters"]),
  ...(units.searchUnits === undefined || price.perSearchUnit !== undefined ? none : ["searchUnits"]),
  ...(units.seconds === undefined || price.perSecond !== undefined ? none : ["seconds"])
]

const toolsWithout = ({ billing }: TokenCounts, price: ModelPrice): ReadonlyArray<string> => {
  const { codeExecutions = 0, fileSearches = 0, groundedAnswers = 0, webSearches = 0 } = billing?.tools ?? {}
  const isGrounded = groundedAnswers > 0 && price.perGroundedAnswer !== undefined
  return [
    ...(webSearches + groundedAnswers > 0 && price.perWebSearch === undefined && !isGrounded ? ["webSearches"] : none),
    ...(fileSearches > 0 && price.perFileSearch === undefined ? ["fileSearches"] : none),
    ...(codeExecutions > 0 && price.perCodeExecution === undefined ? ["codeExecutions"] : none)
  ]
}

/** Tokens alone, by what there is of them: what most answers of a model without a price use. */
const tokensOnly: ReadonlyArray<ReadonlyArray<string>> = [none, ["input"], ["output"], ["input", "output"]]

const allOf = (tokens: TokenCounts): ReadonlyArray<string> => {
  if (tokens.units === undefined && tokens.billing === undefined) {
    return tokensOnly[(tokens.in > 0 ? 1 : 0) + (tokens.out > 0 ? 2 : 0)] ?? none
  }
  const nothing: ModelPrice = { input: 0, output: 0 }
  return [
    ...(tokens.in > 0 ? ["input"] : none),
    ...(tokens.out > 0 ? ["output"] : none),
    ...unitsWithout(tokens, nothing),
    ...toolsWithout(tokens, nothing)
  ]
}

/** Null price: none is known. */
export const unpricedParts = (tokens: TokenCounts, price: ModelPrice | null): ReadonlyArray<string> => {
  if (price === null) return allOf(tokens)
  if (tokens.units === undefined && tokens.billing === undefined) return none
  if (isFreeOfCharge(price)) return isPriced(tokens, price) ? none : unitsWithout(tokens, price)
  return [
    ...(isPriced(tokens, price) ? none : unitsWithout(tokens, price)),
    ...toolsWithout(tokens, price),
    ...(tokens.billing === undefined ? none : unknownTerms(price, tokens.billing))
  ]
}
