/** A gateway with one upstream, and what tests say of its people and teams. */
import * as Effect from "effect/Effect"
import * as Fake from "../../support/FakeUpstream.ts"
import * as Gateway from "../../support/TestGateway.ts"

const usage = { in: 20, out: 100 }

type Members = Readonly<Record<string, unknown>>

export interface TestKey {
  readonly id: string
  readonly secret: string
}

export class People {
  readonly gateway: Gateway.TestGateway
  readonly upstream: Fake.FakeUpstream

  constructor(gateway: Gateway.TestGateway, upstream: Fake.FakeUpstream) {
    this.gateway = gateway
    this.upstream = upstream
  }

  /** Answers of the upstream wait for it. */
  answerAfter(opened: Promise<unknown>): void {
    this.upstream.always(async (response, request) => {
      await opened
      await Fake.json(Fake.chatCompletion({ usage }))(response, request)
    })
  }

  async user(name: string, more: Members = {}) {
    const email = `${name.toLowerCase()}@example.com`
    return (await this.gateway.manage("POST", "/api/users", { name, email, ...more })).user
  }

  async team(name: string, more: Members) {
    return (await this.gateway.manage("POST", "/api/teams", { name, ...more })).team
  }

  async shown(teamId: string) {
    return (await this.gateway.manage("GET", `/api/teams/${teamId}`)).team
  }

  async change(teamId: string, change: Members) {
    return (await this.gateway.manage("PUT", `/api/teams/${teamId}`, change)).team
  }

  async key(name: string, more: Members): Promise<TestKey> {
    const { key, secret } = await this.gateway.manage("POST", "/api/keys", { name, ...more })
    return { id: key.id, secret }
  }

  async move({ id }: TestKey, owners: Members): Promise<void> {
    await this.gateway.manage("PATCH", `/api/keys/${id}`, owners)
  }

  chat({ secret }: TestKey, model = "up/m"): Promise<Response> {
    return this.gateway.post(
      "/v1/chat/completions",
      { model, max_tokens: 100, messages: [{ role: "user", content: "Hi" }] },
      { authorization: `Bearer ${secret}` }
    )
  }
}

/** A gateway whose model `up/m` costs 0.00102 USD a request. */
export const setUp = Effect.gen(function* () {
  const upstream = yield* Fake.start
  upstream.always(Fake.json(Fake.chatCompletion({ usage })))
  const gateway = yield* Gateway.start()
  yield* Effect.promise(async () => {
    await gateway.connect("up", upstream, "chat")
    await gateway.manage("PATCH", "/api/pricing", { up: { m: { input: 1, output: 10 } } })
  })
  return new People(gateway, upstream)
})
