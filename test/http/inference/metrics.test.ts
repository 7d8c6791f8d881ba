/** `GET /metrics` of a whole gateway: its current state. */
import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Fake from "../../support/FakeUpstream.ts"
import { problems } from "../../support/prometheus.ts"
import * as TestGateway from "../../support/TestGateway.ts"

const ask = (model: string) => ({ model, messages: [{ role: "user", content: "Hi" }] })

const setUp = Effect.gen(function* () {
  const gateway = yield* TestGateway.start()
  const upstream = yield* Fake.start
  upstream.always(Fake.json(Fake.chatCompletion({ text: "Hello" })))
  const page = async (): Promise<string> => {
    const response = await fetch(`${gateway.url}/metrics`)
    assert.strictEqual(response.status, 200)
    const text = await response.text()
    assert.deepStrictEqual(problems(text), [])
    return text
  }
  return { gateway, upstream, page }
})

type Scene = Effect.Effect.Success<typeof setUp>
const scene = (name: string, play: (scene: Scene) => Promise<void>) =>
  it.scopedLive(name, () => Effect.flatMap(setUp, (given) => Effect.promise(() => play(given))))

const has = (page: string, ...lines: ReadonlyArray<string>): void => {
  for (const line of lines) assert.include(page.split("\n"), line)
}

describe("/metrics", () => {
  scene("an empty house", async ({ page }) => {
    const text = await page()
    has(
      text,
      'gateway_connections{state="available"} 0',
      "gateway_requests_in_flight 0",
      "gateway_requests_shed_total 0"
    )
    assert.notInclude(text, "gateway_provider_breaker_state")
  })

  scene("breakers and connections in every state", async ({ gateway, page, upstream }) => {
    await gateway.connect("one", upstream, "chat")
    const other = await gateway.connect("two", upstream, "chat")
    await gateway.manage("PUT", `/api/providers/${other.id}`, { isActive: false })
    has(
      await page(),
      'gateway_connections{state="available"} 1',
      'gateway_connections{state="inactive"} 1',
      'gateway_provider_breaker_state{provider="one",state="CLOSED"} 1',
      'gateway_provider_breaker_state{provider="one",state="OPEN"} 0'
    )
    const breaker = { degradationThreshold: 1, failureThreshold: 1 }
    await gateway.manage("PATCH", "/api/resilience", {
      providerBreaker: { oauth: breaker, apikey: breaker, local: breaker }
    })
    upstream.always(Fake.json({ error: { message: "busy" } }, { status: 503 }))
    assert.strictEqual((await gateway.post("/v1/chat/completions", ask("one/m"))).status, 503)
    has(
      await page(),
      'gateway_provider_breaker_state{provider="one",state="CLOSED"} 0',
      'gateway_provider_breaker_state{provider="one",state="OPEN"} 1',
      'gateway_provider_breaker_state{provider="two",state="CLOSED"} 1',
      'gateway_connections{state="available"} 0'
    )
  })

  scene("a provider that fails behind a fallback", async ({ gateway, page, upstream }) => {
    await gateway.connect("broken", upstream, "chat")
    await gateway.connect("good", upstream, "chat")
    await gateway.combo("both", "broken/m", "good/m")
    upstream.enqueue(Fake.json({ error: { message: "busy" } }, { status: 503 }))
    assert.strictEqual((await gateway.post("/v1/chat/completions", ask("both"))).status, 200)
    has(
      await page(),
      'gateway_upstream_attempts_total{provider="broken",outcome="failed",status_class="5xx"} 1',
      'gateway_upstream_attempts_total{provider="good",outcome="completed",status_class="2xx"} 1'
    )
  })

  scene("requests in flight, and those that were shed", async ({ gateway, page, upstream }) => {
    await gateway.connect("one", upstream, "chat")
    await gateway.manage("PATCH", "/api/resilience", { loadShedding: { maxInFlight: 1 } })
    const arrived = Fake.makeLatch()
    const looked = Fake.makeLatch()
    upstream.always(async (response, request) => {
      arrived.open()
      await looked.opened
      await Fake.json(Fake.chatCompletion({ text: "Hello" }))(response, request)
    })
    const first = gateway.post("/v1/chat/completions", ask("one/m"))
    await arrived.opened
    const second = await gateway.post("/v1/chat/completions", ask("one/m"))
    const during = await page()
    looked.open()
    assert.strictEqual((await first).status, 200)
    assert.strictEqual(second.status, 503)
    has(during, "gateway_requests_in_flight 1", "gateway_requests_shed_total 1")
  })

  scene("model names of a caller make no labels of their own", async ({ gateway, page, upstream }) => {
    await gateway.connect("up", upstream, "chat")
    for (const model of ["up/m", ...Array.from({ length: 20 }, (_, index) => `up/made-up-${index}`)]) {
      const answer = await gateway.post("/v1/chat/completions", ask(model))
      assert.strictEqual(answer.status, 200)
      await answer.text()
    }
    const text = await page()
    const labels = 'wire="chat",outcome="completed",status_class="2xx"'
    has(
      text,
      `gateway_requests_total{provider="up",model="m",${labels}} 1`,
      `gateway_requests_total{provider="up",model="other",${labels}} 20`
    )
    assert.notInclude(text, "made-up")
  })
})
