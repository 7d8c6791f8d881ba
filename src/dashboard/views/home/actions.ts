/** Decides for the buttons of an item of the attention: some lead somewhere, others send their request, which can be taken back or not. Pure. */
import type { AnswerOf } from "../../api/client.ts"
import type { attentionList } from "../../api/calls.generated.ts"

export type Item = AnswerOf<typeof attentionList>["items"][number]
export type Action = Item["actions"][number]

const part = (text: string): string => encodeURIComponent(text)

/** The place below the dashboard at which a thing is shown; null: it has none. */
export const placeOfSubject = ({ id, type }: Item["subject"]): string | null => {
  switch (type) {
    case "connection":
      return `providers/${part(id)}`
    case "provider":
      return `providers?q=${part(id)}`
    case "model":
      return `providers/models?q=${part(id)}`
    case "apiKey":
      return `keys/${part(id)}`
    case "tokenLimit":
      return "keys"
    case "webhook":
      return `system/webhooks/${part(id)}`
    case "plugin":
      return `system/plugins/${part(id)}`
    case "tunnel":
      return "system/tunnels"
    case "backup":
      return "system/backups"
    case "flag":
      return `system/flags?q=${part(id)}`
    case "capture":
      return "inspector/capture"
    case "log":
      return "system"
    default:
      return null
  }
}

/** Requests that ask the provider, and so do something, although they are asked with GET. */
const asksAgain = /^\/api\/providers\/[^/]+\/models$/

/** Checks for requests that open a door or end what runs: they are asked first, at their own place. */
const asksFirst = ({ body, method, path }: Action): boolean =>
  method === "POST" &&
  (path === "/api/restart" ||
    path.startsWith("/api/oauth/") ||
    (path.startsWith("/api/tunnels/") && body?.["action"] === "enable"))

/** The place that a button leads to; null: it sends its request. */
export const placeOfAction = (action: Action, item: Item): string | null => {
  const { method, path } = action
  if (path.startsWith("/api/oauth/") && item.subject.type === "connection") {
    return `providers/${part(item.subject.id)}/sign-in`
  }
  if (asksFirst(action)) return placeOfSubject(item.subject)
  if (method !== "GET" || asksAgain.test(path)) return null
  if (path.startsWith("/api/pricing")) return placeOfSubject(item.subject)
  const keyId = new URLSearchParams(path.split("?")[1] ?? "").get("apiKeyId")
  if (keyId !== null) return `keys/${part(keyId)}`
  return placeOfSubject(item.subject)
}

/** The request that takes a change of switches back; null: there is none. */
export const inverseOf = (action: Action): Action | null => {
  const { body, method } = action
  if ((method !== "PUT" && method !== "PATCH") || body === null) return null
  const entries = Object.entries(body)
  if (entries.length === 0 || !entries.every(([, value]) => typeof value === "boolean")) return null
  return { ...action, body: Object.fromEntries(entries.map(([name, value]) => [name, value !== true])) }
}

/** The key whose budget an action removes or sets; null: it does nothing of the kind. */
export const budgetOf = ({ body, method, path }: Action): string | null => {
  const [address, query] = path.split("?")
  if (address !== "/api/usage/budget") return null
  if (method === "DELETE") return new URLSearchParams(query ?? "").get("apiKeyId")
  const keyId = body?.["apiKeyId"]
  return method === "POST" && typeof keyId === "string" ? keyId : null
}

/** The window of a budget that an item is about: the last part of its id; empty: it names none. */
export const intervalOf = ({ id }: Pick<Item, "id">): string => id.split(":").at(-1) ?? ""

/** The token limit that an action removes; null: none. */
export const limitOf = ({ method, path }: Action): string | null => {
  const [address, query] = path.split("?")
  return method === "DELETE" && address === "/api/usage/token-limits"
    ? new URLSearchParams(query ?? "").get("id")
    : null
}

/** The reason in an answer that says by itself that it did not work, such as that of a test; null: it worked. */
export const refusalIn = (text: string | null): string | null => {
  if (text === null || text.length > 1_000_000) return null
  try {
    const answer: unknown = JSON.parse(text)
    if (typeof answer !== "object" || answer === null) return null
    const { error, ok } = answer as { readonly ok?: unknown; readonly error?: unknown }
    if (ok === false) return typeof error === "string" ? error : ""
    return ok === undefined && typeof error === "string" ? error : null
  } catch {
    return null
  }
}

const writtenTime = /(\d{4}-\d\d-\d\d) (\d\d:\d\d) UTC/

type Piece = { readonly text: string } | { readonly at: string }

/** A text of the API with its times apart, so that they are shown by the reader's clock. */
export const withTimes = (text: string): ReadonlyArray<Piece> =>
  text.split(/(\d{4}-\d\d-\d\d \d\d:\d\d UTC)/).flatMap((piece): ReadonlyArray<Piece> => {
    const [, day, time] = writtenTime.exec(piece) ?? []
    if (day !== undefined && time !== undefined) return [{ at: `${day}T${time}:00.000Z` }]
    return piece === "" ? [] : [{ text: piece }]
  })

/** Items of which there may be many that say the same are one. */
export const rowsOf = (
  items: ReadonlyArray<Item>
): { readonly single: ReadonlyArray<Item>; readonly unpriced: ReadonlyArray<Item> } => {
  const unpriced = items.filter(({ kind }) => kind === "modelUnpriced")
  return unpriced.length < 2
    ? { single: items, unpriced: [] }
    : { single: items.filter(({ kind }) => kind !== "modelUnpriced"), unpriced }
}
