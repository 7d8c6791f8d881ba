/** A request with another body: what a feature has made of it. */
import { once } from "../../kernel/once.ts"
import type { JsonObject } from "../../wire/json/Json.ts"
import { bytesOf } from "./BodyBytes.ts"
import type { Work } from "./Exchange.ts"

/**
 * The same request with `parsed` as what is asked of targets. A later turn goes on from what the client wrote (`remembered`), without what the
 * gateway has made of it. `bytes`: those of `parsed`, where they are known.
 */
export const rewritten = (work: Work, parsed: JsonObject, bytes?: Buffer): Work => ({
  ...work,
  remembered: work.remembered ?? work.parsed,
  parsed,
  body: bytes ?? bytesOf(work.exchange, parsed),
  conversation: once(() => work.exchange.codec.decodeRequest(parsed))
})
