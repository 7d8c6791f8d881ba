/** Tells of programs that are installed for a tunnel. What stands above this folder says who is told. */
import * as Context from "effect/Context"
import type * as Effect from "effect/Effect"

type Announce = <A, E, R>(id: string, install: Effect.Effect<A, E, R>) => Effect.Effect<A, E, R>

export class Installs extends Context.Reference<Installs>()("gateway/net/tunnels/Installs", {
  defaultValue: (): { readonly announced: Announce } => ({ announced: (_id, install) => install })
}) {}
