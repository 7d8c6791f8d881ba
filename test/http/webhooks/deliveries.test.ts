/** Webhooks of a running gateway: what they are sent, when, and by which rules. */
import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import { eventually, eventuallyFound } from "../../support/eventually.ts"
import * as Fake from "../../support/FakeUpstream.ts"
import { answering, assertSigned, dripping, type Envelope, envelopeOf, hanging } from "../../support/Receiver.ts"
import * as TestGateway from "../../support/TestGateway.ts"

const reachable = { environment: new Map([["OUTBOUND_SSRF_GUARD_ENABLED", "false"]]) }

const asAdmin = { authorization: `Bearer ${TestGateway.adminKey}` }

const question = { messages: [{ role: "user", content: "Hi" }] }

const setUp = Effect.gen(function* () {
  const gateway = yield* TestGateway.start(reachable)
  const upstream = yield* Fake.start
  upstream.always(Fake.json(Fake.chatCompletion({ text: "Hello" })))
  const connection = yield* Effect.promise(() => gateway.connect("one", upstream, "chat"))
  const receiver = yield* Fake.start
  receiver.always(answering(200))
  const hook = async (more: Readonly<Record<string, unknown>> = {}) => {
    const { webhook } = await gateway.manage("POST", "/api/webhooks", { url: `${receiver.origin}/in`, ...more })
    return webhook
  }
  const ask = async (model = "one/m"): Promise<string> => {
    const response = await gateway.post("/v1/chat/completions", { model, ...question })
    await response.arrayBuffer()
    return response.headers.get("x-gateway-request-id") ?? ""
  }
  const hookNow = async (id: string) => (await gateway.manage("GET", `/api/webhooks/${id}`)).webhook
  const attempts = async (id: string) => (await gateway.manage("GET", `/api/webhooks/${id}/deliveries`)).deliveries
  return { gateway, upstream, connection, receiver, hook, hookNow, ask, attempts }
})

type Scene = Effect.Effect.Success<typeof setUp>

const scene = (name: string, play: (scene: Scene) => Promise<void>) =>
  it.scopedLive(name, () => Effect.flatMap(setUp, (given) => Effect.promise(() => play(given))))

const eventsOf = (receiver: Fake.FakeUpstream): ReadonlyArray<Envelope> => receiver.requests.map(envelopeOf)

interface Attempt {
  readonly status: number
  readonly attempt: number
  readonly id: string
  readonly event_id: string
  readonly success: boolean
  readonly mayRetry: boolean
}

const attemptOf = (
  attempts: (id: string) => Promise<ReadonlyArray<Attempt>>,
  id: string,
  fits: (one: Attempt) => boolean
): Promise<Attempt> => eventuallyFound("an attempt", async () => (await attempts(id)).find(fits))

const broken = Fake.json({ error: { message: "internal error" } }, { status: 500 })

describe("webhooks", () => {
  scene("a completed request, once, with all that the contract names, under three signatures", async (given) => {
    const { ask, connection, hook, receiver } = given
    const { secret } = await hook()
    assert.match(secret, /^whsec_[0-9a-f]{48}$/)
    const requestId = await ask()
    const { data, event } = assertSigned(await receiver.received(1), secret)
    assert.strictEqual(event, "request.completed")
    assert.deepInclude(data, {
      trace_id: requestId,
      api_key_id: null,
      provider: "one",
      model: "m",
      status: 200,
      combo: null,
      account: "one",
      accountId: connection.id,
      fallbackCount: 0,
      attempts: 1
    })
    for (const name of ["tokens_in", "tokens_out", "cost_usd", "latencyMs"]) assert.isNumber(data[name])
    await ask()
    await receiver.received(2)
    assert.lengthOf(receiver.requests, 2)
  })

  scene("a failed request once, after all its targets were asked, and the errors of the provider", async (given) => {
    const { ask, gateway, hook, receiver, upstream } = given
    await gateway.manage("PATCH", "/api/resilience", { retry: { maxRetries: 0, delayMs: 0 } })
    await hook()
    upstream.always(broken)
    await ask()
    await eventually(
      "both events",
      () => eventsOf(receiver),
      (events) => events.length >= 2
    )
    const events = new Map(eventsOf(receiver).map(({ data, event }) => [event, data]))
    assert.deepStrictEqual([...events.keys()].sort(), ["provider.error", "request.failed"])
    assert.deepInclude(events.get("request.failed"), { provider: "one", model: "m", attempts: 1, fallbackCount: 0 })
    assert.isString(events.get("request.failed")?.["reason"])
    assert.isString(events.get("request.failed")?.["error"])
    assert.deepInclude(events.get("provider.error"), {
      provider: "one",
      model: "m",
      status: 500,
      consecutive_failures: 1,
      circuit_state: "CLOSED"
    })
  })

  scene("a combo that changed its target, and a provider that recovered", async (given) => {
    const { ask, gateway, hook, receiver, upstream } = given
    await gateway.connect("two", upstream, "chat")
    await gateway.combo("both", "one/m", "two/m")
    await gateway.manage("PATCH", "/api/resilience", {
      connectionCooldown: { apikey: { baseCooldownMs: 100, maxBackoffSteps: 0 } },
      providerBreaker: { local: { degradationThreshold: 1, failureThreshold: 1, resetTimeoutMs: 500 } },
      retry: { maxRetries: 0, delayMs: 0 }
    })
    await hook({ events: ["combo.switched", "provider.recovered"] })
    upstream.enqueue(broken)
    await ask("both")
    const switched = envelopeOf(await receiver.received(1))
    assert.strictEqual(switched.event, "combo.switched")
    assert.deepInclude(switched.data, { combo: "both", from: "one/m", to: "two/m" })
    const recovered = await eventuallyFound("the recovery", async () => {
      await ask("one/m")
      return eventsOf(receiver).find(({ event }) => event === "provider.recovered")
    })
    assert.strictEqual(recovered.data["provider"], "one")
    assert.isAtLeast(Number(recovered.data["recoveredAfterMs"]), 500)
  })

  scene("only the events it wants, and unknown names match nothing", async ({ ask, hook, receiver, upstream }) => {
    await hook({ events: ["request.failed", "request.exploded"] })
    await ask()
    upstream.always(Fake.json({ error: { message: "no" } }, { status: 400 }))
    await ask()
    await receiver.received(1)
    assert.deepStrictEqual(
      eventsOf(receiver).map(({ event }) => event),
      ["request.failed"]
    )
  })

  scene(
    "answers by their status: 204 is a success, 301 and 410 are final, a redirect is not followed",
    async (given) => {
      const { ask, attempts, hook, hookNow, receiver } = given
      const { id } = await hook({ events: ["request.completed"] })
      const elsewhere = `${receiver.origin}/elsewhere`
      for (const [status, count] of [
        [204, 0],
        [301, 1],
        [410, 2],
        [200, 0]
      ] as const) {
        receiver.enqueue(answering(status, { location: elsewhere }))
        await ask()
        const hook = await eventually(
          `the attempt that is answered ${status}`,
          () => hookNow(id),
          ({ last_status }) => last_status === status
        )
        assert.strictEqual(hook.failure_count, count)
        assert.isString(hook.last_triggered_at)
      }
      assert.lengthOf(receiver.requests, 4)
      assert.isTrue(receiver.requests.every(({ url }) => url === "/in"))
      const log = await attempts(id)
      assert.deepStrictEqual(
        log.map(({ attempt, status, success }: Record<string, unknown>) => [attempt, status, success]),
        [
          [1, 200, true],
          [1, 410, false],
          [1, 301, false],
          [1, 204, true]
        ]
      )
    }
  )

  scene("a body that drips does not hold up what its status has decided", async ({ ask, hook, hookNow, receiver }) => {
    const { id } = await hook({ events: ["request.completed"] })
    receiver.enqueue(dripping)
    await ask()
    const { failure_count } = await eventually(
      "the attempt",
      () => hookNow(id),
      ({ last_status }) => last_status === 200
    )
    assert.strictEqual(failure_count, 0)
    await (
      await receiver.received(1)
    ).closed
  })

  scene("a receiver that hangs holds up nobody else", async ({ ask, hook, receiver, gateway }) => {
    receiver.always((response, request) =>
      request.url === "/slow" ? hanging(response, request) : answering(200)(response, request)
    )
    await gateway.manage("POST", "/api/webhooks", { url: `${receiver.origin}/slow` })
    await hook({ events: ["request.completed"] })
    for (let count = 0; count < 20; count += 1) await ask()
    await eventually(
      "twenty events at the other",
      () => receiver.requests.filter(({ url }) => url === "/in").length,
      (count) => count === 20
    )
  })

  scene("disabled at ten failures in a row; PUT enables it again, and what waited is sent", async (given) => {
    const { ask, attempts, gateway, hook, hookNow, receiver } = given
    const { id } = await hook({ events: ["request.completed"] })
    receiver.always(answering(410))
    for (let count = 0; count < 10; count += 1) await ask()
    const disabled = await eventually(
      "the webhook to be disabled",
      () => hookNow(id),
      ({ enabled }) => enabled === 0
    )
    assert.strictEqual(disabled.failure_count, 10)
    await ask()
    receiver.always(answering(200))
    const { webhook } = await gateway.manage("PUT", `/api/webhooks/${id}`, { enabled: true })
    assert.deepInclude(webhook, { enabled: 1, failure_count: 0 })
    const before = receiver.requests.length
    await ask()
    await receiver.received(before + 1)
    assert.isAtMost((await attempts(id)).length, 12)
  })

  scene("another secret holds from the next attempt on", async ({ ask, gateway, hook, receiver }) => {
    const { id } = await hook({ events: ["request.completed"] })
    await ask()
    await receiver.received(1)
    const secret = `whsec_${Buffer.from("a new key of thirty-two bytes !!").toString("base64")}`
    await gateway.manage("PUT", `/api/webhooks/${id}`, { secret })
    await ask()
    assertSigned(await receiver.received(2), secret)
  })

  scene("the standard signature is left out where the secret is not base64", async ({ ask, hook, receiver }) => {
    await hook({ secret: "a-secret-of-my-own!" })
    await ask()
    const { headers } = await receiver.received(1)
    assert.match(String(headers["x-webhook-signature"]), /^sha256=[0-9a-f]{64}$/)
    assert.isUndefined(headers["webhook-signature"])
  })

  scene("nothing is sent to a webhook that was deleted or disabled", async ({ ask, gateway, hook, receiver }) => {
    const one = await hook()
    const two = await hook()
    await gateway.manage("DELETE", `/api/webhooks/${one.id}`)
    await gateway.manage("PUT", `/api/webhooks/${two.id}`, { enabled: false })
    const three = await hook()
    await ask()
    assertSigned(await receiver.received(1), three.secret)
    const four = await ask()
    await eventually(
      "the second event",
      () => eventsOf(receiver).some(({ id }) => id === four),
      (found) => found
    )
    assert.lengthOf(receiver.requests, 2)
  })

  scene("messages for Slack and Discord in their shape", async ({ ask, hook, receiver }) => {
    await hook({ kind: "slack", events: ["request.completed"] })
    await ask()
    const { text } = JSON.parse((await receiver.received(1)).body)
    assert.match(text, /^request\.completed\n/)
    receiver.always(answering(204))
    await hook({ kind: "discord", events: ["request.completed"] })
    await ask()
    const { content, allowed_mentions } = await eventuallyFound("the message for Discord", () =>
      receiver.requests.map(({ body }) => JSON.parse(body)).find((body) => body.content !== undefined)
    )
    assert.match(content, /^request\.completed\n/)
    assert.deepStrictEqual(allowed_mentions, { parse: [] })
  })

  scene(
    "an event that was given up goes again with the same id when that is asked for, as often as it fails",
    async (given) => {
      const { ask, attempts, gateway, hook, hookNow, receiver } = given
      const { id } = await hook({ events: ["request.completed"] })
      const attempt = (fits: (one: Attempt) => boolean) => attemptOf(attempts, id, fits)
      receiver.always(answering(404))
      await ask()
      const first = await attempt(() => true)
      assert.deepInclude(first, { status: 404, attempt: 1, mayRetry: true })
      assert.strictEqual((await hookNow(id)).failure_count, 1)
      const again = (attempt: string) =>
        gateway.post(`/api/webhooks/${id}/deliveries/${attempt}/retry`, undefined, asAdmin)
      assert.strictEqual((await again(first.id)).status, 202)
      await receiver.received(2)
      const second = await attempt((one) => one.id !== first.id)
      assert.deepInclude(second, { status: 404, event_id: first.event_id, mayRetry: true })
      // The one before has given its event away: it is never there twice.
      assert.strictEqual((await attempts(id)).find((one: { id: string }) => one.id === first.id).mayRetry, false)
      assert.strictEqual((await again(first.id)).status, 404)
      receiver.always(answering(200))
      assert.strictEqual((await again(second.id)).status, 202)
      const third = await attempt((one) => one.success)
      assert.deepInclude(third, { event_id: first.event_id, mayRetry: false })
      assert.strictEqual((await again(third.id)).status, 404)
      for (const strange of ["0", "nope", "9".repeat(40), "1%20OR%201"])
        assert.strictEqual((await again(strange)).status, 404)
      const envelopes = eventsOf(receiver)
      assert.strictEqual(new Set(envelopes.map((envelope) => envelope.id)).size, 1)
      assert.strictEqual((await hookNow(id)).failure_count, 0)
    }
  )

  scene("an event of another webhook does not go again under this one's name", async (given) => {
    const { ask, attempts, gateway, hook, receiver } = given
    const { id } = await hook({ events: ["request.completed"] })
    receiver.always(answering(404))
    await ask()
    const first = await attemptOf(attempts, id, () => true)
    const other = await hook({ events: ["quota.exceeded"], url: `${receiver.origin}/other` })
    const crossed = await gateway.post(`/api/webhooks/${other.id}/deliveries/${first.id}/retry`, undefined, asAdmin)
    assert.strictEqual(crossed.status, 404)
    assert.strictEqual((await attempts(id))[0].mayRetry, true)
  })
})
