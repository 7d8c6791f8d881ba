/** What a plan needs of a gateway: what it has, and how each change is made. */
import * as Effect from "effect/Effect"
import type { AnyChange, Present } from "../../../declared/Plan.ts"
import * as Client from "../../gateway/Client.ts"

export const presentAt = (to: Client.Target) =>
  Effect.gen(function* () {
    const nodes = yield* Client.group(to, "providerNodes")
    const providers = yield* Client.group(to, "providers")
    const combos = yield* Client.group(to, "combos")
    const present: Present = {
      nodes: (yield* nodes.list().pipe(Client.orExplain(to))).nodes,
      connections: (yield* providers.list().pipe(Client.orExplain(to))).connections,
      combos: (yield* combos.list().pipe(Client.orExplain(to))).combos
    }
    return present
  })

/** Makes one change. What the gateway refuses ends the run; a second run goes on where it ended. */
export const make = (to: Client.Target, change: AnyChange) =>
  Effect.gen(function* () {
    const { id } = change
    switch (change.kind) {
      case "node": {
        const nodes = yield* Client.group(to, "providerNodes")
        const payload = change.wanted
        return yield* (id === null ? nodes.create({ payload }) : nodes.update({ path: { id }, payload })).pipe(
          Client.orExplain(to),
          Effect.asVoid
        )
      }
      case "connection": {
        const providers = yield* Client.group(to, "providers")
        const payload = change.wanted
        return yield* (id === null ? providers.create({ payload }) : providers.update({ path: { id }, payload })).pipe(
          Client.orExplain(to),
          Effect.asVoid
        )
      }
      case "combo": {
        const combos = yield* Client.group(to, "combos")
        const { id: _unchanging, ...payload } = change.wanted
        return yield* (
          id === null ? combos.create({ payload: change.wanted }) : combos.update({ path: { id }, payload })
        ).pipe(Client.orExplain(to), Effect.asVoid)
      }
    }
  })
