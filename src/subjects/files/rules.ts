/** Rules of files: their name, purpose, expiry, and ranges. Pure. */
import type { FileRow } from "./repo.ts"

export { safeName } from "../../kernel/text/FileName.ts"

/** https://platform.openai.com/docs/api-reference/files/create */
export const purposes = ["assistants", "batch", "fine-tune", "vision", "user_data", "evals"] as const

export interface Problem {
  readonly param: string
  readonly message: string
}

export const purposeProblem = (purpose: string | undefined): Problem | null =>
  purpose !== undefined && (purposes as ReadonlyArray<string>).includes(purpose)
    ? null
    : { param: "purpose", message: `'purpose' must be one of: ${purposes.join(", ")}.` }

const leastSeconds = 3600
const mostSeconds = 2_592_000

/** Milliseconds that the file is kept for; null: until it is deleted. */
export const expiryOf = (anchor: string | undefined, seconds: string | undefined): number | null | Problem => {
  if (anchor === undefined && seconds === undefined) return null
  if (anchor !== "created_at") {
    return { param: "expires_after[anchor]", message: "'expires_after[anchor]' must be created_at." }
  }
  const given = seconds !== undefined && /^\d{1,9}$/.test(seconds) ? Number(seconds) : -1
  return given >= leastSeconds && given <= mostSeconds
    ? given * 1000
    : {
        param: "expires_after[seconds]",
        message: `'expires_after[seconds]' must be a whole number from ${leastSeconds} to ${mostSeconds}.`
      }
}

/** The first and the last byte of a part. */
export interface ByteRange {
  readonly first: number
  readonly last: number
}

/**
 * The part that a `Range` header asks for; null: the whole file, also for several parts and other units, which a server may leave
 * unheeded (https://www.rfc-editor.org/rfc/rfc9110#section-14.2).
 */
export const rangeOf = (header: string | undefined, bytes: number): ByteRange | "unsatisfiable" | null => {
  const found = header === undefined ? null : /^bytes=(\d{0,15})-(\d{0,15})$/i.exec(header.trim())
  if (found === null) return null
  const [, from = "", to = ""] = found
  if (from === "" && to === "") return null
  if (from === "") {
    const length = Math.min(Number(to), bytes)
    return length === 0 ? "unsatisfiable" : { first: bytes - length, last: bytes - 1 }
  }
  const first = Number(from)
  if (to !== "" && Number(to) < first) return null
  if (first >= bytes) return "unsatisfiable"
  return { first, last: to === "" ? bytes - 1 : Math.min(Number(to), bytes - 1) }
}

const mostListed = 10_000

export interface ListQuery {
  readonly purpose: string | null
  readonly after: string | null
  readonly order: "asc" | "desc"
  readonly limit: number
}

export const listQueryOf = (query: URLSearchParams): ListQuery | Problem => {
  const limit = query.get("limit") ?? String(mostListed)
  if (!/^\d{1,5}$/.test(limit) || Number(limit) < 1 || Number(limit) > mostListed) {
    return { param: "limit", message: `'limit' must be a whole number from 1 to ${mostListed}.` }
  }
  const order = query.get("order") ?? "desc"
  if (order !== "asc" && order !== "desc") return { param: "order", message: "'order' must be asc or desc." }
  return { purpose: query.get("purpose"), after: query.get("after"), order, limit: Number(limit) }
}

/** OpenAI's object; times in whole seconds. */
export const viewOf = ({ bytes, createdAtMs, expiresAtMs, filename, id, purpose }: FileRow) => ({
  id,
  object: "file",
  bytes,
  created_at: Math.floor(createdAtMs / 1000),
  filename,
  purpose,
  expires_at: expiresAtMs === null ? null : Math.floor(expiresAtMs / 1000),
  status: "processed"
})
