/** Asks a model as this session, or as a key (docs/reference/http-api.md, "Authentication"). */
import { ApiError, readError } from "./ApiError.ts"
import { gatewayUrl } from "./client.ts"
import { csrfToken } from "./session.ts"

export interface Asking {
  readonly model: string
  readonly prompt: string
  /** Id of the key whose rules hold; null: the session's own. */
  readonly asKey: string | null
}

export interface Told {
  readonly text: string
  readonly requestId: string
  readonly ms: number
  /** US dollars as the gateway counts them; null: no price is known. */
  readonly costUsd: number | null
}

interface ChatAnswer {
  readonly choices?: ReadonlyArray<{ readonly message?: { readonly content?: unknown } }>
}

const costOf = (headers: Headers): number | null => {
  const text = headers.get("x-gateway-response-cost")
  return text === null || text === "" || Number.isNaN(Number(text)) ? null : Number(text)
}

export const ask = async ({ asKey, model, prompt }: Asking): Promise<Told> => {
  const headers = new Headers({ "Content-Type": "application/json", "X-CSRF-Token": csrfToken.value ?? "" })
  if (asKey !== null) headers.set("X-Gateway-As-Key", asKey)
  const began = performance.now()
  const response = await fetch(new URL("v1/chat/completions", gatewayUrl), {
    method: "POST",
    headers,
    body: JSON.stringify({ model, messages: [{ role: "user", content: prompt }] })
  }).catch(() => {
    throw ApiError.unreachable()
  })
  if (!response.ok) throw await readError(response)
  const answer = (await response.json()) as ChatAnswer
  const content = answer.choices?.[0]?.message?.content
  return {
    text: typeof content === "string" ? content : "",
    requestId: response.headers.get("x-gateway-request-id") ?? "",
    ms: performance.now() - began,
    costUsd: costOf(response.headers)
  }
}
