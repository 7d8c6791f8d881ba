/** Router strategies of plugins in a running gateway: who decides, as long as the plugin runs, fails, and is off. */
import { assert, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import { eventually } from "../../support/eventually.ts"
import * as Fake from "../../support/FakeUpstream.ts"
import * as TestGateway from "../../support/TestGateway.ts"

const P = "/api/plugins"

const manifest = (name: string) => ({ name, version: "1.0.0", main: "index.js", hooks: {} })
const files = (name: string, members: string) => ({
  "index.js": `import { definePlugin } from "gateway/plugin"\nexport default definePlugin({ name: "${name}", ${members} })\n`
})

const setUp = Effect.gen(function* () {
  const gateway = yield* TestGateway.start()
  for (const name of ["one", "two", "three"]) {
    const upstream = yield* Fake.start
    upstream.always(Fake.json(Fake.chatCompletion({ text: name })))
    yield* Effect.promise(() => gateway.connect(name, upstream, "chat"))
  }
  const send = async (
    method: string,
    path: string,
    body?: unknown
    // eslint-disable-next-line typescript/no-explicit-any -- tests read into answers as they please
  ): Promise<{ readonly status: number; readonly body: any }> => {
    const response = await fetch(gateway.url + path, {
      method,
      headers: { authorization: `Bearer ${TestGateway.adminKey}`, "content-type": "application/json" },
      ...(body === undefined ? {} : { body: JSON.stringify(body) })
    })
    return { status: response.status, body: await response.json() }
  }
  const install = (name: string, members: string, replace = false) =>
    send("POST", P, { manifest: manifest(name), files: files(name, members), replace })
  const combo = (routerStrategy: string) =>
    send("POST", "/api/combos", {
      name: "mine",
      strategy: "auto",
      config: { explorationRate: 0, routerStrategy },
      targets: ["one", "two", "three"].map((provider) => ({ model: `${provider}/m` }))
    })
  const decided = async () => {
    const response = await gateway.post("/v1/chat/completions", {
      model: "mine",
      messages: [{ role: "user", content: "Hi" }]
    })
    assert.strictEqual(response.status, 200)
    // eslint-disable-next-line typescript/no-explicit-any -- as above
    const by = ((await response.json()) as any).choices[0].message.content
    const id = response.headers.get("x-gateway-request-id") ?? ""
    const { decision } = await gateway.manage("GET", `/api/routing/decisions/${id}`)
    return { by, chosen: decision.chosen, reason: decision.reason }
  }
  const logs = async (name: string): Promise<ReadonlyArray<string>> =>
    (await gateway.manage("GET", `${P}/${name}/logs`)).logs.map(({ message }: { message: string }) => message)
  return { gateway, send, install, combo, decided, logs }
})
type Scene = Effect.Effect.Success<typeof setUp>

const scene = (name: string, play: (scene: Scene) => Promise<void>) =>
  it.scopedLive(name, () => Effect.flatMap(setUp, (given) => Effect.promise(() => play(given))))

const picks = (provider: string) =>
  `strategies: { steady: { description: "Always the same.", select: (pool, context) => {
    const found = pool.find((member) => member.provider.startsWith("${provider}"))
    return { ...found, reason: "${provider} of " + pool.length + " for " + context.taskType }
  } } }`

scene(
  "one is chosen by the setting of auto, and decides as long as its plugin runs",
  async ({ combo, decided, gateway, install }) => {
    assert.strictEqual((await combo("steady")).status, 400, "a name that is not known cannot be saved")
    const installed = await install("picker", picks("three"))
    assert.strictEqual(installed.status, 201)
    assert.deepStrictEqual(installed.body.plugin.strategies, [], "it is not active")
    /** Those that a combo may name because of it. */
    const named = async () => {
      const [listed] = (await gateway.manage("GET", P)).plugins
      const { plugin } = await gateway.manage("GET", `${P}/picker`)
      assert.deepStrictEqual(listed.strategies, plugin.strategies)
      return plugin.strategies
    }
    assert.strictEqual((await combo("steady")).status, 400, "nor one of a plugin that is not active")
    const activated = await gateway.manage("POST", `${P}/picker/activate`, {})
    assert.deepStrictEqual(activated.plugin.strategies, ["steady"])
    assert.deepStrictEqual(await named(), ["steady"])
    const made = await combo("steady")
    assert.strictEqual(made.status, 201, JSON.stringify(made.body))
    for (let turn = 0; turn < 3; turn += 1) {
      const { by, chosen, reason } = await decided()
      assert.deepStrictEqual([by, chosen], ["three", "three/m"])
      assert.match(reason, /^three of 3 for \w+/)
    }
    await install("picker", picks("two"), true)
    assert.strictEqual((await decided()).by, "two", "the new version decides")
    await gateway.manage("POST", `${P}/picker/deactivate`)
    assert.deepStrictEqual(await named(), [])
    assert.match((await decided()).reason, /^router strategy steady is unknown, best score/)
    await gateway.manage("POST", `${P}/picker/activate`, {})
    assert.strictEqual((await decided()).by, "two")
  }
)

scene(
  "one that fails or does not end leaves the decision to rules, and says why in the log",
  async ({ combo, decided, gateway, install, logs }) => {
    await install(
      "picker",
      "strategies: { steady: () => { throw new Error('no idea') }, endless: () => { for (;;); } }"
    )
    await gateway.manage("POST", `${P}/picker/activate`, {})
    assert.strictEqual((await combo("steady")).status, 201)
    for (let turn = 0; turn < 7; turn += 1) {
      assert.match((await decided()).reason, /^router strategy steady failed, best score/)
    }
    assert.strictEqual((await gateway.manage("GET", `${P}/picker`)).plugin.status, "active")
    assert.include((await logs("picker")).join("\n"), "The strategy steady failed: Error: no idea")
    await install("picker", "strategies: { steady: () => { for (;;); } }", true)
    assert.match((await decided()).reason, /^router strategy steady failed, best score/)
    assert.match((await decided()).reason, /^router strategy steady rests, best score/)
    await eventually(
      "the rest is in the log",
      async () => (await logs("picker")).filter((line) => line.includes("rests for 60 seconds")).length,
      (count) => count === 1
    )
  }
)

scene("a name that is taken is refused, and said", async ({ combo, decided, gateway, install, send }) => {
  const taken = await install("picker", "strategies: { cost: (pool) => pool[0] }")
  assert.strictEqual(taken.status, 400)
  assert.match(JSON.stringify(taken.body.error), /The router strategy 'cost' exists already/)
  const odd = await install("picker", "strategies: { 'Not a name': (pool) => pool[0] }")
  assert.strictEqual(odd.status, 400)
  assert.match(JSON.stringify(odd.body.error), /The router strategy 'Not a name' needs a name of small letters/)
  const many = Array.from({ length: 9 }, (_, at) => `s${at}: (pool) => pool[0]`).join(", ")
  assert.match(JSON.stringify((await install("picker", `strategies: { ${many} }`)).body), /at most 8 are allowed/)

  assert.strictEqual((await install("picker", picks("three"))).status, 201)
  assert.strictEqual((await install("other", picks("one"))).status, 201)
  await gateway.manage("POST", `${P}/picker/activate`, {})
  await combo("steady")
  const second = await send("POST", `${P}/other/activate`, {})
  assert.strictEqual(second.status, 409)
  assert.match(second.body.error.message, /'other' was not started: The router strategy 'steady' exists already/)
  assert.strictEqual((await decided()).by, "three")
  await gateway.manage("POST", `${P}/picker/deactivate`)
  assert.strictEqual((await send("POST", `${P}/other/activate`, {})).status, 200)
  assert.strictEqual((await decided()).by, "one")
})
