/** Rules for saving an alias of a model. Pure. */
import { type Aliases, bare, endOf, maxAliasHops } from "../../plane/routing/resolve/Aliases.ts"
import { conflict, invalid, type InvalidInput, type StateConflict } from "../Errors.ts"
import { isReservedId } from "../combos/ReservedIds.ts"

export type AliasProblem =
  | { readonly _tag: "Reserved" }
  | { readonly _tag: "IsCombo" }
  | { readonly _tag: "IsProvider"; readonly provider: string }
  | { readonly _tag: "Cycle" }
  | { readonly _tag: "TooLong" }

/** Names that are taken by others. */
export interface Taken {
  readonly isCombo: (name: string) => boolean
  readonly isProvider: (idOrAlias: string) => boolean
}

/** Returns the reason for which an alias is forbidden beside the others; null when there is none. */
export const problemOf = (
  { alias, model }: { readonly alias: string; readonly model: string },
  others: Aliases,
  taken: Taken
): AliasProblem | null => {
  if (isReservedId(alias)) return { _tag: "Reserved" }
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

/** The refusal that a problem of an alias leads to. */
export const refusalOf = (alias: string, problem: AliasProblem): InvalidInput | StateConflict => {
  switch (problem._tag) {
    case "Reserved":
      return invalid("alias", "begins with words that mean something else already")
    case "IsCombo":
      return conflict(`There is a combo named '${alias}'.`, "alias")
    case "IsProvider":
      return conflict(`'${problem.provider}' is a provider.`, "alias")
    case "Cycle":
      return invalid("model", "leads back to the alias")
    case "TooLong":
      return invalid("model", `makes a chain of more than ${maxAliasHops} aliases`)
  }
}
