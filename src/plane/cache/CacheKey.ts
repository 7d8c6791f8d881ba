/** Computes the key of a stored answer: a hash over everything that changes an answer. Pure. */
import { createHash } from "node:crypto"
import type { JsonObject } from "../../wire/json/Json.ts"

/** Members that say how an answer is sent, not what it says. */
const formMembers: ReadonlySet<string> = new Set(["stream", "stream_options"])

export const withoutForm = (body: JsonObject): JsonObject =>
  Object.fromEntries(Object.entries(body).filter(([name]) => !formMembers.has(name)))

/**
 * SHA-256, in hexadecimal digits. `fields`: all but the body (`features/sharing/AnswerFields`); `body`: what is asked of a target. Two requests
 * that differ in the order of their members are two.
 */
export const cacheKey = (fields: string, body: JsonObject): string =>
  createHash("sha256")
    .update(JSON.stringify([fields, withoutForm(body)]))
    .digest("hex")
