/**
 * Price of a model in a batch that its provider runs: half, unless its price says otherwise. Pure.
 * https://platform.openai.com/docs/guides/batch, https://platform.claude.com/docs/en/build-with-claude/batch-processing
 */
import type { ModelPrice, PriceTerms } from "../../subjects/pricing/entity.ts"
import { multiplied } from "./Rates.ts"

const part = 0.5
const batch = "batch"
/** The price is a batch's already, whatever the answer says. */
const asItIs: PriceTerms = {}

const halved = ({ perCharacter, perImage, perPage, perSearchUnit, perSecond, ...price }: ModelPrice): ModelPrice => {
  const { tiers, ...tokens } = multiplied(price, part)
  return {
    ...tokens,
    ...(tiers === undefined ? {} : { tiers: tiers.map((tier) => multiplied(tier, part)) }),
    ...(perCharacter === undefined ? {} : { perCharacter: perCharacter * part }),
    ...(perPage === undefined ? {} : { perPage: perPage * part }),
    ...(perSearchUnit === undefined ? {} : { perSearchUnit: perSearchUnit * part }),
    ...(perSecond === undefined ? {} : { perSecond: perSecond * part }),
    ...(perImage === undefined
      ? {}
      : {
          perImage:
            typeof perImage === "number"
              ? perImage * part
              : Object.fromEntries(Object.entries(perImage).map(([name, each]) => [name, each * part]))
        })
  }
}

/** Applies terms; under terms of its own, each tier keeps the members that those do not name. */
const underTerms = (price: ModelPrice, { factor = 1, tiers, ...own }: PriceTerms): ModelPrice => {
  const scaled = { ...multiplied(price, factor), ...own }
  const ofLength = tiers ?? price.tiers?.map((tier) => ({ ...multiplied(tier, factor), ...own }))
  return ofLength === undefined ? scaled : { ...scaled, tiers: ofLength }
}

export const batchPrice = (price: ModelPrice): ModelPrice => {
  const terms = price.serviceTiers?.[batch]
  const found = terms === undefined || terms.factor === part ? halved(price) : underTerms(price, terms)
  return { ...found, serviceTiers: { ...price.serviceTiers, [batch]: asItIs } }
}
