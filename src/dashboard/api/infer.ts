/** Asks an inference route as this session, or as a key, and tells a stream piece by piece. */
import { ApiError, readError } from "./ApiError.ts"
import { gatewayUrl } from "./client.ts"
import { csrfToken } from "./session.ts"

export interface Inference {
  /** Relative to the gateway's address. */
  readonly path: string
  readonly body: Readonly<Record<string, unknown>>
  /** Sent as a form with the body's members; null: the body is JSON. */
  readonly file: File | null
  /** Id of the key whose rules hold; null: the session's own. */
  readonly asKey: string | null
  readonly signal: AbortSignal
}

export interface StreamListener {
  readonly text: (piece: string) => void
  readonly thought: (piece: string) => void
  /** A piece of a call of a tool, by its place. */
  readonly tool: (place: number, name: string, input: string) => void
  /** Tokens as the provider counts them. */
  readonly usage: (tokensIn: number, tokensOut: number) => void
}

interface Chunk {
  readonly error?: { readonly message?: string; readonly code?: string }
  readonly choices?: ReadonlyArray<{
    readonly text?: string | null
    readonly finish_reason?: string | null
    readonly delta?: {
      readonly content?: string | null
      readonly reasoning_content?: string | null
      readonly tool_calls?: ReadonlyArray<{
        readonly index?: number
        readonly function?: { readonly name?: string | null; readonly arguments?: string | null }
      }>
    }
  }>
  readonly usage?: { readonly prompt_tokens?: number; readonly completion_tokens?: number } | null
}

export const infer = async ({ asKey, body, file, path, signal }: Inference): Promise<Response> => {
  const headers = new Headers({ "X-CSRF-Token": csrfToken.value ?? "" })
  if (asKey !== null) headers.set("X-Gateway-As-Key", asKey)
  let sent: BodyInit
  if (file === null) {
    headers.set("Content-Type", "application/json")
    sent = JSON.stringify(body)
  } else {
    sent = new FormData()
    for (const [name, value] of Object.entries(body)) sent.set(name, String(value))
    sent.set("file", file, file.name)
  }
  const response = await fetch(new URL(path, gatewayUrl), { method: "POST", headers, body: sent, signal }).catch(
    (error: unknown) => {
      throw signal.aborted ? error : ApiError.unreachable()
    }
  )
  if (!response.ok) throw await readError(response)
  return response
}

const tell = ({ choices, error, usage }: Chunk, listener: StreamListener): boolean => {
  if (error !== undefined) {
    throw new ApiError(error.message ?? "The answer broke off.", { status: 0, code: error.code ?? "broken" })
  }
  const [choice] = choices ?? []
  const { content, reasoning_content: thought, tool_calls: tools } = choice?.delta ?? {}
  const piece = content ?? choice?.text
  if (typeof piece === "string" && piece !== "") listener.text(piece)
  if (typeof thought === "string" && thought !== "") listener.thought(thought)
  for (const tool of tools ?? [])
    listener.tool(tool.index ?? 0, tool.function?.name ?? "", tool.function?.arguments ?? "")
  if (usage !== null && usage !== undefined) listener.usage(usage.prompt_tokens ?? 0, usage.completion_tokens ?? 0)
  return typeof choice?.finish_reason === "string"
}

/** Reads a stream to its end; false: it was cut before the model had ended. */
export const readStream = async (response: Response, listener: StreamListener): Promise<boolean> => {
  if (response.body === null) return false
  const decoder = new TextDecoder()
  const reader = response.body.getReader()
  let rest = ""
  let isWhole = false
  for (let part = await reader.read(); !part.done; part = await reader.read()) {
    const lines = (rest + decoder.decode(part.value, { stream: true })).split("\n")
    rest = lines.pop() ?? ""
    for (const line of lines) {
      const data = line.startsWith("data:") ? line.slice("data:".length).trim() : ""
      if (data === "[DONE]") isWhole = true
      else if (data !== "" && tell(JSON.parse(data) as Chunk, listener)) isWhole = true
    }
  }
  return isWhole
}
