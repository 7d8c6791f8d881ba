/** Listener for the traffic of tunnels: one of its own, implemented by `http`, so that it is never taken for this machine's own. */
import * as Context from "effect/Context"
import * as Data from "effect/Data"
import type * as Effect from "effect/Effect"
import type * as Scope from "effect/Scope"

/** The listener cannot be opened; `message` is for people. */
export class EntranceFailed extends Data.TaggedError("EntranceFailed")<{ readonly message: string }> {}

export interface Entrance {
  readonly host: "127.0.0.1"
  readonly port: number
}

export class TunnelEntrance extends Context.Tag("gateway/net/tunnels/TunnelEntrance")<
  TunnelEntrance,
  {
    /** Opens it, or shares the open one; it is closed with the last scope that uses it. */
    readonly open: Effect.Effect<Entrance, EntranceFailed, Scope.Scope>
  }
>() {}
