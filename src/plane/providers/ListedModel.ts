/** A model as its upstream lists it, and the text in which lists are stored: what is not known is left out. Pure. */
import { type ModelFacts, unknownFacts } from "./ModelFacts.ts"

/** A model with what the upstream says of it. */
export interface ListedModel extends ModelFacts {
  readonly id: string
}

export const listText = (models: ReadonlyArray<ListedModel>): string =>
  JSON.stringify(models, (_, value: unknown) => (value === null ? undefined : value))

const isModel = (value: unknown): value is Pick<ListedModel, "id"> & Partial<ModelFacts> =>
  typeof value === "object" && value !== null && "id" in value && typeof value.id === "string"

const whole = (model: Pick<ListedModel, "id"> & Partial<ModelFacts>): ListedModel => ({ ...unknownFacts, ...model })

/** The list of a text that `listText` wrote; null when it is none. */
export const readListText = (text: string): ReadonlyArray<ListedModel> | null => {
  try {
    const parsed: unknown = JSON.parse(text)
    return Array.isArray(parsed) ? parsed.filter(isModel).map(whole) : null
  } catch {
    return null
  }
}
