/**
 * Conversations of the responses wire by the id of their latest response, for clients that send only what is new
 * (`previous_response_id`) to upstreams that keep nothing. Pure state, bounded by entries and bytes: the owner with the most loses what it used longest
 * ago. Turns of one conversation share their items: each is held, and counted, once.
 */
import { FairPool } from "../../../kernel/collections/FairPool.ts"
import { isArray, isObject, type Json, type JsonObject, stringOr } from "../../../wire/json/Json.ts"
import { isMadeUp } from "../../../wire/responses/Ids.ts"

export interface ResponseHistoryLimits {
  readonly maxEntries: number
  /** Most entries of one owner. */
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
  /** Id that the client went on from; absent: none. */
  readonly previousId?: string | null
}

/** Part that a turn adds to the one that it goes on from. Plain JSON. */
export interface AddedTurn {
  /** Turn whose items come first; null: none. */
  readonly previousId: string | null
  readonly items: ReadonlyArray<Json>
  readonly base: string | null
}

export interface ResponseHistory {
  /** Keeps a turn under its response id; an owner sees its own turns only. Too large a turn is not kept. */
  readonly remember: (owner: string, responseId: string, turn: Turn) => void
  /** Works out the part that a turn adds, for `extend` in another process. */
  readonly added: (owner: string, turn: Turn) => AddedTurn
  /** Keeps a turn of another process; one that goes on from a turn that is not known here is left out. */
  readonly extend: (owner: string, responseId: string, turn: AddedTurn) => void
  /**
   * Makes the body with the whole conversation as its input and without `previous_response_id`; the body itself when it names
   * none. Instructions and tools are sent anew with every request and are not inherited.
   */
  readonly expand: (owner: string, body: JsonObject) => JsonObject | "unknown"
  /** The body with the items themselves in the place of references to them; the body itself where it has none that is known here. */
  readonly referred: (owner: string, body: JsonObject) => JsonObject
  readonly forget: (owner: string) => void
  readonly entries: () => number
  readonly bytes: () => number
}

interface Entry {
  readonly owner: string
  readonly responseId: string
  readonly items: ReadonlyArray<Json>
  /** Bytes that it added to the store. */
  readonly addedBytes: number
  /** Id that the first turn referred to, when it was not found here: its upstream may know it. */
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
 * Checks whether an item of an answer may be sent again. Reasoning that was not stored and carries no proof is a bare id:
 * its own provider refuses the whole request for it.
 */
const isReplayable =
  (stored: boolean) =>
  (item: Json): boolean => {
    if (!isObject(item) || item["type"] !== "reasoning" || stored) return true
    const id = stringOr(item["id"])
    return id === null || isMadeUp(id) || typeof item["encrypted_content"] === "string"
  }

const idOf = (item: Json): string => (isObject(item) ? (stringOr(item["id"]) ?? "") : "")

/** The id that stands for an item (`{type: "item_reference", id}`, where the type may be left out); null where this is an item itself. */
const referenceOf = (item: Json): string | null => {
  if (!isObject(item)) return null
  const { id, role, type, ...rest } = item
  const isReference =
    type === "item_reference" || ((type ?? null) === null && role === undefined && Object.keys(rest).length === 0)
  return isReference && typeof id === "string" && id !== "" ? id : null
}

const keyOf = (owner: string, id: string): string => `${owner}\n${id}`

/** Items that turns share: each is counted once, until the last of them lets go of it. Returns the bytes that were added or freed. */
const makeSharedItems = () => {
  const references = new Map<Json, { uses: number; readonly bytes: number }>()
  const hold = (item: Json): number => {
    const known = references.get(item)
    if (known !== undefined) known.uses += 1
    else references.set(item, { uses: 1, bytes: weigh(item) })
    return known === undefined ? (references.get(item)?.bytes ?? 0) : 0
  }
  const release = (item: Json): number => {
    const known = references.get(item)
    if (known === undefined) return 0
    known.uses -= 1
    if (known.uses > 0) return 0
    references.delete(item)
    return known.bytes
  }
  return { hold, release, has: (item: Json) => references.has(item) }
}

/** All items of a turn: the request's, and those of the answer that may be sent again. */
const itemsOf = ({ output, request }: Turn): ReadonlyArray<Json> => [
  ...inputItems(request["input"]),
  ...output.filter(isReplayable(request["store"] !== false))
]

export const makeResponseHistory = (limits: ResponseHistoryLimits = defaultLimits): ResponseHistory => {
  const shared = makeSharedItems()
  let bytes = 0

  /** Items that are held, by their owner and id. */
  const byId = new Map<string, Json>()

  const dropped = (_: string, { items, owner }: Entry): void => {
    for (const item of items) {
      bytes -= shared.release(item)
      const key = keyOf(owner, idOf(item))
      if (!shared.has(item) && byId.get(key) === item) byId.delete(key)
    }
    bytes -= bytesPerEntry + items.length * bytesPerReference
  }

  const entries = new FairPool<string, Entry>({
    capacity: limits.maxEntries,
    share: limits.maxOwnerEntries,
    maxWeight: limits.maxBytes,
    ownerOf: ({ owner }) => owner,
    weightOf: ({ addedBytes }) => addedBytes,
    onRemove: dropped
  })

  const keep = (owner: string, responseId: string, items: ReadonlyArray<Json>, base: string | null): void => {
    const key = keyOf(owner, responseId)
    const before = bytes
    // Held before the old entry goes, so that what both share is not measured again.
    for (const item of items) {
      bytes += shared.hold(item)
      if (idOf(item) !== "" && referenceOf(item) === null) byId.set(keyOf(owner, idOf(item)), item)
    }
    bytes += bytesPerEntry + items.length * bytesPerReference
    const addedBytes = bytes - before
    entries.delete(key)
    const entry = { owner, responseId, items, addedBytes, base }
    if (!entries.set(key, entry)) dropped(key, entry)
    // What turns share is held until the last of them is gone.
    while (bytes > limits.maxBytes && entries.deleteFairly());
  }

  const remember = (owner: string, responseId: string, turn: Turn): void =>
    keep(owner, responseId, itemsOf(turn), stringOr(turn.request["previous_response_id"]))

  const added = (owner: string, turn: Turn): AddedTurn => {
    const items = itemsOf(turn)
    const base = stringOr(turn.request["previous_response_id"])
    const previousId = turn.previousId ?? null
    const previous = previousId === null ? undefined : entries.peek(keyOf(owner, previousId))
    const goesOn = previous?.items.every((item, index) => items[index] === item) === true
    return goesOn && previous !== undefined
      ? { previousId, items: items.slice(previous.items.length), base }
      : { previousId: null, items, base }
  }

  const extend = (owner: string, responseId: string, { base, items, previousId }: AddedTurn): void => {
    const previous = previousId === null ? null : entries.peek(keyOf(owner, previousId))
    if (previous !== undefined) keep(owner, responseId, [...(previous?.items ?? []), ...items], base)
  }

  const expand = (owner: string, body: JsonObject): JsonObject | "unknown" => {
    const { previous_response_id: previous, ...rest } = body
    if (previous === undefined || previous === null) return body
    const key = typeof previous === "string" ? keyOf(owner, previous) : ""
    const entry = entries.get(key)
    if (entry === undefined) return "unknown"
    const input = [...entry.items, ...inputItems(body["input"])]
    return { ...rest, input, ...(entry.base === null ? {} : { previous_response_id: entry.base }) }
  }

  const itemOf = (owner: string, item: Json): Json => {
    const id = referenceOf(item)
    return id === null ? item : (byId.get(keyOf(owner, id)) ?? item)
  }

  const referred = (owner: string, body: JsonObject): JsonObject => {
    const { input } = body
    if (!isArray(input) || !input.some((item) => referenceOf(item) !== null)) return body
    return { ...body, input: input.map((item) => itemOf(owner, item)) }
  }

  return {
    remember,
    added,
    extend,
    expand,
    referred,
    forget: (owner) => {
      entries.deleteOwner(owner)
    },
    entries: () => entries.size,
    bytes: () => bytes
  }
}
