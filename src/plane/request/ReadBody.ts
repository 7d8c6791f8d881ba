/** Reads the body of a client's request: the one reader of every inference route. */
import { InvalidRequest } from "../../contract/domain/Errors.ts"
import { Unreadable } from "../../wire/json/Bounds.ts"
import { maxTopMembers } from "../../wire/json/Excess.ts"
import { isObject, type JsonObject } from "../../wire/json/Json.ts"
import { readForeignBody, slicedFromBytes } from "../../wire/json/LargeBodies.ts"
import { outlinedFromBytes, outlineOf, type ReadOutlined } from "../../wire/json/outline/Outline.ts"
import type { WireCodec } from "../../wire/WireCodec.ts"

const wrongBody = (message: string, param: string | null = null): InvalidRequest =>
  new InvalidRequest({ message, param, details: param === null ? [] : [{ field: param, message }] })

/**
 * Hot: the body as a JSON object within the limits, or the reason for a 400. A body has one reading: a repeated member, and one that equals
 * a member of the wire but for the case of its letters, are refused.
 */
export const readBody = (body: Buffer, misspelt: WireCodec["misspelt"]): JsonObject | InvalidRequest => {
  const value = readForeignBody(body, maxTopMembers)
  if (value instanceof Unreadable) return wrongBody(value.message, value.param)
  if (!isObject(value)) return wrongBody("The request body must be a JSON object.", "body")
  const wrong = misspelt(value)
  return wrong === null ? value : wrongBody(wrong.message, wrong.path)
}

/** Hot: the same for a body of a wire, by its outline where it is large. */
export const readRequest = (
  body: Buffer,
  { misspelt, outline }: Pick<WireCodec, "misspelt" | "outline">,
  readOutlined: ReadOutlined
): JsonObject | InvalidRequest => {
  const isOutlined = outline !== undefined && body.length >= outlinedFromBytes && body.length < slicedFromBytes
  const value = isOutlined ? readOutlined(body, outline) : null
  if (value === null) return readBody(body, misspelt)
  // The outline has no places: a path is of the whole.
  const wrong = misspelt(outlineOf(value)) === null ? null : misspelt(value)
  return wrong === null ? value : wrongBody(wrong.message, wrong.path)
}
