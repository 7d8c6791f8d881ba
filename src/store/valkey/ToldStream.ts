/**
 * Stream at Valkey by which gateways tell each other what they learn; its entries are kept for a minute. Each has the gateway that has told it and its number there;
 * the rest is encrypted by the caller. A reader goes on behind the last entry it has; where the stream was flushed, or the server is another one, it begins anew.
 */
import * as Effect from "effect/Effect"
import { keptMs, type Told } from "../nodes/ToldRows.ts"
import { type Connection, type Reply, ValkeyError } from "./Connection.ts"

/** Time in ms for which a reader waits for the next entry, and that by which its answer may be late. */
const waitsMs = 5_000
const lateMs = 2_000

/** Entries of one answer. */
const mostAtOnce = 50

/** Place behind which nothing is known to be. */
export const begin = "0-0"

const strange = new ValkeyError({ message: "what it answers is no stream" })

const isList = (reply: Reply | undefined): reply is ReadonlyArray<Reply> => Array.isArray(reply)

/** Time by the server's clock in ms at which an entry was added. Pure. */
export const addedMs = (place: string): number => Number(place.split("-", 1)[0])

/** True where a place of a stream is behind another one. Pure. */
export const isBehind = (one: string, other: string): boolean => {
  const [oneMs = 0, oneCount = 0] = one.split("-").map(Number)
  const [otherMs = 0, otherCount = 0] = other.split("-").map(Number)
  return oneMs === otherMs ? oneCount < otherCount : oneMs < otherMs
}

/** An entry: what was told, as far as it is known without the server's clock. */
export interface Entry extends Omit<Told, "nowMs"> {
  readonly place: string
}

/** Null: it is none of ours, or of another version. Pure. */
export const entryOf = (reply: Reply): Entry | null => {
  if (!isList(reply) || typeof reply[0] !== "string" || !isList(reply[1])) return null
  const [place, values] = reply
  const fields = new Map<string, string>()
  for (let at = 0; at + 1 < values.length; at += 2) fields.set(String(values[at]), String(values[at + 1]))
  const [node, content] = [fields.get("node"), fields.get("content")]
  const [number, sentMs] = [Number(fields.get("number")), Number(fields.get("sent"))]
  if (node === undefined || content === undefined || !Number.isFinite(number) || !Number.isFinite(sentMs)) return null
  return { place, node, number, sentMs, atMs: addedMs(place), content }
}

/** Adds an entry, removes those that are too old, and lets the stream go when nothing comes any more. `serverMs`: the server's time, as it is known. */
export const add = (
  { send }: Connection,
  key: string,
  { content, node, number, sentMs }: Pick<Told, "content" | "node" | "number" | "sentMs">,
  serverMs: number
): Effect.Effect<string, ValkeyError> => {
  const oldestMs = Math.max(0, serverMs - keptMs)
  const fields = [
    ["node", node],
    ["number", String(number)],
    ["sent", String(sentMs)],
    ["content", content]
  ]
  return Effect.map(
    Effect.all(
      [
        send(["XADD", key, "MINID", "~", String(oldestMs), "*", ...fields.flat()]),
        send(["PEXPIRE", key, String(2 * keptMs)])
      ],
      { concurrency: "unbounded" }
    ),
    ([place]) => String(place)
  )
}

/** The place of the last entry; `begin` where there is none. */
export const last = ({ send }: Connection, key: string): Effect.Effect<string, ValkeyError> =>
  Effect.map(send(["XREVRANGE", key, "+", "-", "COUNT", "1"]), (reply) => {
    const [entry] = isList(reply) ? reply : []
    return isList(entry) && typeof entry[0] === "string" ? entry[0] : begin
  })

/** Entries behind a place, the server's time, and the place to go on from; waits where there are none. */
export const next = (
  { send }: Connection,
  key: string,
  behind: string
): Effect.Effect<
  { readonly entries: ReadonlyArray<Entry>; readonly nowMs: number; readonly place: string },
  ValkeyError
> =>
  Effect.gen(function* () {
    const found = yield* send(
      ["XREAD", "COUNT", String(mostAtOnce), "BLOCK", String(waitsMs), "STREAMS", key, behind],
      waitsMs + lateMs
    )
    const time = yield* send(["TIME"])
    if (!isList(time)) return yield* strange
    const nowMs = Number(time[0]) * 1_000 + Math.floor(Number(time[1]) / 1_000)
    if (found === null) return { entries: [], nowMs, place: behind }
    const [stream] = isList(found) ? found : []
    const replies = isList(stream) ? stream[1] : undefined
    if (!isList(replies)) return yield* strange
    const latest = replies.at(-1)
    const place = isList(latest) && typeof latest[0] === "string" ? latest[0] : behind
    return { entries: replies.flatMap((reply) => entryOf(reply) ?? []), nowMs, place }
  })
