/**
 * Turns of changes: those of one object are made one after the other, so that nothing comes between what an editor has seen and the change. A
 * route takes the turn of the object of its path (`entry/management/Changes`); who changes another object takes that one's here.
 */
import * as Context from "effect/Context"
import type * as Effect from "effect/Effect"

/** The group of the object's routes, and its id. */
type InTurn = (family: string, id: string) => <A, E, R>(change: Effect.Effect<A, E, R>) => Effect.Effect<A, E, R>

export class ObjectTurns extends Context.Reference<ObjectTurns>()("gateway/subjects/ObjectTurns", {
  defaultValue: (): { readonly inTurn: InTurn } => ({ inTurn: () => (change) => change })
}) {}
