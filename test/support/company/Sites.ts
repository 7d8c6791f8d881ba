/** What stands outside of the gateway of a company: its provider, and the channel that alerts come to. */
import * as Effect from "effect/Effect"
import type { Scope } from "effect/Scope"
import { createServer, type IncomingMessage, type ServerResponse } from "node:http"

const textOf = async (request: IncomingMessage): Promise<string> => {
  let text = ""
  for await (const part of request) text += String(part)
  return text
}

const listening = (
  handle: (request: IncomingMessage, response: ServerResponse) => Promise<void>
): Effect.Effect<{ readonly url: string }, never, Scope> =>
  Effect.acquireRelease(
    Effect.async<{ readonly url: string; readonly close: () => void }>((resume) => {
      const server = createServer((request, response) => void handle(request, response))
      server.listen(0, "127.0.0.1", () => {
        const address = server.address()
        const port = typeof address === "object" && address !== null ? address.port : 0
        resume(Effect.succeed({ url: `http://127.0.0.1:${port}`, close: () => void server.close() }))
      })
    }),
    ({ close }) => Effect.sync(close)
  )

export const answerTokens = 100

/** A provider that keeps its own account of what it has answered. */
export const startProvider = Effect.gen(function* () {
  const account = { calls: 0 }
  const { url } = yield* listening(async (request, response) => {
    await textOf(request)
    response.setHeader("content-type", "application/json")
    if (request.method === "GET") return void response.end(JSON.stringify({ object: "list", data: [{ id: "m" }] }))
    account.calls += 1
    response.end(
      JSON.stringify({
        id: `chatcmpl-${account.calls}`,
        object: "chat.completion",
        created: 1_790_000_000,
        model: "m",
        choices: [{ index: 0, message: { role: "assistant", content: "done" }, finish_reason: "stop" }],
        usage: { prompt_tokens: 10, completion_tokens: answerTokens, total_tokens: 10 + answerTokens }
      })
    )
  })
  return { url, account }
})

/** A channel of the company that alerts come to. */
export const startChannel = Effect.gen(function* () {
  const alerts: Array<{ readonly event: string; readonly data: Readonly<Record<string, unknown>> }> = []
  const { url } = yield* listening(async (request, response) => {
    alerts.push(JSON.parse(await textOf(request)))
    response.end()
  })
  return { url, alerts }
})
