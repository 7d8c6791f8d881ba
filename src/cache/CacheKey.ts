/** What tells one kept answer from another: a hash over everything that changes an answer. Pure. */
import { createHash } from "node:crypto"
import type { WireName } from "../domain/Wire.ts"
import type { JsonObject } from "../wire/json/Json.ts"

export interface KeyParts {
  /** The API key; empty for callers without one. */
  readonly owner: string
  readonly wire: WireName
  /** As the client asked. */
  readonly model: string
  /** What the model id stands for now: the targets that may answer. */
  readonly targets: string
  /** Headers that change an answer, and what the gateway does to the request at the upstream. */
  readonly settings: ReadonlyArray<string>
  /** What is asked of a target, without what only says how it is sent (`withoutForm`). */
  readonly body: JsonObject
}

/** Members that say how an answer is sent, not what it says. */
const formMembers: ReadonlySet<string> = new Set(["stream", "stream_options"])

export const withoutForm = (body: JsonObject): JsonObject =>
  Object.fromEntries(Object.entries(body).filter(([name]) => !formMembers.has(name)))

/** SHA-256, in hexadecimal digits. Two requests that differ in the order of their members are two. */
export const cacheKey = ({ body, model, owner, settings, targets, wire }: KeyParts): string =>
  createHash("sha256")
    .update(JSON.stringify([owner, wire, model, targets, settings, body]))
    .digest("hex")
