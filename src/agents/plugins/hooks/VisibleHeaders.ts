/** The headers of a request as plugins may see them. Pure. */
import { isSecretHeader } from "../../../kernel/text/Masking.ts"

/** Names in lower case, as node:http gives them. */
type ForeignHeaders = Readonly<Record<string, string | ReadonlyArray<string> | undefined>>

/** Headers whose names look like those of credentials, and that are none. */
const harmless = new Set(["idempotency-key"])

/** Requests have the same few names again and again. Bounded, because clients choose them. */
const judged = new Map<string, boolean>()
const mostJudged = 1_000
const longestJudged = 100

const isSecretName = (name: string): boolean => {
  const known = judged.get(name)
  if (known !== undefined) return known
  const isSecret = !harmless.has(name) && isSecretHeader(name, "")
  if (judged.size < mostJudged && name.length <= longestJudged) judged.set(name, isSecret)
  return isSecret
}

const isCredential = (name: string, value: string): boolean => isSecretName(name) || /^(?:basic|bearer) /i.test(value)

/** One value per name: several are joined. Without everything that holds a credential by its name or its scheme. */
export const visibleHeaders = (headers: ForeignHeaders): Readonly<Record<string, string>> => {
  // With a prototype, since JSON of an object without one takes several times as long.
  const visible: Record<string, string> = {}
  for (const name of Object.keys(headers)) {
    const value = headers[name]
    if (value === undefined || name === "__proto__") continue
    const text = typeof value === "string" ? value : value.join(", ")
    if (!isCredential(name, text)) visible[name] = text
  }
  return visible
}
