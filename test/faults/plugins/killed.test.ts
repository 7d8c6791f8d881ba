/** The built program under 200 requests at once while the thread of its plugin is killed again and again. */
import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import { afterAll, beforeAll } from "vitest"
import { program, type Serving } from "../../cli/support.ts"
import * as Fake from "../../support/FakeUpstream.ts"
import { installPlugin, plugins, shownPlugin } from "../../support/RealPlugins.ts"
import { adminKey, client, type TestGateway } from "../../support/TestGateway.ts"

const { dataDir, serve } = program()

const server: { current: Serving | null } = { current: null }
beforeAll(async () => {
  server.current = await serve({ DATA_DIR: dataDir(), GATEWAY_ADMIN_KEY: adminKey })
})
afterAll(async () => {
  assert.strictEqual(await server.current?.stop("SIGTERM"), 0)
})

/** What ends the thread with all that is under way in it. */
const deaths = {
  "fills its memory": "const all = []; for (;;) all.push(new Uint8Array(4_000_000).fill(1))",
  "is too late": "await new Promise((resolve) => setTimeout(resolve, 60_000))"
} as const

const members = (death: string): string => `onRequest: async ({ body }) => {
  const text = JSON.stringify(body)
  if (text.includes("deadly")) { ${death} }
  if (text.includes("forbidden")) return blockRequest({ status: 403, error: { message: "Not here", code: "judged" } })
}`

const total = 200
/** Before and behind others, so that each death has calls beside it. */
const wordsOf = (index: number): string =>
  `${index % 50 === 7 ? "deadly" : index % 2 === 0 ? "forbidden" : "harmless"} ${index}`

interface Answered {
  readonly words: string
  readonly status: number
  readonly code: string | null
}

const asked = async (gateway: TestGateway, words: string): Promise<Answered> => {
  const messages = [{ role: "user", content: words }]
  const response = await gateway.post("/v1/chat/completions", { model: "up/m", messages })
  const { error } = (await response.json()) as { error?: { code: string } }
  return { words, status: response.status, code: error?.code ?? null }
}

/** All at once; whoever looks after the gateway activates the plugin again and again meanwhile. */
const storm = async (gateway: TestGateway, plugin: string): Promise<ReadonlyArray<Answered>> => {
  const until = { isOver: false }
  const activating = async (): Promise<void> => {
    while (!until.isOver) {
      const { status } = await shownPlugin(gateway, plugin)
      if (status === "error") await gateway.manage("POST", `${plugins}/${plugin}/activate`, {})
    }
  }
  const activated = activating()
  const answers = await Promise.all(Array.from({ length: total }, (_, index) => asked(gateway, wordsOf(index))))
  until.isOver = true
  await activated
  return answers
}

const judgedRightly = async (gateway: TestGateway): Promise<void> => {
  assert.deepInclude(await asked(gateway, "forbidden"), { status: 403, code: "judged" })
  assert.deepInclude(await asked(gateway, "harmless"), { status: 200 })
}

const scenario = (
  name: string,
  plugin: string,
  death: string,
  failClosed: boolean,
  play: (gateway: TestGateway, upstream: Fake.FakeUpstream, plugin: string) => Promise<void>
): void => {
  it.scopedLive(name, () =>
    Effect.gen(function* () {
      const upstream = yield* Fake.start
      upstream.always(Fake.json(Fake.chatCompletion({ text: "Hello" })))
      yield* Effect.promise(async () => {
        const gateway = client(server.current?.url ?? "")
        const connection = await gateway.connect("up", upstream, "chat")
        await installPlugin(gateway, plugin, {
          manifest: { hooks: { onRequest: true }, failClosed, timeoutMs: 300 },
          members: members(death)
        })
        await judgedRightly(gateway)
        await play(gateway, upstream, plugin)
        await gateway.manage("POST", `${plugins}/${plugin}/activate`, {})
        await judgedRightly(gateway)
        await gateway.manage("DELETE", `${plugins}/${plugin}`)
        await gateway.manage("DELETE", `/api/providers/${connection.id}`)
        const { nodes } = await gateway.manage("GET", "/api/provider-nodes")
        for (const { id } of nodes) await gateway.manage("DELETE", `/api/provider-nodes/${id}`)
      })
    })
  )
}

describe("a plugin whose thread is killed under 200 requests", () => {
  for (const [how, death] of Object.entries(deaths)) {
    scenario(
      `lets none slip by it where it is a guard that ${how}`,
      "guard",
      death,
      true,
      async (gateway, upstream, plugin) => {
        const before = upstream.requests.length
        const answers = await storm(gateway, plugin)
        for (const { code, status, words } of answers) {
          const kind = words.split(" ", 1)[0]
          const allowed = kind === "deadly" ? [503] : kind === "forbidden" ? [403, 503] : [200, 503]
          assert.include(allowed, status, words)
          if (status === 503) assert.strictEqual(code, "plugin_failed", words)
          if (status === 403) assert.strictEqual(code, "judged", words)
        }
        const sent = upstream.requests.slice(before)
        assert.strictEqual(sent.length, answers.filter(({ status }) => status === 200).length)
        for (const { body } of sent) assert.include(body, "harmless")
      }
    )

    scenario(
      `lets all others be answered where it is none, and ${how}`,
      "filter",
      death,
      false,
      async (gateway, upstream, plugin) => {
        const before = upstream.requests.length
        const answers = await storm(gateway, plugin)
        for (const { code, status, words } of answers) {
          const kind = words.split(" ", 1)[0]
          assert.include(kind === "forbidden" ? [200, 403] : [200], status, words)
          if (status === 403) assert.strictEqual(code, "judged", words)
        }
        const passed = answers.filter(({ status }) => status === 200).length
        assert.strictEqual(upstream.requests.length - before, passed)
      }
    )
  }
})
