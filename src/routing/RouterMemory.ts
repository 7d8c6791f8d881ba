/**
 * What strategies remember between requests: which target last served a combo or `auto`.
 * Bounded; memory only until the routing engine keeps it in the store.
 */
import * as Context from "effect/Context"
import * as Layer from "effect/Layer"
import type { Target } from "./ModelResolver.ts"
import type { RouterState } from "./Router.ts"

export const capacity = 1_000

export class RouterMemory extends Context.Tag("gateway/routing/RouterMemory")<
  RouterMemory,
  {
    /** Hot. `key` is the model id the client asked for. */
    readonly state: (key: string) => RouterState
    /** Hot: a target has answered wholly. */
    readonly served: (key: string, target: Target) => void
  }
>() {}

const nothing: RouterState = { lastKnownGood: null }

export const make = () => {
  const good = new Map<string, RouterState>()
  return RouterMemory.of({
    state: (key) => good.get(key) ?? nothing,
    served: (key, { account, model }) => {
      const known = good.get(key)?.lastKnownGood
      const connectionId = account.connection.id
      if (known?.connectionId === connectionId && known.model === model) return
      if (good.size >= capacity && !good.has(key)) {
        const oldest = good.keys().next()
        if (!oldest.done) good.delete(oldest.value)
      }
      good.set(key, { lastKnownGood: { connectionId, model } })
    }
  })
}

export const layer: Layer.Layer<RouterMemory> = Layer.sync(RouterMemory, make)
