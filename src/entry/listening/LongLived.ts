/**
 * Connections and work that outlive a request: sockets, feeds, sessions, tasks. Each kind registers how it ends, so that a stop ends all of
 * them without knowing any.
 */
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"

export interface Ending {
  /** Lets what runs finish, and begins nothing new. */
  readonly drain?: () => void
  /** Closes what is left. */
  readonly cut?: () => void
  /** Waits until all are closed; absent: nothing has to be waited for. */
  readonly closed?: Effect.Effect<void>
}

export class LongLived extends Context.Tag("gateway/entry/listening/LongLived")<
  LongLived,
  {
    readonly register: (ending: Ending) => void
    readonly drain: () => void
    readonly cut: () => void
    readonly closed: Effect.Effect<void>
  }
>() {}

export const make = () => {
  const endings: Array<Ending> = []
  return LongLived.of({
    register: (ending) => {
      endings.push(ending)
    },
    drain: () => {
      for (const { drain } of endings) drain?.()
    },
    cut: () => {
      for (const { cut } of endings) cut?.()
    },
    closed: Effect.suspend(() => Effect.forEach(endings, ({ closed }) => closed ?? Effect.void, { discard: true }))
  })
}

export const layer: Layer.Layer<LongLived> = Layer.sync(LongLived, make)
