/** The headers of a request as plugins may see them. Pure. */
import { isSecretHeader } from "../../kernel/Masking.ts"

/** Names in lower case, as node:http gives them. */
type ForeignHeaders = Readonly<Record<string, string | ReadonlyArray<string> | undefined>>

/** Its name looks like that of a credential, and it is none. */
const harmless = new Set(["idempotency-key"])

const isCredential = (name: string, value: string): boolean =>
  (!harmless.has(name) && isSecretHeader(name, "")) || /^(?:basic|bearer) /i.test(value)

/** One value per name: several are joined. Without everything that holds a credential by its name or its scheme. */
export const visibleHeaders = (headers: ForeignHeaders): Readonly<Record<string, string>> => {
  const visible: Record<string, string> = Object.create(null)
  for (const [name, value] of Object.entries(headers)) {
    if (value === undefined) continue
    const text = typeof value === "string" ? value : value.join(", ")
    if (!isCredential(name, text)) visible[name] = text
  }
  return visible
}
