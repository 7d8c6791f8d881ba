/** Reads states that an earlier run has left in the store. */
import * as Effect from "effect/Effect"
import * as Either from "effect/Either"
import * as Schema from "effect/Schema"
import type { StateRow } from "../../../store/engine/StateRows.ts"

export interface StoredStates<A> {
  /** States in the order of the rows. */
  readonly states: ReadonlyMap<string, A>
  /** Keys whose state cannot be read. */
  readonly corrupt: ReadonlyArray<string>
}

/** A state that cannot be read is left out and logged; `what` names it there. Never fails. */
export const readStates = <A, I>(
  what: string,
  schema: Schema.Schema<A, I>,
  rows: ReadonlyArray<StateRow>
): Effect.Effect<StoredStates<A>> =>
  Effect.gen(function* () {
    if (rows.length === 0) return { states: new Map<string, A>(), corrupt: [] }
    const decode = Schema.decodeUnknownEither(Schema.parseJson(schema))
    const states = new Map<string, A>()
    const corrupt: Array<string> = []
    for (const { key, state } of rows) {
      const decoded = decode(state)
      if (Either.isRight(decoded)) states.set(key, decoded.right)
      else {
        corrupt.push(key)
        yield* Effect.logWarning(`${what} of ${key} cannot be read and is dropped`)
      }
    }
    return { states, corrupt }
  })
