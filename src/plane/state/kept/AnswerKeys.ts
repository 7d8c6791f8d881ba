/**
 * Finds an answer again when its conversation comes back: by its content, never by its position. Pure. Keys are SHA-256
 * over the owner and the content, so that one API key never meets another's answers.
 */
import { createHash } from "node:crypto"
import type { Part, ToolCallPart } from "../../../wire/canonical/Conversation.ts"
import { isArray, isObject, type Json, parseJson } from "../../../wire/json/Json.ts"

/** Deepest nesting of arguments that is put in order; what lies deeper is taken as it is. */
const maxDepth = 64

/** Clients write arguments again in their own order and spacing. */
const ordered = (value: Json | undefined, depth: number): Json | undefined => {
  if (depth > maxDepth) return value
  if (isArray(value)) return value.map((item) => ordered(item, depth + 1) ?? null)
  if (!isObject(value)) return value
  const sorted: Record<string, Json | undefined> = Object.create(null)
  for (const key of Object.keys(value).toSorted()) sorted[key] = ordered(value[key], depth + 1)
  return sorted
}

const argsOf = (call: ToolCallPart): string => {
  if (call.kind === "custom") return call.args
  const parsed = parseJson(call.args)
  return parsed === undefined ? call.args : JSON.stringify(ordered(parsed, 0))
}

const hash = (owner: string, kind: string, pieces: ReadonlyArray<string>): string => {
  const digest = createHash("sha256").update(`${owner}\0${kind}`)
  // Lengths keep the pieces apart whatever they hold.
  for (const piece of pieces) digest.update(`\0${piece.length}\0${piece}`)
  return digest.digest("base64")
}

const argsIn = (parts: ReadonlyArray<Part>): ReadonlyArray<Json | undefined> =>
  parts.flatMap((part) =>
    part.type === "tool_call" ? [part.kind === "custom" ? part.args : parseJson(part.args)] : []
  )

/**
 * Checks whether nothing of `said` is missing or different in `back`: clients add their tools' defaults to the
 * arguments of a call.
 */
export const keepsArgs = (said: ReadonlyArray<Part>, sentBack: ReadonlyArray<Part>): boolean => {
  const own = argsIn(sentBack)
  const same = (one: Json | undefined, other: Json | undefined): boolean =>
    JSON.stringify(ordered(one, 0)) === JSON.stringify(ordered(other, 0))
  return argsIn(said).every((args, index) => {
    const mine = own[index]
    return isObject(args) && isObject(mine)
      ? Object.keys(args).every((name) => Object.hasOwn(mine, name) && same(args[name], mine[name]))
      : same(args, mine)
  })
}

/**
 * The keys an answer goes by, the surest first: all its calls with their ids, then all it said (some wires have no ids), then the
 * ids and names of its calls alone, for clients that complete the arguments (see `keepsArgs`).
 * Empty when it neither said nor called anything.
 */
export const answerKeys = (owner: string, parts: ReadonlyArray<Part>): ReadonlyArray<string> => {
  let text = ""
  const calls: Array<string> = []
  const ids: Array<string> = []
  const names: Array<string> = []
  for (const part of parts) {
    if (part.type === "text" || part.type === "refusal") text += part.text
    if (part.type !== "tool_call") continue
    ids.push(part.id)
    names.push(part.name)
    calls.push(part.name, argsOf(part))
  }
  const said = text.trim()
  if (said === "" && calls.length === 0) return []
  const content = hash(owner, "content", [said, ...calls])
  return ids.length === 0 || ids.includes("")
    ? [content]
    : [hash(owner, "calls", [...ids, ...calls]), content, hash(owner, "ids", [...ids, ...names])]
}

/** The key of a provider's opaque proof. */
export const proofKey = (owner: string, proof: string): string => hash(owner, "proof", [proof])
