/** What a plugin is defined with, and what its functions get and give, in the sandbox and on real requests. */
import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Fake from "../../support/FakeUpstream.ts"
import { installPlugin, shownPlugin } from "../../support/RealPlugins.ts"
import * as TestGateway from "../../support/TestGateway.ts"

const setUp = Effect.gen(function* () {
  const gateway = yield* TestGateway.start()
  const upstream = yield* Fake.start
  upstream.always(Fake.json(Fake.chatCompletion({ text: "Hello" })))
  yield* Effect.promise(() => gateway.connect("up", upstream, "chat"))
  const chat = (more: object = {}, headers: Readonly<Record<string, string>> = {}) =>
    gateway.post(
      "/v1/chat/completions",
      { model: "up/m", messages: [{ role: "user", content: "Hi" }], ...more },
      headers
    )
  const decisionOf = async (response: Response) => {
    await response.arrayBuffer()
    const id = response.headers.get("x-gateway-request-id") ?? ""
    return (await gateway.manage("GET", `/api/routing/decisions/${id}`)).decision
  }
  return { gateway, upstream, chat, decisionOf }
})
type Room = Effect.Effect.Success<typeof setUp>

const scenario = (name: string, run: (room: Room) => Promise<void>): void => {
  it.scopedLive(name, () => Effect.flatMap(setUp, (room) => Effect.promise(() => run(room))))
}

describe("definePlugin", () => {
  scenario(
    "orders by the manifest's priority, else its own, else 100, then by name; lower ones first",
    async (room) => {
      const { chat, decisionOf, gateway } = room
      const marking = (name: string) =>
        `onRequest: (context) => addMetadata({ order: [...(context.metadata.order ?? []), ${JSON.stringify(name)}] })`
      const plugin = (name: string, onRequest: unknown, own = "") =>
        installPlugin(gateway, name, { manifest: { hooks: { onRequest } }, members: `${own} ${marking(name)}` })
      await plugin("last", true, "priority: 200,")
      await plugin("third", { priority: 150 }, "priority: 1,")
      await plugin("second", true)
      await plugin("secondly", {})
      await plugin("first", true, "priority: 50,")
      const priorities = []
      for (const name of ["first", "second", "secondly", "third", "last"]) {
        priorities.push((await shownPlugin(gateway, name)).hooks.onRequest.priority)
      }
      assert.deepStrictEqual(priorities, [50, 100, 100, 150, 200])
      const { metadata, plugins } = await decisionOf(await chat())
      const order = ["first", "second", "secondly", "third", "last"]
      assert.deepStrictEqual(metadata.order, order)
      assert.deepStrictEqual(
        plugins.map(({ name }: { name: string }) => name),
        order
      )
    }
  )

  scenario("is not called where it or its hook is not enabled", async ({ chat, decisionOf, gateway }) => {
    const members = "onRequest: () => blockRequest()"
    await installPlugin(gateway, "off", {
      manifest: { hooks: { onRequest: true } },
      members: `enabled: false, ${members}`
    })
    await installPlugin(gateway, "no-hook", { manifest: { hooks: { onRequest: false } }, members })
    await installPlugin(gateway, "no-hook-either", { manifest: { hooks: { onRequest: { enabled: false } } }, members })
    const response = await chat()
    assert.strictEqual(response.status, 200)
    assert.deepStrictEqual((await decisionOf(response)).plugins ?? [], [])
  })

  scenario(
    "gives functions the seven fields of the request, its configuration and what else is known",
    async (room) => {
      const { chat, decisionOf, gateway, upstream } = room
      await installPlugin(gateway, "reader", {
        manifest: { hooks: { onRequest: true }, configSchema: { word: { type: "string", default: "set" } } },
        members: `onRequest: (context) => {
        const { requestId, model, provider, body, headers, timestamp, config, hook, wire, endpoint, stream, apiKeyId } = context
        context.metadata.mutable = Object.keys(context.metadata)
        return addMetadata({ seen: { requestId, model, provider, body, team: headers["x-team"], timestamp, config, hook, wire, endpoint, stream, apiKeyId } })
      }`
      })
      const before = Date.now()
      const response = await chat({ user: "me" }, { "X-Team": "blue", authorization: "Bearer secret" })
      const { metadata } = await decisionOf(response)
      const { timestamp, ...seen } = metadata.seen
      assert.deepStrictEqual(seen, {
        requestId: response.headers.get("x-gateway-request-id"),
        model: "up/m",
        provider: "up",
        body: { model: "up/m", messages: [{ role: "user", content: "Hi" }], user: "me" },
        team: "blue",
        config: { word: "set" },
        hook: "onRequest",
        wire: "chat",
        endpoint: "chat",
        stream: false,
        apiKeyId: null
      })
      assert.isAtLeast(timestamp, before)
      assert.isAtMost(timestamp, Date.now())
      assert.deepStrictEqual(metadata.mutable, [])
      assert.notInclude(upstream.requests[0]?.body ?? "", "mutable")
    }
  )
})

describe("helpers", () => {
  scenario(
    "modifyBody, addMetadata and both at once do what they say",
    async ({ chat, decisionOf, gateway, upstream }) => {
      await installPlugin(gateway, "changing", {
        manifest: { hooks: { onRequest: true } },
        members: `onRequest: ({ body }) => ({ ...modifyBody({ ...body, user: "changed" }), ...addMetadata({ team: "blue" }) })`
      })
      const response = await chat({ user: "me" })
      assert.strictEqual(response.headers.get("x-gateway-plugins"), "changing")
      const { metadata, plugins } = await decisionOf(response)
      assert.deepStrictEqual(metadata, { team: "blue" })
      assert.deepInclude(plugins[0], { name: "changing", hook: "onRequest", action: "modified" })
      assert.include(upstream.requests[0]?.body, '"user":"changed"')
    }
  )

  scenario(
    "blockRequest ends the request, with or without an answer of its own",
    async ({ chat, gateway, upstream }) => {
      await installPlugin(gateway, "blocking", {
        manifest: { hooks: { onRequest: true } },
        members: `onRequest: ({ body }) => body.user === "plain"
        ? blockRequest()
        : blockRequest({ status: 429, error: { message: "Too many", code: "mine" } })`
      })
      const plain = await chat({ user: "plain" })
      assert.strictEqual(plain.status, 403)
      assert.include(await plain.text(), "plugin_blocked")
      const custom = await chat()
      assert.strictEqual(custom.status, 429)
      assert.deepInclude(((await custom.json()) as { error: object }).error, { message: "Too many", code: "mine" })
      assert.strictEqual(upstream.requests.length, 0)
    }
  )
})
