/** The bytes of a request's body. Pure. */
import { bytesOfJson } from "../../wire/json/Utf8.ts"
import type { JsonObject } from "../../wire/json/Json.ts"
import type { Exchange } from "./Exchange.ts"

/** Writes the body without the members that the wire has in the path: upstreams know them nowhere else. */
export const bytesOf = ({ fromPath }: Pick<Exchange, "fromPath">, parsed: JsonObject): Buffer => {
  if (fromPath === null) return bytesOfJson(parsed)
  const own = Object.entries(parsed).filter(([name]) => !Object.hasOwn(fromPath, name))
  return bytesOfJson(Object.fromEntries(own))
}
