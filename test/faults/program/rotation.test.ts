/** What strategies remember, and a program that is killed the moment it has answered. */
import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Fake from "../../support/FakeUpstream.ts"
import * as Program from "../../support/Program.ts"

const adminKey = "admin-key-of-the-program-tests"
const env = { GATEWAY_ADMIN_KEY: adminKey }
const prefixes = ["one", "two", "three"]

const send = (program: Program.Program, path: string, body: unknown): Promise<Response> =>
  fetch(program.url + path, {
    method: "POST",
    headers: { authorization: `Bearer ${adminKey}`, "content-type": "application/json" },
    body: JSON.stringify(body)
  })

const served = async (program: Program.Program, model: string): Promise<string | null> => {
  const response = await send(program, "/v1/chat/completions", { model, messages: [{ role: "user", content: "Hi" }] })
  await response.text()
  return response.headers.get("x-gateway-provider")
}

describe("killed after an answer", () => {
  it.scopedLive("a round robin goes on with the next, and the last known good stays", () =>
    Effect.gen(function* () {
      const upstream = yield* Fake.start
      upstream.always(Fake.json(Fake.chatCompletion({ usage: { in: 3, out: 2 } })))
      let program = yield* Program.start(env)
      yield* Effect.promise(async () => {
        for (const prefix of prefixes) {
          const baseUrl = `${upstream.origin}/v1`
          await send(program, "/api/provider-nodes", { name: prefix, prefix, type: "openai-compatible", baseUrl })
          await send(program, "/api/providers", { provider: prefix, apiKey: "k-0123456789", models: ["m"] })
        }
        const targets = prefixes.map((prefix) => ({ model: `${prefix}/m` }))
        await send(program, "/api/combos", { name: "turns", strategy: "round-robin", targets })
        await send(program, "/api/combos", { name: "stays", strategy: "lkgp", targets })
      })
      let turn = 0
      for (let life = 0; life < 4; life += 1) {
        // Several in a row: the later ones come while the memory of the earlier is still being written.
        for (let request = 0; request < 4; request += 1) {
          assert.strictEqual(yield* Effect.promise(() => served(program, "turns")), prefixes[turn % prefixes.length])
          turn += 1
        }
        program.signal("SIGKILL")
        yield* Effect.promise(() => program.ended)
        program = yield* Program.start(env, program.dataDir)
        assert.strictEqual(yield* Effect.promise(() => served(program, "stays")), "one")
      }
    })
  )
})
