/**
 * Checks the references of a combo's targets, its judge and its name when it is saved. Only references that can lead nowhere, whatever
 * is connected later, are refused: a model that is not listed yet, and a provider without a connection, are no mistakes. Pure.
 */
import { decodeStored } from "./entity/ComboPolicy.ts"
import type { ComboSettings } from "./entity.ts"
import type { FieldProblem } from "../../contract/domain/Errors.ts"
import { closest } from "../../kernel/text/Closest.ts"
import { nearAutoIds, parseAutoId } from "../../plane/routing/resolve/AutoId.ts"
import { behindNoThinking, quotaShareParts, quotaSharePrefix } from "../../plane/routing/resolve/ModelIds.ts"
import { aliased, resolveBare, type ResolverView, splitPrefix } from "../../plane/routing/resolve/ModelTargets.ts"
import { isReservedId } from "./ReservedIds.ts"

export interface ReferenceView extends ResolverView {
  /** Checks whether there is a combo of the name, also one that is switched off. */
  readonly isCombo: (name: string) => boolean
  readonly providerIds: ReadonlyArray<string>
}

type Fields = Pick<ComboSettings, "targets" | "config">

const orNear = (text: string, near: ReadonlyArray<string>): string =>
  near.length === 0 ? text : `${text}; did you mean ${near.map((id) => `'${id}'`).join(" or ")}?`

const isComboForm = (id: string): boolean => id.startsWith("combo:") || id.startsWith("combo/")

/** Returns the reason for which an id can never be served; null when it may be. Combos are judged by `ComboRules`. */
const deadEnd = (view: ReferenceView, id: string): string | null => {
  const behind = behindNoThinking(id)
  if (behind !== null) return deadEnd(view, behind)
  if (isComboForm(id) || view.isCombo(id) || aliased(view, id) !== null) return null
  if (/^auto[/:]/.test(id)) {
    return parseAutoId(id) === null ? orNear(`'${id}' is no variant of 'auto'`, nearAutoIds(id, 2)) : null
  }
  if (id.startsWith(quotaSharePrefix)) return deadShare(view, id)
  const slash = id.indexOf("/")
  if (slash === -1) return null
  const split = splitPrefix(view, id)
  if (split !== null) return split.model === "" ? "the model name after the provider is missing" : null
  // Some upstreams have models with a slash in their names.
  if (resolveBare(view, id).length > 0) return null
  const prefix = id.slice(0, slash)
  return orNear(`there is no provider '${prefix}'`, closest(prefix, view.providerIds, 2))
}

const deadShare = ({ catalog }: ReferenceView, id: string): string | null => {
  const parts = quotaShareParts(id)
  if (parts === null) return `a quota-share id has the form ${quotaSharePrefix}<group>/<provider>/<model>`
  if (!catalog.quotaGroups.has(parts.group)) {
    return orNear(`there is no quota group '${parts.group}'`, closest(parts.group, [...catalog.quotaGroups.keys()], 2))
  }
  return catalog.provider(parts.provider) === null ? `there is no provider '${parts.provider}'` : null
}

/** Returns the problem of a target that is tied to one connection. */
const wrongConnection = (view: ReferenceView, model: string, connectionId: string): string | null => {
  const { catalog } = view
  const connection = catalog.connections.find(({ id }) => id === connectionId)
  if (connection === undefined) return `there is no connection '${connectionId}'`
  const id = behindNoThinking(model) ?? model
  if (isComboForm(id) || view.isCombo(id)) return "a combo's own targets say their connections"
  const spec = splitPrefix(view, id)?.spec ?? null
  const own = catalog.provider(connection.provider)
  return spec === null || own?.id === spec.id
    ? null
    : `the connection '${connectionId}' belongs to '${connection.provider}', not to '${spec.id}'`
}

/** A model that a `config` names must be one that is served now, or a provider's own. */
const unservable = (view: ReferenceView, id: string): string | null => {
  const dead = deadEnd(view, id)
  if (dead !== null) return dead
  const model = behindNoThinking(id) ?? id
  if (isComboForm(model)) {
    const name = model.slice("combo:".length)
    return view.isCombo(name) ? null : `there is no combo '${name}'`
  }
  const isNamed =
    view.isCombo(model) || aliased(view, model) !== null || parseAutoId(model) !== null || model.includes("/")
  return isNamed || resolveBare(view, model).length > 0 ? null : `no provider, combo or listed model has the id '${id}'`
}

/** Config keys that name a model. */
const modelKeys = ["judgeModel", "handoffModel"] as const

/** Everything a combo refers to that is not there; empty when all is. */
export const referenceProblems = ({ config, targets }: Fields, view: ReferenceView): ReadonlyArray<FieldProblem> => {
  const problems: Array<FieldProblem> = []
  const add = (field: string, message: string | null): void => {
    if (message !== null) problems.push({ field, message })
  }
  for (const [index, { connectionId, model }] of targets.entries()) {
    add(`targets.${index}.model`, deadEnd(view, model))
    if (connectionId != null) {
      add(`targets.${index}.connectionId`, wrongConnection(view, model, connectionId))
    }
  }
  const policy = decodeStored(config)
  for (const key of modelKeys) {
    const id = policy[key]
    if (id !== null) add(`config.${key}`, unservable(view, id.trim()))
  }
  return problems
}

/**
 * Returns the reason for which a name cannot be a combo's: as a model id it means something else already. Null when it
 * can.
 */
export const reservedName = (name: string, view: Pick<ResolverView, "catalog">): string | null => {
  if (isReservedId(name)) return `'${name}' means something else as a model id`
  const slash = name.indexOf("/")
  const spec = slash === -1 ? null : view.catalog.provider(name.slice(0, slash))
  return spec === null ? null : `'${name}' is a model id of the provider '${spec.id}'`
}
