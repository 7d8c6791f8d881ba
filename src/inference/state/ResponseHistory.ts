/**
 * Conversations of the responses wire by the id of their latest response, for clients that send only what is new
 * (`previous_response_id`) to upstreams that keep nothing. Pure state, bounded by entries and bytes, the least recently used goes
 * first. Turns of one conversation share their items: each is held, and counted, once.
 */
import { LruMap } from "../../kernel/LruMap.ts"
import { isArray, isObject, type Json, type JsonObject, stringOr } from "../../wire/json/Json.ts"
import { isMadeUp } from "../../wire/responses/Ids.ts"

export interface ResponseHistoryLimits {
  readonly maxEntries: number
  /** Of one owner. */
  readonly maxOwnerEntries: number
  readonly maxBytes: number
}

export const defaultLimits: ResponseHistoryLimits = {
  maxEntries: 8_192,
  maxOwnerEntries: 256,
  maxBytes: 256 * 1_048_576
}

/** One turn: the request as it went into the pipeline (expanded), and the items of its answer. */
export interface Turn {
  readonly request: JsonObject
  readonly output: ReadonlyArray<Json>
}

export interface ResponseHistory {
  /** Keeps a turn under its response id; an owner sees its own turns only. Too large a turn is not kept. */
  readonly remember: (owner: string, responseId: string, turn: Turn) => void
  /**
   * The body with the whole conversation as its input and without `previous_response_id`; the body itself when it names none.
   * Instructions and tools are told anew with every request and are not inherited.
   */
  readonly expand: (owner: string, body: JsonObject) => JsonObject | "unknown"
  readonly forget: (owner: string) => void
  readonly entries: () => number
  readonly bytes: () => number
}

interface Entry {
  readonly owner: string
  readonly responseId: string
  readonly items: ReadonlyArray<Json>
  /** What the first turn referred to, when that was not found here: its upstream may know it. */
  readonly base: string | null
}

/** An item's place in a list, and the entry itself, by rule of thumb. */
const bytesPerReference = 16
const bytesPerEntry = 512

/** Roughly what a value takes in memory. Not recursive: clients choose the depth. */
export const weigh = (value: Json): number => {
  let bytes = 0
  const open: Array<Json> = [value]
  for (let next = open.pop(); next !== undefined; next = open.pop()) {
    bytes += 16
    if (typeof next === "string") bytes += next.length * 2
    else if (isArray(next)) for (const item of next) open.push(item)
    else if (isObject(next)) {
      for (const [key, member] of Object.entries(next)) {
        bytes += key.length
        open.push(member ?? null)
      }
    }
  }
  return bytes
}

/** `input` as the list of items it stands for. */
const inputItems = (input: Json | undefined): ReadonlyArray<Json> => {
  if (isArray(input)) return input
  return typeof input === "string" && input !== "" ? [{ type: "message", role: "user", content: input }] : []
}

/**
 * Whether an item of an answer may be sent again. Reasoning that was not stored and carries no proof is a bare id: its own
 * provider refuses the whole request for it.
 */
const isReplayable =
  (stored: boolean) =>
  (item: Json): boolean => {
    if (!isObject(item) || item["type"] !== "reasoning" || stored) return true
    const id = stringOr(item["id"])
    return id === null || isMadeUp(id) || typeof item["encrypted_content"] === "string"
  }

export const makeResponseHistory = (limits: ResponseHistoryLimits = defaultLimits): ResponseHistory => {
  const owned = new Map<string, LruMap<string, null>>()
  const held = new Map<Json, { uses: number; readonly bytes: number }>()
  let bytes = 0

  const keyOf = (owner: string, responseId: string): string => `${owner}\n${responseId}`

  const hold = (item: Json): void => {
    const known = held.get(item)
    if (known !== undefined) known.uses += 1
    else {
      const size = weigh(item)
      held.set(item, { uses: 1, bytes: size })
      bytes += size
    }
  }

  const release = (item: Json): void => {
    const known = held.get(item)
    if (known === undefined) return
    known.uses -= 1
    if (known.uses > 0) return
    held.delete(item)
    bytes -= known.bytes
  }

  const dropped = (key: string, { items, owner }: Entry): void => {
    const own = owned.get(owner)
    own?.delete(key)
    if (own?.size === 0) owned.delete(owner)
    for (const item of items) release(item)
    bytes -= bytesPerEntry + items.length * bytesPerReference
  }

  const entries = new LruMap<string, Entry>({ capacity: limits.maxEntries, onRemove: dropped })

  /** The keys of an owner, with a limit of their own. */
  const keysOf = (owner: string): LruMap<string, null> => {
    const known = owned.get(owner)
    if (known !== undefined) return known
    const own = new LruMap<string, null>({
      capacity: limits.maxOwnerEntries,
      onRemove: (key) => void entries.delete(key)
    })
    owned.set(owner, own)
    return own
  }

  const remember = (owner: string, responseId: string, { output, request }: Turn): void => {
    const key = keyOf(owner, responseId)
    const items = [...inputItems(request["input"]), ...output.filter(isReplayable(request["store"] !== false))]
    // Held before the old entry goes, so that what both share is not measured again.
    for (const item of items) hold(item)
    entries.delete(key)
    bytes += bytesPerEntry + items.length * bytesPerReference
    // The owner's own limit first: at it, an entry of the owner itself goes.
    keysOf(owner).set(key, null)
    entries.set(key, { owner, responseId, items, base: stringOr(request["previous_response_id"]) })
    while (bytes > limits.maxBytes && entries.size > 0) entries.deleteOldest()
  }

  const expand = (owner: string, body: JsonObject): JsonObject | "unknown" => {
    const { previous_response_id: previous, ...rest } = body
    if (previous === undefined || previous === null) return body
    const key = typeof previous === "string" ? keyOf(owner, previous) : ""
    const entry = entries.get(key)
    if (entry === undefined) return "unknown"
    keysOf(owner).get(key)
    const input = [...entry.items, ...inputItems(body["input"])]
    return { ...rest, input, ...(entry.base === null ? {} : { previous_response_id: entry.base }) }
  }

  return {
    remember,
    expand,
    forget: (owner) => {
      owned.get(owner)?.clear()
    },
    entries: () => entries.size,
    bytes: () => bytes
  }
}
