/** The automatic ids (`auto`, `auto/coding`, …) with what each would choose from. Pure. */
import type { Account } from "../../plane/providers/Catalog.ts"
import { commonFacts, type ModelFacts } from "../../plane/providers/ModelFacts.ts"
import { type AutoSpec, invokableAutoIds, parseAutoId } from "../../plane/routing/resolve/AutoId.ts"
import { poolOf, type ResolverView } from "../../plane/routing/resolve/ModelResolver.ts"

export interface AutoCandidate {
  readonly account: Account
  readonly model: string
  readonly facts: ModelFacts
}

export interface AutoCombo {
  readonly spec: AutoSpec
  readonly pool: ReadonlyArray<AutoCandidate>
  /** The greatest limits of the pool. */
  readonly limits: ModelFacts
}

export const autoCombos = (view: ResolverView): ReadonlyArray<AutoCombo> => {
  const pool = poolOf(view).map(({ account, model }) => ({ account, model, facts: view.factsOf(account, model) }))
  const limits = commonFacts(
    pool.map(({ facts }) => facts),
    "greatest"
  )
  return invokableAutoIds.flatMap((id) => {
    const spec = parseAutoId(id)
    return spec === null ? [] : [{ spec, pool, limits }]
  })
}
