/** Model ids, and first parts of them, that already mean something else: automatic routing, combos, quota shares, the no-thinking alias. Pure. */
import { noThinkingPrefix, quotaSharePrefix } from "../../plane/routing/resolve/ModelIds.ts"

const beginnings = ["auto/", "combo/", "combo:", quotaSharePrefix, noThinkingPrefix].map((text) => text.toLowerCase())

/** Checks whether an id is reserved as the name of a combo or an alias, which is a whole model id. */
export const isReservedId = (id: string): boolean => {
  const lower = id.toLowerCase()
  return lower === "auto" || beginnings.some((beginning) => lower.startsWith(beginning))
}

/** Checks whether a prefix is reserved as that of a node, which is before the slash of a model id. */
export const isReservedPrefix = (prefix: string): boolean => beginnings.includes(`${prefix.toLowerCase()}/`)
