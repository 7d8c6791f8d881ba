/** Estimated tokens of a part of a prompt. Pictures and files count as the model's family counts them, not as text. Pure. */
import { type Family, familyOf } from "../../../plane/tokens/Family.ts"
import { imageSizeOf } from "../../../plane/tokens/ImageSize.ts"
import { estimateTexts } from "../../../plane/tokens/TextEstimate.ts"
import { isArray, isObject, type Json } from "../../../wire/json/Json.ts"
import type { Segment } from "./Prompt.ts"

/** A shorter text is no picture. */
const leastMediaChars = 512

/** Levels of a block that are searched. */
const maxLevels = 6

const dataUrl = /^data:[^,]{0,200};base64,/

/** Members that hold a file as base64 in any wire. */
const holders: ReadonlySet<string> = new Set(["data", "url", "image_url", "file_data", "images"])

const mediaIn = (value: Json | undefined, isHolder: boolean, levels: number, found: Array<string>): void => {
  if (typeof value === "string") {
    if (!isHolder || value.length < leastMediaChars) return
    const head = dataUrl.exec(value)?.[0].length ?? 0
    if (head > 0 || /^[A-Za-z0-9+/_-]{200}/.test(value)) found.push(value.slice(head))
  } else if (levels > 0 && isArray(value)) for (const item of value) mediaIn(item, isHolder, levels - 1, found)
  else if (levels > 0 && isObject(value)) {
    for (const [key, member] of Object.entries(value)) mediaIn(member, holders.has(key), levels - 1, found)
  }
}

/** Base64 characters of a page of a document. */
const charsPerPage = 100_000

const mediaTokens = (base64: string, family: Family): number => {
  const size = imageSizeOf(base64)
  return size === null && base64.length > charsPerPage
    ? Math.ceil(base64.length / charsPerPage) * family.perPage
    : family.image(size, null)
}

export const segmentTokens = ({ text, value }: Pick<Segment, "text" | "value">, model: string): number => {
  const family = familyOf(model)
  const found: Array<string> = []
  if (text.length >= leastMediaChars) mediaIn(value, false, maxLevels, found)
  if (found.length === 0) return estimateTexts([text]) * family.factor
  const chars = found.reduce((sum, media) => sum + media.length, 0)
  const media = found.reduce((sum, one) => sum + mediaTokens(one, family), 0)
  // What is around a picture is short: a name, a type.
  return media + (Math.max(0, text.length - chars) / 4) * family.factor
}
