/** Asks a model for a stream, as this session or as a key, and tells each piece as it comes. */
import { ApiError, readError } from "./ApiError.ts"
import { gatewayUrl } from "./client.ts"
import { readEvents } from "./events.ts"
import { csrfToken } from "./session.ts"

export interface StreamAsked {
  readonly model: string
  readonly system: string
  readonly prompt: string
  /** Null: the model's own. */
  readonly maxTokens: number | null
  readonly temperature: number | null
  /** Id of the key whose rules hold; null: the session's own. */
  readonly asKey: string | null
  readonly signal: AbortSignal
}

export interface StreamListener {
  readonly began: (requestId: string) => void
  readonly text: (piece: string) => void
  /** Tokens as the provider counts them. */
  readonly usage: (tokensIn: number, tokensOut: number) => void
}

interface Chunk {
  readonly error?: { readonly message?: string; readonly code?: string }
  readonly choices?: ReadonlyArray<{ readonly delta?: { readonly content?: string | null } }>
  readonly usage?: { readonly prompt_tokens?: number; readonly completion_tokens?: number } | null
}

const bodyOf = ({ maxTokens, model, prompt, system, temperature }: StreamAsked): string =>
  JSON.stringify({
    model,
    stream: true,
    stream_options: { include_usage: true },
    messages: [...(system === "" ? [] : [{ role: "system", content: system }]), { role: "user", content: prompt }],
    ...(maxTokens === null ? {} : { max_tokens: maxTokens }),
    ...(temperature === null ? {} : { temperature })
  })

const onEvent = (data: string, listener: StreamListener): void => {
  if (data === "[DONE]") return
  const { choices, error, usage } = JSON.parse(data) as Chunk
  if (error !== undefined) {
    throw new ApiError(error.message ?? "The answer broke off.", { status: 0, code: error.code ?? "broken" })
  }
  const piece = choices?.[0]?.delta?.content
  if (typeof piece === "string" && piece !== "") listener.text(piece)
  if (usage !== null && usage !== undefined) listener.usage(usage.prompt_tokens ?? 0, usage.completion_tokens ?? 0)
}

export const stream = async (asked: StreamAsked, listener: StreamListener): Promise<void> => {
  const headers = new Headers({ "Content-Type": "application/json", "X-CSRF-Token": csrfToken.value ?? "" })
  if (asked.asKey !== null) headers.set("X-Gateway-As-Key", asked.asKey)
  const response = await fetch(new URL("v1/chat/completions", gatewayUrl), {
    method: "POST",
    headers,
    body: bodyOf(asked),
    signal: asked.signal
  }).catch((error: unknown) => {
    throw asked.signal.aborted ? error : ApiError.unreachable()
  })
  if (!response.ok) throw await readError(response)
  listener.began(response.headers.get("x-gateway-request-id") ?? "")
  if (response.body !== null) await readEvents(response.body, (data) => onEvent(data, listener))
}
