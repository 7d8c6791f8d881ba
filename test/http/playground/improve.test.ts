/** Improved prompts over HTTP: what the model is asked, what is taken of its answer, and what is 502. */
import { assert, describe } from "@effect/vitest"
import * as FakeUpstream from "../../support/FakeUpstream.ts"
import { scenario } from "./support.ts"

const improve = "/api/playground/improve-prompt"

const says = (answer: unknown): FakeUpstream.Answer =>
  FakeUpstream.json(
    FakeUpstream.chatCompletion({
      text: typeof answer === "string" ? answer : JSON.stringify(answer),
      usage: { in: 20, out: 5 }
    })
  )

const prompt = "tell {{name}} about {{ the delay }}"
const better = "Tell {{name}} in two sentences about {{ the delay }}."

describe("an improved prompt", () => {
  scenario("is what the model answers, with its tokens and a usage row", async ({ gateway, send, upstream }) => {
    upstream.enqueue(says({ improvedPrompt: better, improvedSystem: "Invented." }))
    const { body, status } = await send("POST", improve, { prompt, model: "up/m", tone: "friendly" })
    assert.deepEqual([status, body], [200, { improvedPrompt: better, tokensIn: 20, tokensOut: 5 }])
    const asked = JSON.parse(upstream.requests[0]?.body ?? "")
    assert.strictEqual(asked.model, "m")
    assert.deepEqual(JSON.parse(asked.messages[1].content), { prompt, tone: "friendly" })
    const { logs } = await gateway.manage("GET", "/api/usage/logs?limit=10")
    assert.lengthOf(logs, 1)
  })

  scenario("has a system prompt only where one was sent", async ({ send, upstream }) => {
    upstream.enqueue(
      says("```json\n" + JSON.stringify({ improvedPrompt: better, improvedSystem: "Be kind." }) + "\n```")
    )
    const { body } = await send("POST", improve, { prompt, system: "be nice", model: "up/m" })
    assert.deepEqual(body, { improvedPrompt: better, improvedSystem: "Be kind.", tokensIn: 20, tokensOut: 5 })
  })

  scenario("is asked for once more where a placeholder is lost, and then is 502", async ({ send, upstream }) => {
    upstream.enqueue(says({ improvedPrompt: "Tell them." }), says({ improvedPrompt: better }))
    const saved = await send("POST", improve, { prompt, model: "up/m" })
    assert.deepInclude(saved.body, { improvedPrompt: better, tokensIn: 40, tokensOut: 10 })
    const again = JSON.parse(upstream.requests[1]?.body ?? "").messages
    assert.include(again.at(-1).content, "{{name}}, {{ the delay }}")

    upstream.always(says({ improvedPrompt: "Tell {{name}}." }))
    const lost = await send("POST", improve, { prompt, model: "up/m" })
    assert.deepEqual([lost.status, lost.body.error.code], [502, "improve_failed"])
    assert.lengthOf(upstream.requests, 4)
    const ofSystem = await send("POST", improve, { prompt: "x", system: "for ${user}", model: "up/m" })
    assert.deepEqual([ofSystem.status, ofSystem.body.error.code], [502, "improve_failed"])
  })

  scenario(
    "is 502 where the model is missing, unknown, failing, or says something else",
    async ({ send, upstream }) => {
      const failed = async (body: object): Promise<void> => {
        const answer = await send("POST", improve, body)
        assert.deepEqual([answer.status, answer.body.error.code], [502, "improve_failed"], JSON.stringify(body))
      }
      for (const model of [undefined, null, "", " ", "nowhere/at-all"]) await failed({ prompt, model })
      assert.lengthOf(upstream.requests, 0)
      for (const answer of ["I would rather not.", { improvedPrompt: 7 }, { improvedPrompt: " " }, []]) {
        upstream.always(says(answer))
        await failed({ prompt, model: "up/m" })
      }
      upstream.always(FakeUpstream.json({ error: { message: "overloaded" } }, { status: 500 }))
      await failed({ prompt, model: "up/m" })
    }
  )

  scenario("is refused with the field that is wrong", async ({ send }) => {
    const wrong: ReadonlyArray<readonly [string, object]> = [
      ["prompt", { model: "up/m" }],
      ["prompt", { prompt: " ", model: "up/m" }],
      ["prompt", { prompt: 7, model: "up/m" }],
      ["prompt", { prompt: "x".repeat(200_001), model: "up/m" }],
      ["system", { prompt, system: 7, model: "up/m" }],
      ["tone", { prompt, tone: "", model: "up/m" }],
      ["language", { prompt, model: "up/m", language: "de" }]
    ]
    for (const [field, body] of wrong) {
      const answer = await send("POST", improve, body)
      assert.deepEqual([answer.status, answer.body.error.param], [400, field])
    }
  })

  scenario("keeps to the limits of the caller's key", async ({ gateway, send, upstream }) => {
    upstream.always(says({ improvedPrompt: better }))
    const { secret } = await gateway.manage("POST", "/api/keys", {
      name: "small",
      allowedModels: ["up/m"],
      rateLimits: [{ limit: 1, window: 60 }]
    })
    const headers = { authorization: `Bearer ${secret}` }
    assert.strictEqual((await send("POST", improve, { prompt, model: "up/a" }, headers)).status, 403)
    assert.strictEqual((await send("POST", improve, { prompt, model: "up/m" }, headers)).status, 200)
    const limited = await send("POST", improve, { prompt, model: "up/m" }, headers)
    assert.strictEqual(limited.status, 429)
    assert.isNotNull(limited.headers.get("retry-after"))
  })
})
