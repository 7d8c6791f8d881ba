/** A copy of the combos and aliases, at which a bundle of cloud sync is tried before it is taken over. */
import * as Context from "effect/Context"
import type * as Effect from "effect/Effect"
import type * as Scope from "effect/Scope"
import type { StoreError } from "../../store/Errors.ts"
import type { Combos } from "../combos/service.ts"
import type { ModelAliases } from "../aliases/service.ts"

export class ConfigurationCopies extends Context.Tag("gateway/subjects/sync/ConfigurationCopies")<
  ConfigurationCopies,
  {
    /** The copy lives as long as the scope. */
    readonly open: Effect.Effect<Context.Context<Combos | ModelAliases>, StoreError, Scope.Scope>
  }
>() {}
