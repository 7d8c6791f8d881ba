// Two sample upstreams for the demo: real HTTP servers that speak the chat wire, with made-up answers. They are not AI.
import { createServer } from "node:http"
import { setTimeout as sleep } from "node:timers/promises"

const listen = (handler) =>
  new Promise((resolve) => {
    const server = createServer((request, response) => {
      // A client that goes away takes its own request with it, not the demo.
      Promise.resolve(handler(request, response)).catch(() => response.destroy())
    })
    server.listen(0, "127.0.0.1", () =>
      resolve({ url: `http://127.0.0.1:${server.address().port}/v1`, close: () => server.close() })
    )
  })

const maxBodyChars = 1_000_000

/** The body as JSON; null where there is none, it is none, or it is too long. */
const readJson = async (request) => {
  let text = ""
  let isWhole = true
  for await (const chunk of request) {
    isWhole &&= text.length + chunk.length <= maxBodyChars
    if (isWhole) text += chunk
  }
  try {
    return isWhole ? JSON.parse(text) : null
  } catch {
    return null
  }
}

const answerJson = (response, status, body) => {
  response.writeHead(status, { "content-type": "application/json" })
  response.end(JSON.stringify(body))
}

const refuse = (response, status, message) =>
  answerJson(response, status, { error: { message, type: "invalid_request_error" } })

/** Serves as a provider that is always down: every request gets a 503. */
export const failingUpstream = () =>
  listen((request, response) => {
    request.resume()
    answerJson(response, 503, { error: { message: "The sample provider is having a bad day.", type: "server_error" } })
  })

const answer =
  "Hello! I am a sample upstream inside this demo, not a model. The first provider of this combo answered 503, so the gateway sent " +
  "your request on to me before you saw a single byte, and wrote down what it cost."

/** Streams a fixed answer word by word and reports its usage, and lists its one model, as chat-completions providers do. */
export const workingUpstream = () =>
  listen(async (request, response) => {
    const [path] = request.url.split("?")
    if (request.method === "GET" && path === "/v1/models") {
      request.resume()
      answerJson(response, 200, { object: "list", data: [{ id: "sample-model", object: "model" }] })
      return
    }
    if (request.method !== "POST" || path !== "/v1/chat/completions") {
      request.resume()
      refuse(response, 404, "The sample upstream answers chat completions and lists its models.")
      return
    }
    const body = await readJson(request)
    if (body === null) {
      refuse(response, 400, "The body is not JSON.")
      return
    }
    const id = `chatcmpl-sample-${Date.now()}`
    const chunk = (delta, finish_reason = null) => ({
      id,
      object: "chat.completion.chunk",
      created: Math.floor(Date.now() / 1000),
      model: body.model,
      choices: [{ index: 0, delta, finish_reason }]
    })
    const words = answer.split(" ")
    const usage = { prompt_tokens: 24, completion_tokens: words.length, total_tokens: 24 + words.length }
    response.writeHead(200, { "content-type": "text/event-stream" })
    const send = (event) => response.write(`data: ${JSON.stringify(event)}\n\n`)
    send(chunk({ role: "assistant", content: "" }))
    for (const [index, word] of words.entries()) {
      await sleep(25)
      send(chunk({ content: index === 0 ? word : ` ${word}` }))
    }
    send(chunk({}, "stop"))
    if (body.stream_options?.include_usage) send({ ...chunk({}), choices: [], usage })
    response.end("data: [DONE]\n\n")
  })
