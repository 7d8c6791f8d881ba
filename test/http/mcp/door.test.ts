/** The MCP server over streamable HTTP: the official client, sessions, and what is refused at the door. */
import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as TestGateway from "../../support/TestGateway.ts"
import { call, connect } from "./Client.ts"

const scenario = (
  name: string,
  run: (gateway: TestGateway.TestGateway) => Promise<void>,
  config: Parameters<typeof TestGateway.start>[0] = {}
): void => {
  it.scopedLive(name, () => Effect.flatMap(TestGateway.start(config), (gateway) => Effect.promise(() => run(gateway))))
}

const initialize = {
  jsonrpc: "2.0",
  id: 1,
  method: "initialize",
  params: { protocolVersion: "2025-06-18", capabilities: {}, clientInfo: { name: "raw", version: "1" } }
}
const list = { jsonrpc: "2.0", id: 2, method: "tools/list", params: {} }
const admin = { authorization: `Bearer ${TestGateway.adminKey}` }
const both = { accept: "application/json, text/event-stream" }

describe("the MCP server over HTTP", () => {
  scenario("speaks with the official client", async ({ manage, url }) => {
    await manage("POST", "/api/combos", {
      id: "fast",
      name: "fast",
      strategy: "priority",
      targets: [{ model: "openai/gpt-4o" }]
    })
    for (const path of ["/mcp", "/api/mcp/stream"]) {
      const connected = await connect(url, TestGateway.adminKey, path)
      const { client, transport } = connected
      assert.strictEqual(client.getServerVersion()?.name, "gateway")
      assert.isString(transport.sessionId)
      const { tools } = await client.listTools()
      assert.includeMembers(
        tools.map(({ name }) => name),
        ["gateway_get_health", "gateway_list_combos", "gateway_set_routing_strategy"]
      )
      const read = tools.find(({ name }) => name === "gateway_list_combos")
      assert.deepInclude(read?.annotations, { readOnlyHint: true, destructiveHint: false })
      const listed = await call(connected, "list_combos")
      assert.strictEqual(listed.structured.combos[0].id, "fast")
      assert.deepStrictEqual(JSON.parse(listed.text), listed.structured)
      const changed = await call(connected, "set_routing_strategy", { id: "fast", strategy: "round-robin" })
      assert.strictEqual(changed.structured.combo.strategy, "round-robin")
      await client.ping()
      await client.close()
    }
  })

  scenario("answers wrong calls with short reasons, and goes on", async ({ url }) => {
    const connected = await connect(url)
    const bad = await call(connected, "list_combos", { limit: "many" })
    assert.isTrue(bad.isError)
    assert.match(bad.text, /limit/)
    assert.isBelow(bad.text.length, 300)
    assert.include(bad.text, "gateway://tools/gateway_list_combos")
    const misspelled = await call(connected, "list_combos", { limits: 1 })
    assert.match(misspelled.text, /Did you mean 'limit'/)
    const missing = await call(connected, "set_routing_strategy", { strategy: "priority" })
    assert.match(missing.text, /'id' is missing/)
    const unknown = await connected.client.callTool({ name: "gateway_list_combo" }).then(
      () => null,
      (error: Error) => error
    )
    assert.match(String(unknown), /-32602.*Did you mean 'gateway_list_combos'/)
    assert.isFalse((await call(connected, "get_health")).isError)
  })

  scenario("ends a session, and knows it no more", async ({ url }) => {
    const connected = await connect(url)
    const { sessionId = "" } = connected.transport
    await connected.transport.terminateSession()
    const ask = (headers: Record<string, string>) =>
      fetch(`${url}/mcp`, {
        method: "POST",
        headers: { "content-type": "application/json", ...admin, ...both, ...headers },
        body: JSON.stringify(list)
      })
    assert.strictEqual((await ask({ "mcp-session-id": sessionId })).status, 404)
    // Clients without a session are served as well.
    assert.strictEqual((await ask({})).status, 200)
  })

  scenario("tells listeners that it stops", async ({ url }) => {
    const connected = await connect(url)
    const response = await fetch(`${url}/mcp`, {
      headers: { ...admin, accept: "text/event-stream", "mcp-session-id": connected.transport.sessionId ?? "" }
    })
    assert.strictEqual(response.status, 200)
    assert.strictEqual(response.headers.get("content-type"), "text/event-stream")
    await connected.transport.terminateSession()
    // The stream of a session that has ended is over.
    assert.strictEqual(await response.text(), "")
    const refused = await fetch(`${url}/mcp`, { headers: { ...admin, accept: "text/event-stream" } })
    assert.strictEqual(refused.status, 400)
  })

  scenario("refuses what is no message, with the reason", async ({ url, post }) => {
    const told = async (
      body: unknown,
      headers: Record<string, string> = {}
    ): Promise<readonly [number, number, string]> => {
      const response = await post("/mcp", body, { ...admin, ...both, ...headers })
      const { error } = (await response.json()) as {
        readonly error: { readonly code: number; readonly message: string }
      }
      return [response.status, error.code, error.message]
    }
    const start = async (body: unknown, headers: Record<string, string> = {}) => (await told(body, headers)).slice(0, 2)
    assert.deepStrictEqual(await start("{"), [400, -32700])
    assert.deepStrictEqual(await start("[]"), [400, -32600])
    assert.deepStrictEqual(await start({ jsonrpc: "1.0", id: 1, method: "ping" }), [400, -32600])
    assert.deepStrictEqual(await start({ jsonrpc: "2.0", id: 1 }), [400, -32600])
    assert.deepStrictEqual(await start({ jsonrpc: "2.0", id: 1, method: "no/such" }), [200, -32601])
    assert.deepStrictEqual(
      await start({ jsonrpc: "2.0", id: 1, method: "tools/call", params: { name: 1 } }),
      [200, -32602]
    )
    assert.deepStrictEqual(await start(list, { "content-type": "text/plain" }), [415, -32600])
    assert.deepStrictEqual(await start(list, { accept: "text/html" }), [406, -32600])
    assert.deepStrictEqual(await start(list, { "mcp-protocol-version": "1999-01-01" }), [400, -32600])
    assert.deepStrictEqual(await start(JSON.stringify({ ...list, pad: "x".repeat(10_000_000) })), [413, -32600])
    assert.deepStrictEqual(await start(`${"[".repeat(300)}${"]".repeat(300)}`), [400, -32700])
    const notified = await post("/mcp", { jsonrpc: "2.0", method: "notifications/initialized" }, { ...admin, ...both })
    assert.strictEqual(notified.status, 202)
    const batch = await post(
      "/mcp",
      [
        { ...list, id: 1 },
        { ...list, id: "two" }
      ],
      { ...admin, ...both }
    )
    assert.deepStrictEqual(
      ((await batch.json()) as ReadonlyArray<{ readonly id: unknown }>).map(({ id }) => id),
      [1, "two"]
    )
    const first = await post("/mcp", initialize, { ...admin, ...both })
    assert.strictEqual(
      ((await first.json()) as { readonly result: { readonly protocolVersion: string } }).result.protocolVersion,
      "2025-06-18"
    )
    assert.match(first.headers.get("mcp-session-id") ?? "", /^[\w-]{32}$/)
    assert.strictEqual((await fetch(`${url}/mcp`, { method: "PUT", headers: admin })).status, 405)
  })

  scenario(
    "lets in who has a key, no page of another origin, and tools by their scopes",
    async ({ manage, post, url }) => {
      const status = async (headers: Record<string, string>) =>
        (await post("/mcp", list, { ...both, ...headers })).status
      assert.strictEqual(await status({}), 401)
      assert.strictEqual(await status({ authorization: "Bearer gw_wrong" }), 401)
      assert.strictEqual(await status({ ...admin, origin: "https://evil.example" }), 403)
      assert.strictEqual(await status({ ...admin, origin: url }), 200)
      const { secret } = await manage("POST", "/api/keys", { name: "reader", scopes: ["read:combos"] })
      const reader = await connect(url, secret)
      const { tools } = await reader.client.listTools()
      assert.include(
        tools.map(({ name }) => name),
        "gateway_list_combos"
      )
      assert.notInclude(
        tools.map(({ name }) => name),
        "gateway_set_routing_strategy"
      )
      assert.isFalse((await call(reader, "list_combos")).isError)
      const refused = await call(reader, "set_routing_strategy", { id: "x", strategy: "priority" })
      assert.isTrue(refused.isError)
      assert.match(refused.text, /lacks the scope 'write:combos'/)
      // What a caller without a key may call where none is required, every key may.
      const { secret: plain } = await manage("POST", "/api/keys", { name: "plain", allowedModels: ["up/allowed"] })
      const ordinary = await connect(url, plain)
      assert.sameMembers(
        (await ordinary.client.listTools()).tools.map(({ name }) => name),
        [
          "agent_skills_coverage",
          "agent_skills_get",
          "agent_skills_list",
          "list_models_catalog",
          "route_request",
          "tool_search",
          "web_search"
        ].map((name) => `gateway_${name}`)
      )
      const node = { name: "up", prefix: "up", type: "openai-compatible", baseUrl: "http://127.0.0.1:1/v1" }
      await manage("POST", "/api/provider-nodes", node)
      const models = ["allowed", "other"]
      await manage("POST", "/api/providers", { provider: "up", name: "up", apiKey: "key-of-up", models })
      const shown = (await call(ordinary, "list_models_catalog", { query: "up/" })).structured.models
      assert.deepStrictEqual(
        shown.map(({ id }: { readonly id: string }) => id),
        ["up/allowed"]
      )
      assert.match((await call(ordinary, "route_request", { model: "up/other", prompt: "?" })).text, /up\/other/)
      // A kind of endpoint that a key may not use, it may not use by tools either.
      const { secret: agent } = await manage("POST", "/api/keys", { name: "agent", allowedEndpoints: ["agents"] })
      const limited = await connect(url, agent)
      assert.match((await call(limited, "route_request", { model: "up/other", prompt: "?" })).text, /allowedEndpoints/)
      assert.match((await call(limited, "list_models_catalog")).text, /may not be used for models/)
      assert.isFalse((await call(limited, "agent_skills_list")).isError)
      assert.match((await call(ordinary, "get_health")).text, /lacks the scope 'read:health'/)
      // Another caller's session is none.
      const theirs = { ...admin, "mcp-session-id": reader.transport.sessionId ?? "" }
      assert.strictEqual(await status(theirs), 404)
    },
    { environment: new Map([["REQUIRE_API_KEY", "true"]]) }
  )

  scenario(
    "lets known keys call every tool with GATEWAY_MCP_ENFORCE_SCOPES=false",
    async ({ manage, url }) => {
      const { secret } = await manage("POST", "/api/keys", { name: "reader", scopes: ["read:combos"] })
      const reader = await connect(url, secret)
      const { tools } = await reader.client.listTools()
      assert.include(
        tools.map(({ name }) => name),
        "gateway_get_health"
      )
      assert.isFalse((await call(reader, "get_health")).isError)
    },
    { environment: new Map([["GATEWAY_MCP_ENFORCE_SCOPES", "false"]]) }
  )

  scenario(
    "lists tools shortly with GATEWAY_MCP_COMPRESS_DESCRIPTIONS",
    async ({ url }) => {
      const { client } = await connect(url)
      const { tools } = await client.listTools()
      const explain = tools.find(({ name }) => name === "gateway_explain_route")
      assert.strictEqual(
        explain?.description,
        "With `requestId` the decision of a request that was made; else with `model` the decision as it would be made now."
      )
      assert.isUndefined(explain?.outputSchema)
      assert.hasAllKeys(explain?.inputSchema.properties, ["requestId", "model", "wire", "body", "headers", "seed"])
      assert.isBelow(JSON.stringify(tools).length, 60_000)
    },
    { environment: new Map([["GATEWAY_MCP_COMPRESS_DESCRIPTIONS", "true"]]) }
  )

  scenario("lists all tools within 60 KB, and their whole schemas where a client wants them", async ({ url }) => {
    const listed = async (query: string, headers: Record<string, string> = {}) => {
      const response = await fetch(`${url}/mcp${query}`, {
        method: "POST",
        headers: { "content-type": "application/json", ...admin, ...both, ...headers },
        body: JSON.stringify(list)
      })
      const text = await response.text()
      return { status: response.status, text, value: JSON.parse(text) }
    }
    const named = async (query: string, headers: Record<string, string> = {}): Promise<ReadonlyArray<string>> =>
      (await listed(query, headers)).value.result.tools.map(({ name }: { readonly name: string }) => name)
    const plain = await listed("")
    assert.isBelow(Buffer.byteLength(plain.text), 60_000)
    const { tools } = plain.value.result
    assert.isAbove(tools.length, 30)
    for (const { description, inputSchema, name, outputSchema } of tools) {
      assert.isUndefined(outputSchema, name)
      assert.strictEqual(inputSchema.type, "object", name)
      const references = [...JSON.stringify(inputSchema).matchAll(/"#\/\$defs\/([^"]+)"/g)].map(([, to]) => to)
      for (const to of references) assert.property(inputSchema.$defs, to ?? "", name)
      assert.isNotEmpty(description, name)
    }
    const strategy = tools.find(({ name }: { readonly name: string }) => name === "gateway_set_routing_strategy")
    assert.hasAllKeys(strategy.inputSchema.properties, ["id", "strategy", "config"])
    assert.include(strategy.description, "gateway://tools/gateway_set_routing_strategy")
    // The whole of it is a resource.
    const { client } = await connect(url)
    const { contents } = await client.readResource({ uri: "gateway://tools/gateway_set_routing_strategy" })
    const [content] = contents
    const whole = JSON.parse(content !== undefined && "text" in content ? content.text : "{}")
    assert.isAbove(JSON.stringify(whole.inputSchema).length, 20_000)
    assert.deepInclude(whole, { scopes: ["write:combos"], toolset: "routing" })
    const full = await listed("?schemas=full")
    const same = full.value.result.tools.find(({ name }: { readonly name: string }) => name === whole.name)
    assert.deepStrictEqual([same.inputSchema, same.outputSchema], [whole.inputSchema, whole.outputSchema])
    assert.isUndefined((await listed("", { "x-gateway-mcp-schemas": "input" })).value.result.tools[0].outputSchema)
    // Sets of tools, by the address or a header; the search is in each.
    const caches = ["gateway_cache_flush", "gateway_cache_stats", "gateway_tool_search"]
    assert.deepStrictEqual(await named("?toolsets=cache"), caches)
    assert.deepStrictEqual(await named("", { "x-gateway-mcp-toolsets": "Cache" }), caches)
    assert.lengthOf(await named("?toolsets=cache,models"), 4)
    assert.lengthOf(await named("?toolsets=all"), tools.length)
    for (const [query, words] of [
      ["?toolsets=cash", /no toolset 'cash'.*cache/],
      ["?schemas=tiny", /'schemas' must be short, input, full/]
    ] as const) {
      const { status, value } = await listed(query)
      assert.deepStrictEqual([status, value.id, value.error.code], [400, 2, -32602])
      assert.match(value.error.message, words)
    }
    // What is not listed can be called all the same.
    const few = await connect(url, TestGateway.adminKey, "/mcp?toolsets=cache")
    assert.isFalse((await call(few, "get_health")).isError)
    const refused = await few.client.readResource({ uri: "gateway://tools/gateway_get_healt" }).then(
      () => "",
      (error: unknown) => String(error)
    )
    assert.match(refused, /-32002.*Did you mean 'gateway_get_health'/)
  })

  scenario(
    "names the request in every refusal, and answers no notification",
    async ({ manage, url }) => {
      const told = async (body: string, headers: Record<string, string>) => {
        const response = await fetch(`${url}/mcp`, {
          method: "POST",
          headers: { "content-type": "application/json", ...both, ...headers },
          body
        })
        const text = await response.text()
        return { status: response.status, value: text === "" ? null : JSON.parse(text) }
      }
      const asked = JSON.stringify({ ...list, id: "seven" })
      const padded = JSON.stringify({ ...list, id: "seven", params: { pad: "x".repeat(5_000_000) } })
      const deep = `{"jsonrpc":"2.0","id":"seven","method":"ping","params":${'{"a":'.repeat(300)}1${"}".repeat(301)}`
      for (const [status, body, headers] of [
        [401, asked, {}],
        [401, asked, { authorization: "Bearer gw_wrong" }],
        [403, asked, { ...admin, origin: "https://evil.example" }],
        [404, asked, { ...admin, "mcp-session-id": "none" }],
        [400, asked, { ...admin, "mcp-protocol-version": "1999-01-01" }],
        [415, asked, { ...admin, "content-type": "text/plain" }],
        [406, asked, { ...admin, accept: "text/html" }],
        [413, padded, admin],
        [401, padded, {}],
        [400, deep, admin],
        [400, `${asked.slice(0, -1)},`, admin]
      ] as const) {
        const refused = await told(body, headers)
        assert.deepStrictEqual([refused.status, refused.value.id], [status, "seven"], body.slice(0, 100))
        assert.isNotEmpty(refused.value.error.message)
      }
      const long = JSON.stringify({ ...list, id: "x".repeat(300) })
      assert.strictEqual((await told(long, admin)).value.id, "x".repeat(300))
      const batch = JSON.stringify([list, { jsonrpc: "2.0", method: "notifications/initialized" }, { ...list, id: 3 }])
      const ids = (await told(batch, {})).value.map(({ id }: { readonly id: unknown }) => id)
      assert.deepStrictEqual(ids, [2, 3])
      const notification = JSON.stringify({ jsonrpc: "2.0", method: "notifications/initialized" })
      const refused = await told(notification, {})
      assert.strictEqual(refused.status, 401)
      assert.notProperty(refused.value, "id")
      assert.strictEqual((await told("{", admin)).value.id, null)
      await manage("PATCH", "/api/settings", { mcpEnabled: false })
      const off = await told(asked, admin)
      assert.deepStrictEqual([off.status, off.value.id], [503, "seven"])
    },
    { environment: new Map([["REQUIRE_API_KEY", "true"]]) }
  )

  scenario("tells of itself, and of every call without what was given", async ({ manage, url }) => {
    const connected = await connect(url)
    await call(connected, "get_health")
    await call(connected, "list_combos", { limit: 3 })
    assert.isTrue((await call(connected, "list_combos", { limit: "many" })).isError)
    const status = await manage("GET", "/api/mcp/status")
    assert.deepInclude(status, { status: "online", online: true, enabled: true, scopesEnforced: true })
    assert.strictEqual(status.httpTransport.url, `${url}/mcp`)
    assert.strictEqual(status.httpTransport.sessions, 1)
    assert.strictEqual(status.activity.totalCalls24h, 3)
    assert.approximately(status.activity.successRate, 2 / 3, 0.001)
    assert.strictEqual(status.activity.topTools[0].tool, "gateway_list_combos")
    const { tools } = await manage("GET", "/api/mcp/tools")
    assert.strictEqual(tools.length, status.tools)
    const { calls } = await manage("GET", "/api/mcp/audit?limit=2")
    assert.lengthOf(calls, 2)
    assert.isFalse(calls[0].success)
    assert.match(calls[0].inputHash, /^[0-9a-f]{64}$/)
    assert.notInclude(JSON.stringify(calls), "many")
    assert.lengthOf((await manage("GET", "/api/mcp/audit?tool=gateway_get_health")).calls, 1)
    await manage("PATCH", "/api/settings", { mcpEnabled: false })
    const off = await fetch(`${url}/mcp`, {
      method: "POST",
      headers: { "content-type": "application/json", ...admin, ...both },
      body: JSON.stringify(list)
    })
    assert.strictEqual(off.status, 503)
    assert.strictEqual((await manage("GET", "/api/mcp/status")).status, "off")
  })
})
