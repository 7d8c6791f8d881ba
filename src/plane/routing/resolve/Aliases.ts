/** Aliases of models: how they are followed. What must hold when one is saved is in `subjects/aliases/rules`. Pure. */
import { behindNoThinking } from "./ModelIds.ts"

/** Alias → the id it stands for. */
export type Aliases = ReadonlyMap<string, string>

/** Longest chain of aliases that is followed; longer ones are refused at save. */
export const maxAliasHops = 10

/** The id without what only says how a model is asked for. */
export const bare = (id: string): string => behindNoThinking(id) ?? id

/**
 * Follows a chain of aliases to its end: an id that is no alias. Null when it is longer than allowed, or does not end.
 */
export const endOf = (aliases: Aliases, id: string): string | null => {
  let current = bare(id)
  for (let hops = 0; hops <= maxAliasHops; hops += 1) {
    const next = aliases.get(current)
    if (next === undefined) return current
    current = bare(next)
  }
  return null
}
