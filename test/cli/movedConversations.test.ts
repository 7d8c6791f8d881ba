/**
 * Conversations whose next turn comes to another process: of one gateway with workers, and of gateways on one database. Thinking that a client could not
 * carry is there, and so is the answer that `previous_response_id` names.
 */
import { once } from "node:events"
import { createServer } from "node:http"
import { setTimeout as sleep } from "node:timers/promises"
import { afterAll, assert, beforeAll, describe, it } from "vitest"
import { isPostgresThere, noPostgres } from "../support/postgres/Server.ts"
import { emptyDatabase, nodeVariables } from "./postgres.ts"
import { adminKey, authorization, manage, until } from "./processes.ts"
import { program, type Serving } from "./support.ts"

const { dataDir, serve } = program()

type Body = Readonly<Record<string, unknown>>

const thinking = { type: "thinking", thinking: "I should read it.", signature: "c2lnbmF0dXJl" }
const toolUse = { type: "tool_use", id: "toolu_1", name: "read", input: { path: "a.txt" } }

/** Claude, that thinks before its first call of a tool, and answers after it. */
const makeClaude = () => {
  const asked: Array<ReadonlyArray<{ readonly role: string; readonly content: unknown }>> = []
  const server = createServer(async (request, response) => {
    const parts: Array<Buffer> = []
    for await (const part of request) parts.push(part as Buffer)
    response.setHeader("content-type", "application/json")
    if (request.method !== "POST") return void response.end(JSON.stringify({ data: [{ id: "claude", type: "model" }] }))
    const { messages } = JSON.parse(Buffer.concat(parts).toString()) as { messages: (typeof asked)[number] }
    asked.push(messages)
    const isFirst = messages.length === 1
    const content = isFirst ? [thinking, toolUse] : [{ type: "text", text: `It has ${messages.length} turns.` }]
    const about = { id: "msg_1", type: "message", role: "assistant", model: "claude" }
    const end = { stop_reason: isFirst ? "tool_use" : "end_turn", usage: { input_tokens: 9, output_tokens: 20 } }
    response.end(JSON.stringify({ ...about, content, ...end }))
  })
  beforeAll(async () => {
    server.listen(0, "127.0.0.1")
    await once(server, "listening")
  })
  afterAll(() => void server.close())
  return {
    asked,
    connection: () => {
      const address = server.address()
      const port = typeof address === "object" && address !== null ? address.port : 0
      const account = { provider: "anthropic", name: "claude", apiKey: "sk-ant-abcdefghijklmnop", models: ["claude"] }
      return { ...account, baseUrl: `http://127.0.0.1:${port}/v1` }
    }
  }
}

const claude = makeClaude()

/** Asks on a connection of its own, which any process may take. */
const post = async ({ url }: Serving, path: string, body: Body): Promise<Body> => {
  const headers = { authorization, "content-type": "application/json", connection: "close" }
  const response = await fetch(`${url}${path}`, { method: "POST", headers, body: JSON.stringify(body) })
  const text = await response.text()
  assert.strictEqual(response.status, 200, text)
  return JSON.parse(text) as Body
}

const tools = [{ type: "function", function: { name: "read", parameters: { type: "object", properties: {} } } }]
const question = { role: "user", content: "What does it say?" }

/** The first turn of a chat client: what it gets of the call, without the thinking. */
const firstTurn = async (server: Serving): Promise<Body> => {
  const answer = await post(server, "/v1/chat/completions", { model: "anthropic/claude", messages: [question], tools })
  const [choice] = answer["choices"] as ReadonlyArray<{ readonly message: Body }>
  return choice?.message ?? {}
}

const nextTurn = (server: Serving, { tool_calls }: Body): Promise<Body> => {
  const [call] = tool_calls as ReadonlyArray<{ readonly id: string }>
  const said = { role: "assistant", content: null, tool_calls }
  const result = { role: "tool", tool_call_id: call?.id, content: "forty-two" }
  return post(server, "/v1/chat/completions", { model: "anthropic/claude", messages: [question, said, result], tools })
}

const contentOf = (at: number): unknown => claude.asked.at(at)?.[1]?.content

/** Time after which the others have heard, with room for a busy machine. */
const heardMs = 2_000

describe.skipIf(process.platform !== "linux")("a conversation over workers", () => {
  it("has the thinking of its turn before, whichever takes the connection", async () => {
    const server = await serve({ DATA_DIR: dataDir(), GATEWAY_ADMIN_KEY: adminKey }, "--workers", "3")
    await manage(server, "POST", "/api/providers", claude.connection())
    const message = await firstTurn(server)
    await sleep(heardMs)
    // As many as it takes to come to each of the three.
    for (let turn = 0; turn < 12; turn++) {
      await nextTurn(server, message)
      assert.deepStrictEqual(contentOf(-1), [thinking, toolUse], `turn ${turn}`)
    }
    assert.strictEqual(await server.stop("SIGTERM"), 0)
  }, 240_000)
})

describe.skipIf(!isPostgresThere())(
  `a conversation over gateways on one database${isPostgresThere() ? "" : noPostgres}`,
  () => {
    it("goes on at another one: with its thinking, and by the id of its latest answer", async () => {
      const database = await emptyDatabase()
      const environment = nodeVariables(database)
      const one = await serve({ ...environment, DATA_DIR: dataDir() })
      const two = await serve({ ...environment, DATA_DIR: dataDir() })
      await manage(one, "POST", "/api/providers", claude.connection())
      await until(async () => {
        const { connections } = (await manage(two, "GET", "/api/providers")) as {
          readonly connections: ReadonlyArray<Body>
        }
        return connections.length === 1
      }, "the other one has the account")
      const message = await firstTurn(one)
      await sleep(heardMs)
      await nextTurn(two, message)
      assert.deepStrictEqual(contentOf(-1), [thinking, toolUse])

      // A client of the responses wire sends only what is new, now here and now there.
      const ask = (server: Serving, input: string, previous: Body | null): Promise<Body> =>
        post(server, "/v1/responses", {
          model: "anthropic/claude",
          input,
          ...(previous === null ? {} : { previous_response_id: previous["id"] })
        })
      let previous: Body | null = null
      for (const [turn, server] of [one, two, one, two].entries()) {
        previous = await ask(server, `turn ${turn}`, previous)
        await sleep(heardMs)
        assert.lengthOf(claude.asked.at(-1) ?? [], turn * 2 + 1)
      }
      const told = await database.rows("SELECT content FROM cluster_told")
      assert.isAbove(told.length, 0)
      assert.notInclude(JSON.stringify(told), "I should read it")
      assert.notInclude(JSON.stringify(told), "turn 1")
      assert.strictEqual(await one.stop("SIGTERM"), 0)
      assert.strictEqual(await two.stop("SIGTERM"), 0)
    }, 240_000)

    it("is asked once for a request that comes again under its key at another one, which refuses another body under it", async () => {
      const database = await emptyDatabase()
      const environment = nodeVariables(database)
      const one = await serve({ ...environment, DATA_DIR: dataDir() })
      const two = await serve({ ...environment, DATA_DIR: dataDir() })
      await manage(one, "POST", "/api/providers", claude.connection())
      await manage(one, "PUT", "/api/settings", { idempotencyWindowMs: 600_000 })
      await until(async () => {
        const { connections } = (await manage(two, "GET", "/api/providers")) as {
          readonly connections: ReadonlyArray<Body>
        }
        const { idempotency } = (await manage(two, "GET", "/api/cache/stats")) as { readonly idempotency: Body }
        return connections.length === 1 && idempotency["windowMs"] === 600_000
      }, "the other one has the account and the setting")
      const ask = (server: Serving, content: string) =>
        fetch(`${server.url}/v1/chat/completions`, {
          method: "POST",
          headers: { authorization, "content-type": "application/json", "idempotency-key": "payment-17" },
          body: JSON.stringify({ model: "anthropic/claude", messages: [{ role: "user", content }], tools })
        })
      const before = claude.asked.length
      const first = await ask(one, "Pay the bill of Ms Larch.")
      const answer = await first.text()
      assert.strictEqual(first.status, 200, answer)
      await until(async () => {
        const { idempotency } = (await manage(two, "GET", "/api/cache/stats")) as { readonly idempotency: Body }
        return idempotency["activeKeys"] === 1
      }, "the other one knows the key")
      const again = await ask(two, "Pay the bill of Ms Larch.")
      assert.strictEqual(await again.text(), answer)
      assert.strictEqual(again.headers.get("x-gateway-idempotent"), "true")
      assert.strictEqual(claude.asked.length, before + 1)
      const other = await ask(two, "Pay the bill of Mr Alder.")
      assert.strictEqual(other.status, 409)
      assert.include(await other.text(), "idempotency_conflict")
      assert.strictEqual(claude.asked.length, before + 1)
      const told = JSON.stringify(await database.rows("SELECT content FROM cluster_told"))
      assert.include(told, "kept.idempotent-answer")
      assert.notInclude(told, "toolu_1")
      assert.strictEqual(await one.stop("SIGTERM"), 0)
      assert.strictEqual(await two.stop("SIGTERM"), 0)
    }, 240_000)
  }
)
