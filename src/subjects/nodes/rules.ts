/** Checks a provider node before it is saved, and turns the input into its settings. Pure. */
import type { CreateNode, UpdateNode } from "./routes.ts"
import type { ProviderNodeSettings } from "./entity.ts"
import type { BooleanFlag } from "../flags/FlagCatalog.ts"
import { unmaskHeaders } from "../../kernel/text/Masking.ts"
import * as Registry from "../../plane/providers/Registry.ts"
import { conflict, invalid, type InvalidInput, type StateConflict } from "../Errors.ts"
import { isReservedPrefix } from "../combos/ReservedIds.ts"

/** A new node's settings. */
export const settingsOf = (input: CreateNode): ProviderNodeSettings => ({
  name: input.name,
  prefix: input.prefix,
  type: input.type,
  baseUrl: input.baseUrl,
  wires: input.wires ?? null,
  headers: input.headers ?? null,
  chatPath: input.chatPath ?? null,
  modelsPath: input.modelsPath ?? null,
  mediaPaths: input.mediaPaths ?? null
})

/** The settings after a change: what is absent stays, null clears, and a masked header is the one that is stored. */
export const changed = <Node extends ProviderNodeSettings>(
  before: Node,
  { apiKey: _apiKey, ...input }: UpdateNode
): Node => ({
  ...before,
  ...input,
  headers: input.headers === undefined ? before.headers : unmaskHeaders(input.headers, before.headers)
})

/** Returns the reason for which a prefix cannot be a node's; null when it can. Other nodes are not looked at. */
export const prefixProblem = (prefix: string): InvalidInput | StateConflict | null => {
  if (isReservedPrefix(prefix)) return invalid("prefix", `'${prefix}' is reserved`)
  return Registry.find(prefix) === null ? null : conflict(`'${prefix}' is a provider of the registry.`, "prefix")
}

/** Returns the reason for which there can be no node of a type now; null when there can. */
export const typeProblem = (type: ProviderNodeSettings["type"], isOn: (flag: BooleanFlag) => boolean) =>
  type === "claude-code-compatible" && !isOn("ENABLE_CC_COMPATIBLE_PROVIDER")
    ? {
        field: "type",
        message:
          "needs the flag ENABLE_CC_COMPATIBLE_PROVIDER (gateway flags set ENABLE_CC_COMPATIBLE_PROVIDER true, then restart)"
      }
    : null
