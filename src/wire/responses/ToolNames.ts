/**
 * Tools of a namespace get a flat name on wires without namespaces. It depends on the two parts alone, so that definitions, calls of the
 * history and answers agree; the original is looked up among the request's own tools.
 */
import { hashOf, plainWord } from "../canonical/Aliases.ts"
import { isArray, isObject, type Json, type JsonObject, stringOr } from "../json/Json.ts"

/** The shortest limit among the other wires. */
const maxNameChars = 64

/** The flat name of a namespace and a tool; a long one is cut and made unique by a hash. */
export const flatName = (namespace: string, name: string): string => {
  const joined = namespace.endsWith("__") ? namespace + name : `${namespace}__${name}`
  const clean = plainWord(joined)
  return clean.length <= maxNameChars ? clean : `${clean.slice(0, maxNameChars - 9)}_${hashOf(joined)}`
}

/** The name other wires see; calls and tool choices of namespaced tools have a `namespace`. */
export const nameOf = (item: JsonObject): string | null => {
  const name = stringOr(item["name"])
  const namespace = stringOr(item["namespace"]) ?? ""
  return name === null || namespace === "" ? name : flatName(namespace, name)
}

/** A tool by the client's own names. */
export interface DeclaredTool {
  readonly name: string
  readonly namespace: string | null
  readonly custom: boolean
}

const declare = (declared: Map<string, DeclaredTool>, tools: Json | undefined, namespace: string | null): void => {
  if (!isArray(tools)) return
  for (const tool of tools) {
    if (!isObject(tool)) continue
    const name = stringOr(tool["name"])
    if (name === null) continue
    if (tool["type"] === "namespace") {
      if (namespace === null) declare(declared, tool["tools"], name)
      continue
    }
    const flat = namespace === null ? name : flatName(namespace, name)
    if (!declared.has(flat)) declared.set(flat, { name, namespace, custom: tool["type"] === "custom" })
  }
}

/** The tools of a client's request by the names that upstreams of other wires see. Empty without a request. */
export const declaredTools = (request: JsonObject | undefined): ReadonlyMap<string, DeclaredTool> => {
  const declared = new Map<string, DeclaredTool>()
  declare(declared, request?.["tools"], null)
  return declared
}
