/** Sets the price of a model over the table that is stored, and takes it back. */
import type { AnswerOf } from "../../../api/client.ts"
import { pricingGet, pricingUpdate } from "../../../api/calls.generated.ts"
import { refresh } from "../../../api/queries.ts"
import { isSame } from "../../../ui/merge/merge.ts"
import { sendOver } from "../../../ui/merge/resend.ts"
import type { Version } from "../../../ui/merge/saving.ts"

type Table = AnswerOf<typeof pricingGet>
export type Price = Table[string][string]
/** Null: the operator has set none, and the usual one holds. */
export interface Override {
  readonly price: Price | null
}

/** A model as prices name it. */
export interface PricedModel {
  readonly provider: string
  readonly model: string
}

const overrideIn = (table: Table, { model, provider }: PricedModel): Override => ({
  price: table[provider]?.[model] ?? null
})

/** Reads what is set for a model, with the version of the table. */
export const loadOverride = async (of: PricedModel): Promise<Version<Override>> => {
  const { answer, tag } = await pricingGet.versioned({})
  return { value: overrideIn(answer, of), tag }
}

/** Reads the same in the answer that refused a change. */
export const shownOverride =
  (of: PricedModel) =>
  (current: unknown): Override =>
    overrideIn(current as Table, of)

/** Prices have one version for all: only a change of the same model's price is a conflict. */
export const saveOverride = (
  of: PricedModel,
  { price }: Override,
  tag: string | undefined,
  base: Override
): Promise<Version<Override>> =>
  sendOver(
    tag,
    async (ifMatch) => {
      const body = { [of.provider]: { [of.model]: price } } as never
      const saved = await pricingUpdate.versioned({ body, ifMatch })
      void refresh("catalog")
      void refresh("analytics")
      return { value: overrideIn(saved.answer, of), tag: saved.tag }
    },
    (current) => isSame(overrideIn(current as Table, of), base)
  )
