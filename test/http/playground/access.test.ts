/** Who may use the playground: who may use inference, and no page of another site. */
import { assert, describe } from "@effect/vitest"
import { admin, scenario, type Setting } from "./support.ts"

const routes: ReadonlyArray<readonly [string, string, object?]> = [
  ["GET", "/api/playground/presets"],
  ["POST", "/api/playground/presets", { name: "n", endpoint: "chat", model: "up/m" }],
  ["GET", "/api/playground/presets/x"],
  ["PUT", "/api/playground/presets/x", { name: "n" }],
  ["DELETE", "/api/playground/presets/x"],
  ["POST", "/api/playground/improve-prompt", { prompt: "x", model: "" }],
  ["POST", "/api/playground/compare", { models: ["nowhere/x"], prompt: "x" }],
  ["POST", "/api/playground/snippets", { endpoint: "chat", model: "up/m" }]
]

const each = async (
  { send }: Setting,
  headers: Readonly<Record<string, string>>,
  judge: (status: number, route: string, body: { error?: { code?: string } }) => void
): Promise<void> => {
  for (const [method, path, body] of routes) {
    const answer = await send(method, path, body, headers)
    judge(answer.status, `${method} ${path}`, answer.body)
  }
}

describe("the playground", () => {
  scenario("is open to anybody on this address while no key is required", async (setting) => {
    await each(setting, {}, (status, route) => assert.notInclude([401, 403, 415], status, route))
  })

  scenario(
    "needs a key where inference needs one",
    async (setting) => {
      const { gateway } = setting
      const { secret } = await gateway.manage("POST", "/api/keys", { name: "mine" })
      await each(setting, {}, (status, route) => assert.strictEqual(status, 401, route))
      await each(setting, { authorization: "Bearer gw_wrong" }, (status, route) =>
        assert.strictEqual(status, 401, route)
      )
      for (const headers of [{ authorization: `Bearer ${secret}` }, { "x-api-key": secret }, admin]) {
        await each(setting, headers as Record<string, string>, (status, route) =>
          assert.notInclude([401, 403, 415], status, route)
        )
      }
    },
    { environment: new Map([["REQUIRE_API_KEY", "true"]]) }
  )

  for (const required of ["true", "false"]) {
    scenario(
      `refuses requests of other sites, with a key or without, where keys are required: ${required}`,
      async (setting) => {
        for (const foreign of [
          { origin: "https://evil.example" },
          { origin: "null" },
          { "sec-fetch-site": "cross-site" },
          { "sec-fetch-site": "same-site" }
        ]) {
          for (const key of [{}, admin]) {
            await each(setting, { ...foreign, ...key } as Record<string, string>, (status, route) =>
              assert.strictEqual(status, 403, route)
            )
          }
        }
      },
      { environment: new Map([["REQUIRE_API_KEY", required]]) }
    )
  }

  scenario("takes bodies only as JSON", async (setting) => {
    for (const type of ["text/plain", "application/x-www-form-urlencoded", "multipart/form-data; boundary=x", ""]) {
      for (const [method, path, body] of routes) {
        if (body === undefined) continue
        const { status } = await fetch(setting.gateway.url + path, {
          method,
          headers: { "content-type": type },
          body: Buffer.from(JSON.stringify(body))
        })
        assert.strictEqual(status, 415, `${method} ${path} ${type}`)
      }
    }
    const charset = { "content-type": "application/json; charset=utf-8" }
    const { status } = await setting.send("POST", "/api/playground/snippets", { endpoint: "chat", model: "m" }, charset)
    assert.strictEqual(status, 200)
  })
})
