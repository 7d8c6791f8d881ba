/** Registered MCP servers over HTTP: their tools are listed and called at the gateway's own `/mcp` by the official client. */
import { assert, describe, it } from "@effect/vitest"
import { ToolListChangedNotificationSchema } from "@modelcontextprotocol/sdk/types.js"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Scope from "effect/Scope"
import { eventually } from "../../../support/eventually.ts"
import { temporaryFolder } from "../../../support/TemporaryFolder.ts"
import * as TestGateway from "../../../support/TestGateway.ts"
import { connect } from "../Client.ts"
import { answering, ask, docsServer, foreign, newDocs, scripted, textOf } from "./Servers.ts"

const secret = "Bearer secret-of-the-docs-server-0123456789"

type Manage = TestGateway.TestGateway["manage"]

const register = async (manage: Manage, name: string, url: string, more: object = {}) =>
  (await manage("POST", "/api/mcp/servers", { name, url, ...more })).server

/** A key of the gateway with these scopes. */
const keyOf = async (manage: Manage, name: string, scopes: ReadonlyArray<string>) => {
  const { key, secret: text } = await manage("POST", "/api/keys", { name, scopes })
  return { id: String(key.id), secret: String(text) }
}

const scenario = (name: string, run: (gateway: TestGateway.TestGateway) => Effect.Effect<void, never, never>): void => {
  it.scopedLive(name, () => Effect.flatMap(TestGateway.start(), run))
}

describe("a registered MCP server over HTTP", () => {
  it.scopedLive("is listed, called, counted and never shown with its secrets", () =>
    Effect.gen(function* () {
      const docs = newDocs()
      const upstream = yield* docsServer(docs)
      const { manage, url } = yield* TestGateway.start()
      yield* Effect.promise(async () => {
        const server = await register(manage, "docs", upstream.url, { headers: { Authorization: secret } })
        assert.deepInclude(server, {
          name: "docs",
          transport: "http",
          headerNames: ["Authorization"],
          enabled: true,
          timeoutMs: 30_000,
          status: "idle",
          toolCount: null
        })
        const connected = await connect(url)
        assert.deepStrictEqual(await foreign(connected), [
          "docs__search",
          "docs__fail",
          "docs__big",
          "docs__wait",
          "docs__steps"
        ])
        const { tools } = await connected.client.listTools()
        const search = tools.find((tool) => tool.name === "docs__search")
        assert.strictEqual(search?.description, "Finds pages by words.")
        assert.deepInclude(search?.annotations, { readOnlyHint: true, openWorldHint: false })
        assert.deepStrictEqual(search?.inputSchema.required, ["query"])

        // The client compares the result with the output schema that was passed on.
        const found = await ask(connected, "docs__search", { query: "limits" })
        assert.deepStrictEqual(found, { isError: false, text: "Found limits.", structured: { found: ["limits"] } })
        const failed = await ask(connected, "docs__fail")
        assert.deepInclude(failed, { isError: true, text: "It is not possible." })
        const wrong = await ask(connected, "docs__search", { query: 5 })
        assert.isTrue(wrong.isError)
        assert.match(wrong.text, /query/)
        const big = await ask(connected, "docs__big")
        assert.deepInclude(big, { isError: true, text: "'docs' answered with more than 4194304 bytes." })
        const unknown = await ask(connected, "docs__serch").catch((error: Error) => error.message)
        assert.match(String(unknown), /Unknown tool: docs__serch.+docs__search/)

        const said: Array<string | undefined> = []
        const stepped = await connected.client.callTool({ name: "docs__steps" }, undefined, {
          onprogress: ({ message }) => said.push(message)
        })
        assert.strictEqual(textOf(stepped), "done")
        assert.deepStrictEqual(said, ["step 1", "step 2"])

        // What is cancelled here is cancelled there.
        const stop = new AbortController()
        const waiting = connected.client.callTool({ name: "docs__wait" }, undefined, { signal: stop.signal })
        await eventually(
          "the call",
          () => docs.waiting,
          (count) => count === 1
        )
        stop.abort()
        await waiting.catch(() => {})
        const { text } = await ask(connected, "gateway_tool_search", { query: "pages words" })
        assert.include(text, "docs__search")
        await eventually(
          "the cancellation",
          () => docs.cancelled,
          (count) => count === 1
        )

        // What changes there is told here.
        const heard: Array<string> = []
        connected.client.setNotificationHandler(
          ToolListChangedNotificationSchema,
          ({ method }) => void heard.push(method)
        )
        docs.more = [{ name: "more", inputSchema: { type: "object" } }]
        for (const session of docs.sessions.values()) await session.server.sendToolListChanged()
        await eventually(
          "the notification",
          () => heard.length,
          (count) => count > 0
        )
        assert.include(await foreign(connected), "docs__more")

        const { servers } = await manage("GET", "/api/mcp/servers")
        assert.deepInclude(servers[0], {
          status: "online",
          toolCount: 6,
          lastError: null,
          serverInfo: { name: "docs-server", version: "1.2.0" },
          protocolVersion: "2025-11-25"
        })
        const listed = await manage("GET", "/api/mcp/tools")
        const shown = listed.tools.find((tool: { name: string }) => tool.name === "docs__search")
        assert.deepInclude(shown, { server: "docs", scopes: ["execute:skills"], effect: "read" })
        const { calls } = await manage("GET", "/api/mcp/audit?tool=docs__search")
        assert.deepStrictEqual(
          calls.map((one: { success: boolean }) => one.success),
          [false, true]
        )
        assert.isTrue(upstream.seen.every(({ authorization }) => authorization === secret))
        assert.strictEqual(upstream.seen.at(-1)?.["mcp-protocol-version"], "2025-11-25")
        const all = JSON.stringify([servers, listed, calls, await manage("GET", "/api/compliance/audit-log")])
        assert.notInclude(all, "secret-of-the-docs-server")
        await connected.client.close()
      })
    })
  )

  it.scopedLive("is offered to its keys and with its tools only, from a change on", () =>
    Effect.gen(function* () {
      const docs = newDocs()
      const upstream = yield* docsServer(docs)
      const { manage, url } = yield* TestGateway.start()
      yield* Effect.promise(async () => {
        const mine = await keyOf(manage, "mine", ["execute:skills", "read:tools"])
        const other = await keyOf(manage, "other", ["execute:skills", "read:tools"])
        const bare = await keyOf(manage, "bare", ["read:tools"])
        const server = await register(manage, "docs", upstream.url, {
          allowedTools: ["search", "f*"],
          allowedKeys: [mine.id]
        })
        const [byMine, byOther, byBare] = await Promise.all([mine, other, bare].map((key) => connect(url, key.secret)))
        assert.isDefined(byMine)
        assert.isDefined(byOther)
        assert.isDefined(byBare)
        if (byMine === undefined || byOther === undefined || byBare === undefined) return
        assert.deepStrictEqual(await foreign(byMine), ["docs__search", "docs__fail"])
        assert.deepStrictEqual(await foreign(byOther), [])
        assert.deepStrictEqual(await foreign(byBare), [])
        const refused = await ask(byOther, "docs__search", { query: "a" }).catch((error: Error) => error.message)
        assert.match(String(refused), /Unknown tool: docs__search/)
        const notAllowed = await ask(byMine, "docs__big").catch((error: Error) => error.message)
        assert.match(String(notAllowed), /Unknown tool: docs__big/)

        const heard: Array<string> = []
        byMine.client.setNotificationHandler(ToolListChangedNotificationSchema, ({ method }) => void heard.push(method))
        await manage("PATCH", `/api/mcp/servers/${server.id}`, { name: "pages", allowedKeys: null, allowedTools: null })
        await eventually(
          "the notification",
          () => heard.length,
          (count) => count > 0
        )
        assert.include(await foreign(byOther), "pages__big")
        const unscoped = await ask(byBare, "pages__search", { query: "a" })
        assert.deepInclude(unscoped, { isError: true, text: "This caller lacks the scope 'execute:skills'." })
        await manage("PATCH", `/api/mcp/servers/${server.id}`, { enabled: false })
        assert.deepStrictEqual(await foreign(byMine), [])
        const tested = await manage("POST", `/api/mcp/servers/${server.id}/test`)
        assert.deepInclude(tested, { ok: true, error: null })
        assert.lengthOf(tested.tools, 5)
        await manage("DELETE", `/api/mcp/servers/${server.id}`)
        // Its sessions are ended there, too.
        await eventually(
          "their end",
          () => docs.sessions.size,
          (count) => count === 0
        )
        assert.deepStrictEqual((await manage("GET", "/api/mcp/servers")).servers, [])
      })
    })
  )

  it.scopedLive("that fails does not disturb the gateway's own tools, and is told with its reason", () =>
    Effect.gen(function* () {
      const tool = (name: string, more: object = {}) => ({ name, inputSchema: { type: "object" }, ...more })
      const html = yield* answering((_, response) => {
        response.writeHead(200, { "content-type": "text/html" }).end("<html>Sign in</html>")
      })
      const hangs = yield* answering(() => {})
      const many = yield* answering(
        scripted({ "tools/list": () => ({ tools: Array.from({ length: 10_000 }, (_, at) => tool(`tool-${at}`)) }) })
      )
      const huge = yield* answering(
        scripted({ "tools/list": () => ({ tools: [tool("t", { description: "x".repeat(5_000_000) })] }) })
      )
      const odd = yield* answering(
        scripted({
          "tools/list": () => ({
            tools: [
              tool("good", { description: "y".repeat(20_000) }),
              tool("bad name"),
              tool("schema", {
                inputSchema: { type: "object", properties: { a: { description: "z".repeat(70_000) } } }
              }),
              { name: "none" },
              5,
              null
            ]
          }),
          "tools/call": () => ({ nothing: true })
        })
      )
      const wrong = yield* answering(scripted({ "tools/list": () => ({ tools: "none" }) }))
      const moved = yield* answering((_, response) => void response.writeHead(307, { location: many.url }).end())
      const refuses = yield* answering((request, response) => {
        response.writeHead(401, { "content-type": "application/json" })
        response.end(JSON.stringify({ error: { message: `bad key ${request.headers["x-api-key"]}` } }))
      })
      const { manage, url } = yield* TestGateway.start()
      yield* Effect.promise(async () => {
        const more = { timeoutMs: 1_000, headers: { "x-api-key": "key-of-the-server-0123456789" } }
        const places = { html, hangs, many, huge, odd, wrong, moved, refuses, gone: { url: "http://127.0.0.1:9/mcp" } }
        for (const [name, { url: to }] of Object.entries(places)) await register(manage, name, to, more)
        const connected = await connect(url)
        const health = await ask(connected, "gateway_get_health")
        assert.isFalse(health.isError)
        const offered = await foreign(connected)
        assert.strictEqual(offered.filter((name) => name.startsWith("many__")).length, 256)
        assert.deepStrictEqual(
          offered.filter((name) => !name.startsWith("many__")),
          ["odd__good"]
        )
        const { servers } = await eventually(
          "the states",
          () => manage("GET", "/api/mcp/servers"),
          ({ servers: all }) => all.every(({ status }: { status: string }) => status !== "idle")
        )
        const errors = Object.fromEntries(
          servers.map(({ lastError, name }: { name: string; lastError: string | null }) => [name, lastError])
        )
        assert.match(errors.html, /^answered with what is no MCP message$/)
        assert.match(errors.hangs, /^did not answer within 1 seconds$/)
        assert.match(errors.huge, /^answered with more than 4194304 bytes$/)
        assert.match(errors.wrong, /^answered without a list of tools$/)
        assert.match(errors.moved, /^answered with a redirect \(307\)/)
        assert.match(errors.refuses, /^did not accept the credential \(401\): bad key \[redacted\]$/)
        assert.match(errors.gone, /^cannot be asked/)
        assert.isNull(errors.many)
        assert.isNull(errors.odd)
        const nothing = await ask(connected, "odd__good")
        assert.deepInclude(nothing, { isError: true, text: "'odd' answered with what is no result of a tool." })
        const refused = await ask(connected, "many__tool-1")
        assert.isTrue(refused.isError)
        assert.match(refused.text, /^'many' answered with an error: no such method.+\[redacted\]/)
        const down = await ask(connected, "html__anything")
        assert.isTrue(down.isError)
        assert.match(down.text, /^'html' answered with what is no MCP message/)
      })
    })
  )

  it.scopedLive("is asked again after its restart, in a new session, and a call ends in time", () =>
    Effect.gen(function* () {
      const docs = newDocs()
      const first = yield* docsServer(docs)
      const { manage, url } = yield* TestGateway.start()
      yield* Effect.gen(function* () {
        const connected = yield* Effect.promise(async () => {
          await register(manage, "docs", first.url, { timeoutMs: 1_000 })
          const one = await connect(url)
          assert.isFalse((await ask(one, "docs__search", { query: "a" })).isError)
          const late = await ask(one, "docs__wait")
          assert.deepInclude(late, { isError: true, text: "'docs' did not answer within 1 seconds." })
          // Its sessions are forgotten.
          docs.sessions.clear()
          assert.isFalse((await ask(one, "docs__search", { query: "b" })).isError)
          await first.close()
          const down = await ask(one, "docs__search", { query: "c" })
          assert.isTrue(down.isError)
          assert.match(down.text, /^'docs' cannot be asked/)
          return one
        })
        yield* docsServer(newDocs(), first.port)
        yield* Effect.promise(async () => {
          const back = await eventually(
            "the answer of the new one",
            () => ask(connected, "docs__search", { query: "d" }),
            ({ isError }) => !isError
          )
          assert.strictEqual(back.text, "Found d.")
        })
      })
    })
  )

  it.scopedLive("is there with its headers after a restart of the gateway", () =>
    Effect.gen(function* () {
      const docs = yield* docsServer(newDocs())
      const dataDir = yield* temporaryFolder
      const first = yield* Scope.make()
      const { manage } = yield* Scope.extend(TestGateway.start({ dataDir }), first)
      const before = yield* Effect.promise(() =>
        register(manage, "docs", docs.url, { headers: { Authorization: secret }, allowedTools: ["search"] })
      )
      yield* Scope.close(first, Exit.void)
      assert.lengthOf(docs.seen, 0)
      const again = yield* TestGateway.start({ dataDir })
      yield* Effect.promise(async () => {
        const { servers } = await again.manage("GET", "/api/mcp/servers")
        assert.deepStrictEqual(servers, [before])
        const connected = await connect(again.url)
        assert.strictEqual((await ask(connected, "docs__search", { query: "a" })).text, "Found a.")
        assert.isTrue(docs.seen.every(({ authorization }) => authorization === secret))
      })
    })
  )

  scenario("is refused when it is not right", ({ manage }) =>
    Effect.promise(async () => {
      const refused = (body: object): Promise<string> =>
        manage("POST", "/api/mcp/servers", body).then(
          () => "",
          (error: Error) => error.message
        )
      const url = "http://127.0.0.1:1/mcp"
      assert.match(await refused({ name: "Docs", url }), /400.+name: must be 1 to 31/)
      assert.match(await refused({ name: "gateway", url }), /400.+reserved/)
      assert.match(await refused({ name: "docs" }), /400.+url: is missing/)
      assert.match(await refused({ name: "docs", url: "http://169.254.169.254/mcp" }), /400.+outbound policy/)
      assert.match(await refused({ name: "docs", url: "file:///etc/passwd" }), /400.+http or https/)
      assert.match(await refused({ name: "docs", url, timeoutMs: 300_001 }), /400.+timeoutMs/)
      assert.match(await refused({ name: "docs", url, allowedKeys: ["none"] }), /400.+there is no API key 'none'/)
      assert.match(await refused({ name: "docs", url, env: { A: "b" } }), /400.+env: does not go with a URL/)
      assert.strictEqual(await refused({ name: "docs", url, headers: { Authorization: secret } }), "")
      assert.match(await refused({ name: "docs", url }), /409.+already an MCP server named 'docs'/)
      const [{ id }] = (await manage("GET", "/api/mcp/servers")).servers
      const moved = await manage("PATCH", `/api/mcp/servers/${id}`, { url: "http://127.0.0.1:2/mcp" }).catch(String)
      assert.match(String(moved), /400.+headers: are needed again/)
      for (let at = 1; at < 32; at += 1) await refused({ name: `docs-${at}`, url })
      assert.match(await refused({ name: "one-more", url }), /409.+32 MCP servers/)
    })
  )
})
