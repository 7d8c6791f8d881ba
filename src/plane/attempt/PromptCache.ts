/**
 * Decides whether a target is sent marks for its prompt cache (`promptCache` in `/api/settings`): the setting is on, the client has set none,
 * the target caches nothing without them, and the prompt is long enough to be cached. Pure.
 */
import type { Target } from "../routing/resolve/ModelResolver.ts"
import { leastCachedTokens, type MarkedWire, withCacheMarks } from "../../wire/CacheMarks.ts"
import type { JsonObject } from "../../wire/json/Json.ts"
import type { WireCodec } from "../../wire/WireCodec.ts"
import type { Work } from "../request/Exchange.ts"
import { promptTokens } from "../request/PromptTokens.ts"

/** The wire in which a target needs marks; null where it needs none. */
const markedWire = ({ account, model }: Target, { endpoint, name }: WireCodec): MarkedWire | null => {
  if (endpoint !== undefined) return null
  if (name === "messages") return name
  return name === "chat" && account.spec.dialect.cacheMarks?.is.test(model) === true ? name : null
}

/** A body of so many bytes per token is long enough without a look at it. */
const surelyBytesPerToken = 32

const isLong = (work: Work, model: string): boolean => {
  const least = leastCachedTokens(model)
  return work.body.length > least * surelyBytesPerToken || promptTokens(work, model) >= least
}

/** Hot: adds marks to the request to the target in the wire of `codec`, where it needs them. */
export const markedFor = (work: Work, target: Target, codec: WireCodec, body: JsonObject): JsonObject => {
  if (work.cacheMarks !== true) return body
  const wire = markedWire(target, codec)
  return wire === null || !isLong(work, target.model) ? body : withCacheMarks(wire, body)
}
