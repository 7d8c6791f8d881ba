/** Explanations as a key: what its rules leave out is shown with the setting that does, and the rest is decided as its requests are. */
import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Fake from "../../support/FakeUpstream.ts"
import * as TestGateway from "../../support/TestGateway.ts"

interface Explained {
  readonly order: ReadonlyArray<string>
  readonly reason: string
  readonly candidates: ReadonlyArray<{
    readonly provider: string
    readonly excluded: { readonly rule: string; readonly detail: string } | null
  }>
}

const scene = (
  name: string,
  play: (scene: {
    readonly gateway: TestGateway.TestGateway
    /** A key with these rules: the status of its request for the model, who served it, and how it is explained. */
    readonly as: (
      rules: object,
      model?: string
    ) => Promise<{ readonly explained: Explained; readonly status: number; readonly servedBy: string | null }>
    readonly ids: Readonly<Record<"left" | "right", string>>
  }) => Promise<void>
) =>
  it.scopedLive(name, () =>
    Effect.gen(function* () {
      const gateway = yield* TestGateway.start()
      const [one, other] = [yield* Fake.start, yield* Fake.start]
      for (const upstream of [one, other]) upstream.always(Fake.json(Fake.chatCompletion({ text: "fine" })))
      yield* Effect.promise(async () => {
        const left = await gateway.connect("left", one, "chat")
        const right = await gateway.connect("right", other, "chat")
        await gateway.combo("pair", "left/m", "right/m")
        const as = async (rules: object, model = "pair") => {
          const made = await gateway.manage("POST", "/api/keys", { name: "k", ...rules })
          const answer = await gateway.post(
            "/v1/chat/completions",
            { model, messages: [{ role: "user", content: "Hi" }] },
            { "x-api-key": made.secret }
          )
          await answer.arrayBuffer()
          const { decision } = await gateway.manage("POST", "/api/routing/explain", { model, apiKeyId: made.key.id })
          return { explained: decision, status: answer.status, servedBy: answer.headers.get("x-gateway-provider") }
        }
        await play({ gateway, as, ids: { left: left.id, right: right.id } })
      })
    })
  )

const excludedOf = ({ candidates }: Explained) =>
  candidates.map(({ excluded, provider }) => [provider, excluded?.rule ?? null, excluded?.detail ?? null])

describe("a decision explained as a key", () => {
  scene("leaves out what its rules leave out of a combo, and says by which setting", async ({ as, ids }) => {
    for (const [setting, rules] of [
      ["allowedProviders", { allowedProviders: ["right"] }],
      ["allowedConnections", { allowedConnections: [ids.right] }],
      ["blockedModels", { blockedModels: ["left/*"] }]
    ] as const) {
      const { explained, servedBy, status } = await as(rules)
      assert.deepStrictEqual([status, servedBy], [200, "right"], setting)
      assert.deepStrictEqual(explained.order, ["right/m"], setting)
      assert.deepStrictEqual(excludedOf(explained), [
        ["left", "key", `This API key may not use it (${setting}).`],
        ["right", null, null]
      ])
    }
  })

  scene("has an empty order where its request would be refused, with the words of the refusal", async ({ as }) => {
    for (const [rules, detail] of [
      [{ allowedModels: ["right/other"] }, "This API key may not use the model 'pair'."],
      [{ allowedCombos: ["another"] }, "This API key may not use the combo 'pair' (allowedCombos)."],
      [
        { allowedProviders: ["nobody"] },
        "No connection and model that this API key may use serves 'pair' (allowedProviders, allowedConnections, blockedModels)."
      ]
    ] as const) {
      const { explained, status } = await as(rules)
      assert.strictEqual(status, 403, detail)
      assert.deepStrictEqual(explained.order, [])
      assert.match(explained.reason, /^refused with 403 /)
      assert.deepStrictEqual(excludedOf(explained), [
        ["left", "key", detail],
        ["right", "key", detail]
      ])
    }
  })

  scene("chooses an automatic id's target among what the key may have", async ({ as }) => {
    const { explained, servedBy, status } = await as({ allowedModels: ["right/m"] }, "auto")
    assert.deepStrictEqual([status, servedBy], [200, "right"])
    assert.deepStrictEqual(explained.order, ["right/m"])
    assert.deepInclude(excludedOf(explained), ["left", "key", "This API key may not use it (allowedModels)."])
  })

  scene("is as before for a key without rules, and names an id that is no key", async ({ as, gateway }) => {
    const { explained } = await as({})
    assert.deepStrictEqual(explained.order, ["left/m", "right/m"])
    assert.isTrue(explained.candidates.every(({ excluded }) => excluded === null))
    const answer = await gateway.post(
      "/api/routing/explain",
      { model: "pair", apiKeyId: "none" },
      { authorization: `Bearer ${TestGateway.adminKey}` }
    )
    const { error } = (await answer.json()) as { readonly error: { readonly message: string; readonly param: string } }
    assert.deepStrictEqual([answer.status, error.param], [400, "apiKeyId"])
    assert.match(error.message, /is not the id of an API key of this gateway/)
  })
})
