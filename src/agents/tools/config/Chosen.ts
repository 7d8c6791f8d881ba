/** Chooses the models that a tool is set up with, and the one it begins with. Pure. */
import type { ToolModel } from "./ToolSetup.ts"

export interface OfferedModel extends ToolModel {
  readonly kind: "model" | "combo" | "auto" | "alias"
  /** True when it can hold a conversation: other models are of no use to a tool. */
  readonly converses: boolean
}

export interface Chosen {
  readonly models: ReadonlyArray<OfferedModel>
  readonly model: OfferedModel
  readonly small: OfferedModel
}

/** Longer lists are of no use to people who choose from them. */
export const mostModels = 100

const globOf = (pattern: string): RegExp =>
  new RegExp(
    `^${pattern
      .split("*")
      .map((part) => part.replaceAll(/[$()+.?[\\\]^{|}]/g, String.raw`\$&`))
      .join(".*")}$`
  )

const cheapest = (models: ReadonlyArray<OfferedModel>): OfferedModel | null =>
  models
    .filter(({ price }) => price !== null)
    .reduce<OfferedModel | null>(
      (best, each) => ((each.price?.input ?? 0) < (best?.price?.input ?? Infinity) ? each : best),
      null
    )

/** A text is why none can be chosen. `only`: patterns of ids with `*`; none: all. */
export const choose = (
  offered: ReadonlyArray<OfferedModel>,
  wanted: string | null,
  only: ReadonlyArray<string>
): Chosen | string => {
  const globs = only.map(globOf)
  const fitting = offered.filter(
    ({ converses, id, kind }) =>
      converses && kind !== "auto" && (globs.length === 0 || globs.some((glob) => glob.test(id)))
  )
  const named = wanted === null ? null : (offered.find(({ id }) => id === wanted) ?? null)
  if (wanted !== null && named === null) return `The gateway offers no model '${wanted}'.`
  if (named?.converses === false) return `The model '${named.id}' holds no conversations: a tool cannot use it.`
  if (fitting.length === 0 && named === null) {
    const hasOthers = offered.some(({ kind }) => kind !== "auto")
    if (globs.length > 0) return "The gateway offers no model that fits --only and can hold a conversation."
    return hasOthers
      ? "None of the gateway's models can hold a conversation: connect a provider that has one ('gateway provider add')."
      : "The gateway offers no model yet: connect a provider first ('gateway provider add')."
  }
  const auto = globs.length === 0 ? offered.find(({ id }) => id === "auto") : undefined
  const first = named ?? auto ?? fitting[0]
  if (first === undefined) return "The gateway offers no model."
  const models = [first, ...fitting.filter(({ id }) => id !== first.id)].slice(0, mostModels)
  const small = offered.find(({ id }) => id === "auto/cheap" && first.kind === "auto") ?? cheapest(models) ?? first
  return {
    models,
    model: first,
    small: named === null ? small : (cheapest(models.filter(({ kind }) => kind === "model")) ?? first)
  }
}
