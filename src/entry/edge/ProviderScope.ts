/**
 * Routes that serve one provider only (`/v1/providers/{provider}/…`): the model id in the body gets the provider's prefix
 * when it has none, and must not name another provider. Pure.
 */
import { type InferenceError, InvalidRequest, ProviderNotFound } from "../../contract/domain/Errors.ts"
import { maxModelChars, type ProviderSpec } from "../../contract/domain/Provider.ts"
import type * as Catalog from "../../plane/providers/Catalog.ts"
import type { Account, CatalogSnapshot } from "../../plane/providers/Catalog.ts"
import { behindNoThinking, noThinkingPrefix } from "../../plane/routing/resolve/ModelIds.ts"
import { readForeignBody } from "../../wire/json/LargeBodies.ts"
import { maxTopMembers } from "../../wire/json/Excess.ts"
import { isObject } from "../../wire/json/Json.ts"
import type { Parameters } from "../../contract/Routes.ts"
import { replaceModelBytes } from "../../wire/json/TopLevelSplice.ts"

export interface ScopeView {
  readonly catalog: CatalogSnapshot
  readonly modelsOf: (account: Account) => ReadonlyArray<string>
}

export const scopeOf = (catalog: Pick<typeof Catalog.Catalog.Service, "current" | "modelsOf">): ScopeView => ({
  catalog: catalog.current(),
  modelsOf: catalog.modelsOf
})

/** Finds the provider that a route of one provider names; null on all other routes. */
export const providerOf = (
  catalog: Pick<typeof Catalog.Catalog.Service, "current" | "modelsOf">,
  { provider }: Parameters
): ProviderSpec | ProviderNotFound | null => (provider === undefined ? null : providerNamed(scopeOf(catalog), provider))

export const providerNamed = ({ catalog }: ScopeView, name: string): ProviderSpec | ProviderNotFound =>
  catalog.provider(name) ?? new ProviderNotFound({ provider: name })

/** Checks whether a bare id has a meaning before any provider is asked: never the model of one provider. */
const isCollective = ({ catalog }: ScopeView, model: string): boolean =>
  model === "auto" || /^(?:auto|combo|qtsd)[/:]/i.test(model) || catalog.combos.has(model)

/**
 * The id with the provider's prefix, the no-thinking mark kept in front. An id the provider lists is its own, whatever is in front of
 * its slash.
 */
export const scopedModel = (view: ScopeView, spec: ProviderSpec, model: string): string | InvalidRequest => {
  const behind = behindNoThinking(model)
  if (behind !== null) {
    const scoped = scopedModel(view, spec, behind)
    return typeof scoped === "string" ? noThinkingPrefix + scoped : scoped
  }
  const own = `${spec.id}/${model}`
  const accounts = view.catalog.byProvider.get(spec.id) ?? []
  if (accounts.some((account) => view.modelsOf(account).includes(model))) return own
  const slash = model.indexOf("/")
  const named = slash <= 0 ? null : view.catalog.provider(model.slice(0, slash))
  if (named?.id === spec.id) return `${spec.id}${model.slice(slash)}`
  if (named === null && !isCollective(view, model)) return own
  const message = `model: '${model}' is not a model of '${spec.id}', and this route serves '${spec.id}' only`
  return new InvalidRequest({ message, param: "model", details: [{ field: "model", message }] })
}

/** The client's bytes with the scoped model. A body without a model is left to the check of its wire. */
export const scopedBody = (view: ScopeView, spec: ProviderSpec, body: Buffer): Buffer | InferenceError => {
  const parsed = readForeignBody(body, maxTopMembers)
  if (!isObject(parsed)) return body
  const { model } = parsed
  if (typeof model !== "string" || model === "" || model.length > maxModelChars) return body
  const scoped = scopedModel(view, spec, model)
  if (typeof scoped !== "string") return scoped
  return scoped === model ? body : replaceModelBytes(body, parsed, scoped)
}
