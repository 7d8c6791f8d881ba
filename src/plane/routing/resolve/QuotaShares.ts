/** Resolves quota-share ids (`qtSd/<group>/<provider>/<model>`) to the members of a quota group at a provider. Pure. */
import { type ModelNotFound, NoTarget } from "../../../contract/domain/Errors.ts"
import { closest } from "../../../kernel/text/Closest.ts"
import { quotaShareParts, quotaSharePrefix } from "./ModelIds.ts"
import { failed, type Found, type ResolverView, spelled, target } from "./ModelTargets.ts"

/** The quota-share ids that are nearest to one. */
const sharesNear = (view: ResolverView, id: string): ReadonlyArray<string> => {
  const known = [...view.catalog.quotaGroups.values()].flatMap(({ members, name }) =>
    members.flatMap(({ connectionId }) => {
      const account = view.catalog.byConnection.get(connectionId)
      if (account === undefined) return []
      return view.modelsOf(account).map((model) => `${quotaSharePrefix}${name}/${account.spec.id}/${model}`)
    })
  )
  return closest(id, known, 3)
}

/** The members of a quota group at the provider, with their weights; null when the id is no quota-share id. */
export const resolveShare = (
  view: ResolverView,
  id: string
): (Found & { readonly group: string }) | ModelNotFound | NoTarget | null => {
  if (!id.startsWith(quotaSharePrefix)) return null
  const parts = quotaShareParts(id)
  if (parts === null) {
    return failed(
      id,
      `a quota-share id has the form ${quotaSharePrefix}<group>/<provider>/<model>`,
      sharesNear(view, id)
    )
  }
  const group = view.catalog.quotaGroups.get(parts.group)
  if (group === undefined) return failed(id, `there is no quota group '${parts.group}'`, sharesNear(view, id))
  const spec = view.catalog.provider(parts.provider)
  if (spec === null) return failed(id, `there is no provider '${parts.provider}'`, sharesNear(view, id))
  const members = group.members.flatMap(({ connectionId, weight }) => {
    const account = view.catalog.byConnection.get(connectionId)
    return account === undefined || account.spec.id !== spec.id ? [] : [{ account, weight }]
  })
  if (members.length === 0) {
    const asleep = view.catalog.connections.some(
      (connection) =>
        connection.provider === spec.id && group.members.some(({ connectionId }) => connectionId === connection.id)
    )
    return asleep
      ? new NoTarget({
          model: id,
          reason: `every member of '${group.name}' at '${spec.id}' is inactive`,
          retryAfterMs: null
        })
      : failed(id, `the quota group '${group.name}' has no member at '${spec.id}'`, sharesNear(view, id))
  }
  const model = spelled(
    view,
    members.map(({ account }) => account),
    parts.model
  )
  return {
    group: group.name,
    targets: members.map(({ account }) => ({ ...target(account, model), share: group.name })),
    weights: members.map(({ weight }) => weight)
  }
}
