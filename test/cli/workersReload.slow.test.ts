/** Requests while all processes are replaced: none is refused, no stream is cut. */
import { once } from "node:events"
import { Agent, createServer, request } from "node:http"
import { setTimeout as sleep } from "node:timers/promises"
import { afterAll, assert, beforeAll, describe, it } from "vitest"
import { adminKey, authorization, manage, partsOf, until } from "./processes.ts"
import { program, type Serving } from "./support.ts"

const { dataDir, serve } = program()

const requests = Number(process.env["WORKER_REQUESTS"] ?? 2_000)
const clients = 16
const chunks = 5
const chunkMs = 15

/** A provider that streams for a while. */
const upstream = createServer((asked, response) => {
  asked.resume()
  if (asked.method !== "POST") {
    response.setHeader("content-type", "application/json")
    response.end(JSON.stringify({ object: "list", data: [{ id: "gpt-4o", object: "model" }] }))
    return
  }
  const frame = (choices: unknown, usage: unknown = null) =>
    `data: ${JSON.stringify({ id: "c", object: "chat.completion.chunk", created: 1, model: "gpt-4o", choices, usage })}\n\n`
  asked.on("end", async () => {
    response.setHeader("content-type", "text/event-stream")
    for (let n = 0; n < chunks; n++) {
      response.write(frame([{ index: 0, delta: { role: "assistant", content: `${n} ` }, finish_reason: null }]))
      await sleep(chunkMs)
    }
    response.write(frame([{ index: 0, delta: {}, finish_reason: "stop" }]))
    response.end(`${frame([], { prompt_tokens: 10, completion_tokens: 5, total_tokens: 15 })}data: [DONE]\n\n`)
  })
})

interface Answer {
  readonly status: number
  readonly text: string
}

/** Asks for a stream; null: a connection that was kept was closed before the request came. */
const ask = (url: string, agent: Agent): Promise<Answer | null> =>
  new Promise((resolve, reject) => {
    const body = JSON.stringify({ model: "openai/gpt-4o", stream: true, messages: [{ role: "user", content: "hi" }] })
    const headers = { authorization, "content-type": "application/json", "content-length": Buffer.byteLength(body) }
    const asked = request(`${url}/v1/chat/completions`, { method: "POST", agent, headers }, (response) => {
      let text = ""
      response.setEncoding("utf8")
      response.on("data", (part: string) => void (text += part))
      response.on("error", reject)
      response.on("end", () => resolve({ status: response.statusCode ?? 0, text }))
    })
    asked.on("error", (error: NodeJS.ErrnoException) =>
      asked.reusedSocket && error.code === "ECONNRESET" ? resolve(null) : reject(error)
    )
    asked.end(body)
  })

/** The same as HTTP's clients do it, which send again what a closing connection has not taken. */
const stream = async (url: string, agent: Agent): Promise<Answer> => {
  for (;;) {
    const answer = await ask(url, agent)
    if (answer !== null) return answer
  }
}

const words = Array.from({ length: chunks }, (_, n) => `"content":"${n} "`)
const isWhole = ({ status, text }: Answer): boolean =>
  status === 200 && words.every((word) => text.includes(word)) && text.trimEnd().endsWith("data: [DONE]")

/** Requests that the usage log has. */
const rowsOf = async (server: Serving): Promise<number> => {
  const { total } = (await manage(server, "GET", "/api/usage/series?step=hour")) as {
    readonly total: { readonly requests: ReadonlyArray<number> }
  }
  return total.requests.reduce((sum, count) => sum + count, 0)
}

describe.skipIf(process.platform !== "linux")("requests over a reload", () => {
  beforeAll(async () => {
    upstream.listen(0, "127.0.0.1")
    await once(upstream, "listening")
  })
  afterAll(() => {
    upstream.close()
    upstream.closeAllConnections()
  })

  it(`are all answered to their end: ${requests} of ${clients} clients, with new connections and with kept ones`, async () => {
    const server = await serve({ DATA_DIR: dataDir(), GATEWAY_ADMIN_KEY: adminKey }, "--workers", "2")
    const first = server.process.pid ?? 0
    const address = upstream.address()
    const port = typeof address === "object" && address !== null ? address.port : 0
    const account = { provider: "openai", name: "work", apiKey: "sk-abcdefghijklmnopqrstuvwx1", models: ["gpt-4o"] }
    await manage(server, "POST", "/api/providers", { ...account, baseUrl: `http://127.0.0.1:${port}/v1` })
    let begun = 0
    const failed: Array<string> = []
    const client = async (_: unknown, index: number): Promise<void> => {
      const agent = new Agent({ keepAlive: index % 2 === 0 })
      while (begun < requests) {
        begun += 1
        const answer = await stream(server.url, agent).catch((error: Error) => ({ status: 0, text: error.message }))
        if (!isWhole(answer)) failed.push(`${answer.status} ${answer.text.slice(-200)}`)
      }
      agent.destroy()
    }
    const all = Promise.all(Array.from({ length: clients }, client))
    const lives = () => partsOf(first).map(({ life, role }) => `${role} ${life}`)
    for (const [share, life] of [
      [0.25, 2],
      [0.6, 3]
    ] as const) {
      await until(() => begun >= requests * share, `${share} of them have begun`)
      process.kill(first, "SIGHUP")
      await until(() => lives().filter((each) => each === `worker ${life}`).length === 2, "new workers are there")
      await until(() => lives().includes(`owner ${life}`), "and an owner")
    }
    await all
    assert.deepStrictEqual(failed, [])
    await until(async () => (await rowsOf(server)) >= requests, "each has its row")
    assert.strictEqual(await rowsOf(server), requests, "and one only")
    assert.strictEqual(await server.stop("SIGTERM"), 0)
  }, 600_000)
})
