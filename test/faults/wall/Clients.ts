/** The official SDKs as clients see them: one question, and what they end with. */
import Anthropic from "@anthropic-ai/sdk"
import { ApiError, GoogleGenAI, type GenerateContentResponse } from "@google/genai"
import { type ChatResponse, Ollama } from "ollama"
import OpenAI from "openai"
import { wordList } from "./Story.ts"
import type { ClientWire } from "./Wires.ts"

export interface Question {
  readonly wire: ClientWire
  readonly model: string
  readonly streamed: boolean
  readonly prompt: string
  readonly withTool: boolean
}

export interface ClientError {
  /** Name of the SDK's class. */
  readonly class: string
  /** The class that the SDK has for this status. */
  readonly classForStatus: string
  readonly status: number | null
  readonly message: string
  /** `error.attempts` of the body, as far as it was there; null where the wire's errors are a mere text. */
  readonly attempts: ReadonlyArray<{
    readonly provider: string
    readonly status: number | null
    readonly reason: string
  }> | null
}

/** What a client ends with. */
export interface Ending {
  readonly text: string
  /** Arguments of the tool call, as far as they came. */
  readonly toolArguments: string
  /** The SDK saw a success: a finish reason and, where the wire has one, its terminator. */
  readonly isClean: boolean
  readonly error: ClientError | null
  readonly headers: Headers
  readonly tookMs: number
}

export type Ask = (question: Question) => Promise<Ending>

interface Heard {
  text: string
  toolArguments: string
  isClean: boolean
  headers: Headers
}

type Fields = Readonly<Record<string, unknown>>
const fields = (value: unknown): Fields => (typeof value === "object" && value !== null ? (value as Fields) : {})

const attemptsOf = (body: unknown): ClientError["attempts"] => {
  const inner = fields(body)["error"] ?? body
  const attempts = fields(inner)["attempts"]
  return Array.isArray(attempts) ? attempts : []
}

/** An error event that the SDK hands over as an event instead of raising it. */
class ToldError extends Error {}

/** The body of a gemini error, which its SDK hands over as text. */
const geminiError = (error: ApiError): Fields => {
  try {
    return fields(fields(JSON.parse(error.message))["error"])
  } catch {
    return {}
  }
}

/** What a gemini client learns from the body alone: its SDK shows no headers of a failure. */
const headersOfBody = (body: Fields): Headers => {
  const headers = new Headers()
  const id = body["request_id"]
  if (typeof id === "string") headers.set("x-gateway-request-id", id)
  for (const detail of Array.isArray(body["details"]) ? body["details"] : []) {
    const delay = fields(detail)["retryDelay"]
    if (typeof delay === "string") headers.set("retry-after", String(Number.parseFloat(delay)))
  }
  return headers
}

const describe = (error: unknown): ClientError => {
  if (error instanceof ApiError) {
    const body = geminiError(error)
    const message = String(body["message"] ?? error.message)
    return { class: "ApiError", classForStatus: "ApiError", status: error.status, message, attempts: attemptsOf(body) }
  }
  const code = fields(error)["status_code"]
  if (error instanceof Error && typeof code === "number") {
    const { message, name } = error
    return { class: name, classForStatus: name, status: code, message, attempts: null }
  }
  const known = error instanceof OpenAI.APIError || error instanceof Anthropic.APIError
  const status = known ? ((error.status as number | undefined) ?? null) : null
  const sdk = error instanceof Anthropic.APIError ? Anthropic.APIError : OpenAI.APIError
  const expected = status === null ? null : sdk.generate(status, {}, "", new Headers())
  return {
    class: error instanceof Error ? error.constructor.name : typeof error,
    classForStatus: expected?.constructor.name ?? "",
    status,
    message: error instanceof Error ? error.message : String(error),
    attempts: known ? attemptsOf(error.error) : []
  }
}

const maxTokens = 2 * wordList.length
const parameters = { type: "object" as const, properties: { what: { type: "string" } }, required: ["what"] }
const tool = { name: "bake", description: "Bakes.", parameters }

const askChat = async (
  client: OpenAI,
  { model, prompt, streamed, withTool }: Question,
  heard: Heard
): Promise<void> => {
  const params = {
    model,
    messages: [{ role: "user" as const, content: prompt }],
    ...(withTool ? { tools: [{ type: "function" as const, function: tool }] } : {})
  }
  const hear = (finish: string | null | undefined): void => {
    if (finish === (withTool ? "tool_calls" : "stop")) heard.isClean = true
  }
  if (!streamed) {
    const { data, response } = await client.chat.completions.create(params).withResponse()
    heard.headers = response.headers
    const [choice] = data.choices
    heard.text = choice?.message.content ?? ""
    for (const call of choice?.message.tool_calls ?? []) {
      if (call.type === "function") heard.toolArguments += call.function.arguments
    }
    return hear(choice?.finish_reason)
  }
  const { data, response } = await client.chat.completions.create({ ...params, stream: true }).withResponse()
  heard.headers = response.headers
  for await (const { choices } of data) {
    for (const { delta, finish_reason } of choices) {
      heard.text += delta.content ?? ""
      for (const call of delta.tool_calls ?? []) heard.toolArguments += call.function?.arguments ?? ""
      hear(finish_reason)
    }
  }
}

const askMessages = async (client: Anthropic, question: Question, heard: Heard): Promise<void> => {
  const { model, prompt, streamed, withTool } = question
  const params = {
    model,
    max_tokens: maxTokens,
    messages: [{ role: "user" as const, content: prompt }],
    ...(withTool ? { tools: [{ name: tool.name, input_schema: parameters }] } : {})
  }
  const good = withTool ? "tool_use" : "end_turn"
  if (!streamed) {
    const { data, response } = await client.messages.create(params).withResponse()
    heard.headers = response.headers
    for (const block of data.content) {
      if (block.type === "text") heard.text += block.text
      if (block.type === "tool_use") heard.toolArguments += JSON.stringify(block.input)
    }
    heard.isClean = data.stop_reason === good
    return
  }
  const { data, response } = await client.messages.create({ ...params, stream: true }).withResponse()
  heard.headers = response.headers
  let stopReason: string | null = null
  for await (const event of data) {
    if (event.type === "content_block_delta") {
      if (event.delta.type === "text_delta") heard.text += event.delta.text
      if (event.delta.type === "input_json_delta") heard.toolArguments += event.delta.partial_json
    }
    if (event.type === "message_delta") stopReason = event.delta.stop_reason
    if (event.type === "message_stop") heard.isClean = stopReason === good
  }
}

const askResponses = async (client: OpenAI, question: Question, heard: Heard): Promise<void> => {
  const { model, prompt, streamed, withTool } = question
  const params = {
    model,
    input: prompt,
    ...(withTool ? { tools: [{ type: "function" as const, ...tool, strict: false }] } : {})
  }
  if (!streamed) {
    const { data, response } = await client.responses.create(params).withResponse()
    heard.headers = response.headers
    heard.text = data.output_text
    for (const item of data.output) if (item.type === "function_call") heard.toolArguments += item.arguments
    heard.isClean = data.status === "completed"
    return
  }
  const { data, response } = await client.responses.create({ ...params, stream: true }).withResponse()
  heard.headers = response.headers
  for await (const event of data) {
    if (event.type === "response.output_text.delta") heard.text += event.delta
    if (event.type === "response.function_call_arguments.delta") heard.toolArguments += event.delta
    if (event.type === "response.completed") heard.isClean = event.response.status === "completed"
    if (event.type === "error") throw new ToldError(event.message)
    if (event.type === "response.failed") throw new ToldError(event.response.error?.message ?? "")
  }
}

const hearGemini = (piece: GenerateContentResponse, heard: Heard): void => {
  const [candidate] = piece.candidates ?? []
  for (const { functionCall, text, thought } of candidate?.content?.parts ?? []) {
    if (thought !== true) heard.text += text ?? ""
    if (functionCall !== undefined) heard.toolArguments += JSON.stringify(functionCall.args)
  }
  if (candidate?.finishReason === "STOP") heard.isClean = true
  const headers = piece.sdkHttpResponse?.headers
  if (headers !== undefined) heard.headers = new Headers(headers)
}

const askGemini = async (client: GoogleGenAI, question: Question, heard: Heard): Promise<void> => {
  const { model, prompt, streamed, withTool } = question
  const { parameters: parametersJsonSchema, ...named } = tool
  const config = withTool ? { tools: [{ functionDeclarations: [{ ...named, parametersJsonSchema }] }] } : {}
  const params = { model, contents: prompt, config }
  if (!streamed) return hearGemini(await client.models.generateContent(params), heard)
  for await (const piece of await client.models.generateContentStream(params)) hearGemini(piece, heard)
}

const hearOllama = ({ done, done_reason, message }: ChatResponse, heard: Heard): void => {
  heard.text += message.content
  for (const call of message.tool_calls ?? []) heard.toolArguments += JSON.stringify(call.function.arguments)
  if (done && done_reason === "stop") heard.isClean = true
}

const askOllama = async (host: string, question: Question, heard: Heard): Promise<void> => {
  const { model, prompt, streamed, withTool } = question
  const client = new Ollama({
    host,
    fetch: async (url, init) => {
      const response = await fetch(url, init)
      heard.headers = response.headers
      return response
    }
  })
  const params = {
    model,
    messages: [{ role: "user", content: prompt }],
    ...(withTool ? { tools: [{ type: "function", function: tool }] } : {})
  }
  if (!streamed) return hearOllama(await client.chat(params), heard)
  for await (const piece of await client.chat({ ...params, stream: true })) hearOllama(piece, heard)
}

/** Clients of a gateway, without retries of their own. */
export const makeAsk = (url: string): Ask => {
  const options = { apiKey: "any", maxRetries: 0, timeout: 60_000, logLevel: "off" as const }
  const openai = new OpenAI({ ...options, baseURL: `${url}/v1` })
  const anthropic = new Anthropic({ ...options, baseURL: url })
  const gemini = new GoogleGenAI({ apiKey: "any", httpOptions: { baseUrl: url, timeout: options.timeout } })
  return async (question) => {
    const heard: Heard = { text: "", toolArguments: "", isClean: false, headers: new Headers() }
    const startedMs = performance.now()
    let error: ClientError | null = null
    try {
      if (question.wire === "messages") await askMessages(anthropic, question, heard)
      else if (question.wire === "gemini") await askGemini(gemini, question, heard)
      else if (question.wire === "ollama") await askOllama(`${url}/v1`, question, heard)
      else await (question.wire === "chat" ? askChat : askResponses)(openai, question, heard)
    } catch (failure) {
      error = describe(failure)
      if (failure instanceof ApiError && heard.headers.get("x-gateway-request-id") === null) {
        heard.headers = headersOfBody(geminiError(failure))
      }
      const known = failure instanceof OpenAI.APIError || failure instanceof Anthropic.APIError
      if (known && failure.headers !== undefined) heard.headers = failure.headers as Headers
    }
    return { ...heard, error, tookMs: Math.round(performance.now() - startedMs) }
  }
}
