/** Resources, prompts and completions through the official client. */
import type { Client } from "@modelcontextprotocol/sdk/client/index.js"
import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Fake from "../../support/FakeUpstream.ts"
import * as TestGateway from "../../support/TestGateway.ts"
import { connect } from "./Client.ts"

const read = async (client: Client, uri: string): Promise<{ readonly text: string; readonly mimeType: string }> => {
  const { contents } = await client.readResource({ uri })
  assert.lengthOf(contents, 1)
  const [content] = contents
  assert.strictEqual(content?.uri, uri)
  return { text: content !== undefined && "text" in content ? content.text : "", mimeType: String(content?.mimeType) }
}

const refusal = async (asked: Promise<unknown>): Promise<string> => {
  try {
    await asked
  } catch (error) {
    return error instanceof Error ? error.message : "no error"
  }
  throw new Error("It was not refused.")
}

const prepared = Effect.gen(function* () {
  const upstream = yield* Fake.start
  upstream.always(Fake.json(Fake.chatCompletion()))
  const gateway = yield* TestGateway.start({ environment: new Map([["REQUIRE_API_KEY", "true"]]) })
  const requestId = yield* Effect.promise(async () => {
    await gateway.connect("up", upstream, "chat")
    const body = { model: "up/m", messages: [{ role: "user", content: "Hello" }] }
    const admin = { authorization: `Bearer ${TestGateway.adminKey}` }
    const { headers } = await gateway.post("/v1/chat/completions", body, admin)
    const id = headers.get("x-gateway-request-id") ?? ""
    await gateway.usageRow(id)
    return id
  })
  return { ...gateway, requestId }
})

describe("what clients may read", () => {
  it.scopedLive("state, usage, decisions and manuals, as they are now", () =>
    Effect.flatMap(prepared, ({ requestId, url }) =>
      Effect.promise(async () => {
        const { client } = await connect(url)
        const { resources } = await client.listResources()
        const uris = resources.map(({ uri }) => uri)
        assert.includeMembers(uris, [
          "gateway://models",
          "gateway://usage",
          "gateway://requests",
          "gateway://skills/gw-providers"
        ])
        for (const { mimeType, uri } of resources) {
          const got = await read(client, uri)
          assert.strictEqual(got.mimeType, mimeType)
          if (mimeType === "application/json") assert.isObject(JSON.parse(got.text), uri)
          else assert.match(got.text, /^---\nname: /, uri)
        }
        assert.include((await read(client, "gateway://requests")).text, requestId)
        assert.strictEqual(JSON.parse((await read(client, "gateway://usage")).text).summary.requests, 1)

        const { resourceTemplates } = await client.listResourceTemplates()
        assert.includeMembers(
          resourceTemplates.map(({ uriTemplate }) => uriTemplate),
          ["gateway://decisions/{requestId}", "gateway://usage/{range}", "gateway://skills/{id}"]
        )
        const decision = JSON.parse((await read(client, `gateway://decisions/${requestId}`)).text)
        assert.strictEqual(decision.decision.requestId, requestId)
        assert.strictEqual(JSON.parse((await read(client, "gateway://usage/1h")).text).range, "1h")
        await client.close()
      })
    )
  )

  it.scopedLive("is refused in a sentence when it is not there, or not the caller's to read", () =>
    Effect.flatMap(prepared, ({ manage, requestId, url }) =>
      Effect.promise(async () => {
        const { client } = await connect(url)
        const bad = (uri: string) => refusal(client.readResource({ uri }))
        assert.match(await bad("gateway://model"), /-32002.*no resource.*Did you mean 'gateway:\/\/models'/)
        assert.match(await bad("gateway://decisions/none"), /-32002/)
        assert.match(await bad("gateway://skills/../../etc/passwd"), /-3200/)
        assert.match(await bad("gateway://usage/forever"), /-32602.*range/)
        assert.match(await bad(`gateway://skills/${"x".repeat(3_000)}`), /at most 2048/)
        assert.match(await refusal(client.listResources({ cursor: "none" })), /'cursor'/)

        const { secret } = await manage("POST", "/api/keys", { name: "reader", scopes: ["read:catalog"] })
        const reader = await connect(url, secret)
        const { resources } = await reader.client.listResources()
        assert.isTrue(
          resources.every(({ uri }) => uri.startsWith("gateway://skills/") || uri === "gateway://models"),
          "what every caller may read"
        )
        assert.match((await read(reader.client, "gateway://skills/gw-mcp")).text, /mcp/)
        assert.match(
          await refusal(reader.client.readResource({ uri: "gateway://usage" })),
          /lacks the scope 'read:usage'/
        )
        assert.match(
          await refusal(reader.client.getPrompt({ name: "explain_request", arguments: { requestId } })),
          /lacks the scope/
        )
      })
    )
  )
})

describe("what clients may be asked", () => {
  it.scopedLive("brings what is known with it, and its variables are completed", () =>
    Effect.flatMap(prepared, ({ requestId, url }) =>
      Effect.promise(async () => {
        const { client } = await connect(url)
        const { prompts } = await client.listPrompts()
        const given: Readonly<Record<string, Record<string, string>>> = {
          explain_request: { requestId },
          review_costs: { range: "7d" },
          choose_model: { task: "Translate a poem." },
          add_provider: { provider: "openai" },
          diagnose: {}
        }
        assert.sameMembers(
          prompts.map(({ name }) => name),
          Object.keys(given)
        )
        for (const [name, values] of Object.entries(given)) {
          const { messages } = await client.getPrompt({ name, arguments: values })
          const all = JSON.stringify(messages)
          for (const value of Object.values(values)) assert.include(all, value, name)
          assert.strictEqual(messages.at(-1)?.content.type, "text")
        }
        const complete = async (ref: Parameters<Client["complete"]>[0]["ref"], name: string, value: string) =>
          (await client.complete({ ref, argument: { name, value } })).completion
        const providers = await complete({ type: "ref/prompt", name: "add_provider" }, "provider", "Open")
        assert.includeMembers(providers.values, ["openai", "openrouter"])
        assert.isTrue(providers.values.every((one) => one.startsWith("open")))
        const requests = await complete(
          { type: "ref/resource", uri: "gateway://decisions/{requestId}" },
          "requestId",
          ""
        )
        assert.deepEqual(requests.values, [requestId])
        const free = await complete({ type: "ref/prompt", name: "choose_model" }, "task", "a")
        assert.deepEqual(free.values, [])

        assert.match(await refusal(client.getPrompt({ name: "diagnos" })), /Unknown prompt.*Did you mean 'diagnose'/)
        assert.match(await refusal(client.getPrompt({ name: "choose_model" })), /'task' is missing/)
        const surplus = client.getPrompt({ name: "diagnose", arguments: { what: "all" } })
        assert.match(await refusal(surplus), /'what' is not an argument/)
        assert.match(await refusal(complete({ type: "ref/prompt", name: "diagnose" }, "what", "")), /not an argument/)
        assert.match(await refusal(complete({ type: "ref/resource", uri: "file:///etc" }, "id", "")), /'ref.uri'/)
      })
    )
  )
})
