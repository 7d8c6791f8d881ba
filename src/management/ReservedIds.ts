/** Model ids, and first parts of them, that already mean something else: automatic routing, combos, quota shares, the no-thinking alias. Pure. */
import { noThinkingPrefix, quotaSharePrefix } from "../routing/resolve/ModelIds.ts"

const beginnings = ["auto/", "combo/", "combo:", quotaSharePrefix, noThinkingPrefix].map((text) => text.toLowerCase())

/** As the name of a combo or an alias, which is a whole model id. */
export const isReservedId = (id: string): boolean => {
  const lower = id.toLowerCase()
  return lower === "auto" || beginnings.some((beginning) => lower.startsWith(beginning))
}

/** As the prefix of a node, which stands before the slash of a model id. */
export const isReservedPrefix = (prefix: string): boolean => beginnings.includes(`${prefix.toLowerCase()}/`)
