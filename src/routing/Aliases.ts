/** Aliases of models: how they are followed, and what must hold when one is saved. Pure. */
import { behindNoThinking, noThinkingPrefix, quotaSharePrefix } from "./ModelIds.ts"

/** Alias → the id it stands for. */
export type Aliases = ReadonlyMap<string, string>

/** Longest chain of aliases that is followed; longer ones are refused at save. */
export const maxAliasHops = 10

/** The id without what only says how a model is asked for. */
const bare = (id: string): string => behindNoThinking(id) ?? id

/** Where a chain of aliases ends: an id that is no alias. Null when it is longer than allowed, or does not end. */
export const endOf = (aliases: Aliases, id: string): string | null => {
  let current = bare(id)
  for (let hops = 0; hops <= maxAliasHops; hops += 1) {
    const next = aliases.get(current)
    if (next === undefined) return current
    current = bare(next)
  }
  return null
}

/** Beginnings that mean something else already. */
const reservedBeginnings = ["auto/", "combo:", "combo/", quotaSharePrefix, noThinkingPrefix].map((text) =>
  text.toLowerCase()
)

export type AliasProblem =
  | { readonly _tag: "Reserved" }
  | { readonly _tag: "IsCombo" }
  | { readonly _tag: "IsProvider"; readonly provider: string }
  | { readonly _tag: "Cycle" }
  | { readonly _tag: "TooLong" }

/** What is taken by others. */
export interface Taken {
  readonly isCombo: (name: string) => boolean
  readonly isProvider: (idOrAlias: string) => boolean
}

/** What forbids an alias beside the others; null when nothing does. */
export const problemOf = (
  { alias, model }: { readonly alias: string; readonly model: string },
  others: Aliases,
  taken: Taken
): AliasProblem | null => {
  const lower = alias.toLowerCase()
  if (lower === "auto" || reservedBeginnings.some((beginning) => lower.startsWith(beginning))) {
    return { _tag: "Reserved" }
  }
  if (taken.isCombo(alias)) return { _tag: "IsCombo" }
  const slash = alias.indexOf("/")
  const provider = slash === -1 ? alias : alias.slice(0, slash)
  if (taken.isProvider(provider)) return { _tag: "IsProvider", provider }
  const all = new Map(others).set(alias, model)
  const seen = new Set<string>()
  for (let at: string | undefined = alias; at !== undefined;) {
    if (seen.has(at)) return { _tag: "Cycle" }
    seen.add(at)
    const next: string | undefined = all.get(at)
    at = next === undefined ? undefined : bare(next)
  }
  return [...all.keys()].some((each) => endOf(all, each) === null) ? { _tag: "TooLong" } : null
}
