/** Providers that make one picture per request are asked several times. */
import { sumUsage } from "../../../contract/domain/Usage.ts"
import type { Conversation } from "../../canonical/Conversation.ts"
import type { Response } from "../../canonical/Response.ts"
import { valueIn } from "../OpaqueAnswer.ts"
import { listOf } from "./Answer.ts"
import { countOf } from "./Request.ts"

/** `most`: pictures that the provider makes for one request. */
export const partsOfAtMost =
  (most: number) =>
  (conversation: Conversation): ReadonlyArray<Conversation> | null => {
    const { extras = {} } = conversation
    const count = countOf(extras)
    if (count <= most) return null
    const parts = Math.ceil(count / most)
    return Array.from({ length: parts }, (_, index) =>
      Object.assign({}, conversation, { extras: { ...extras, n: Math.min(most, count - index * most) } })
    )
  }

/** One answer with the pictures of all. */
export const joined = (first: Response, others: ReadonlyArray<Response>): Response => {
  const all = [first, ...others]
  const data = all.flatMap((response) => listOf(valueIn("images", response)["data"]))
  return {
    ...first,
    parts: [{ type: "opaque", wire: "chat", kind: "images", value: { ...valueIn("images", first), data } }],
    usage: all
      .map(({ usage }) => usage)
      .reduce((sum, usage) => (sum === null || usage === null ? (sum ?? usage) : sumUsage(sum, usage)))
  }
}
