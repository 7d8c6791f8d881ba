/** The agent for other agents: the official client in both versions of the protocol, the plain form, and what is refused. */
import { ClientFactory, ClientFactoryOptions, JsonRpcTransportFactory } from "@a2a-js/sdk/client"
import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import { agentSkillIds } from "../../../src/agents/a2a/SkillIds.ts"
import { formatKey } from "../../../src/subjects/auth/KeyFormat.ts"
import { skillIds } from "../../../src/subjects/skills/entity.ts"
import * as FakeUpstream from "../../support/FakeUpstream.ts"
import * as TestGateway from "../../support/TestGateway.ts"

const admin = { authorization: `Bearer ${TestGateway.adminKey}` }

interface Setting {
  readonly gateway: TestGateway.TestGateway
  readonly upstream: FakeUpstream.FakeUpstream
  readonly rpc: (body: unknown, headers?: Record<string, string>) => Promise<Response>
  // eslint-disable-next-line typescript/no-explicit-any -- tests read into answers as they please
  readonly ask: (method: string, params: unknown, headers?: Record<string, string>) => Promise<any>
}

const scenario = (name: string, run: (setting: Setting) => Promise<void>): void => {
  it.scopedLive(name, () =>
    Effect.gen(function* () {
      const upstream = yield* FakeUpstream.start
      upstream.always(FakeUpstream.json(FakeUpstream.chatCompletion({ text: "Forty-two." })))
      const gateway = yield* TestGateway.start()
      const rpc: Setting["rpc"] = (body, headers = admin) => gateway.post("/a2a", body as object, headers)
      yield* Effect.promise(async () => {
        await gateway.connect("up", upstream, "chat")
        await gateway.manage("PATCH", "/api/settings", { a2aEnabled: true })
        await run({
          gateway,
          upstream,
          rpc,
          ask: async (method, params, headers) => (await rpc({ jsonrpc: "2.0", id: 7, method, params }, headers)).json()
        })
      })
    })
  )
}

const message = (text: string, more: object = {}) => ({
  message: { kind: "message", messageId: "m1", role: "user", parts: [{ kind: "text", text }], ...more }
})

const withKey: typeof fetch = (input, init) =>
  fetch(input, { ...init, headers: { ...Object.fromEntries(new Headers(init?.headers)), ...admin } })

/** The official client; `legacy`: it speaks A2A 0.3. */
const official = async (url: string, legacy: boolean) => {
  const factory = new ClientFactory(
    ClientFactoryOptions.createFrom(ClientFactoryOptions.default, {
      transports: [new JsonRpcTransportFactory({ fetchImpl: withKey, legacyCompat: { enabled: legacy } })]
    })
  )
  // eslint-disable-next-line typescript/no-explicit-any -- the card is shown as each version's client would read it
  const card = (await (await fetch(`${url}/.well-known/agent-card.json`)).json()) as any
  const [current, former] = card.supportedInterfaces
  return factory.createFromAgentCard({ ...card, supportedInterfaces: [legacy ? former : current] })
}

describe("the A2A agent", () => {
  scenario("answers the official client in both versions of the protocol", async ({ gateway: { url }, upstream }) => {
    for (const legacy of [false, true]) {
      const client = await official(url, legacy)
      const asked = (skill: string, text: string) => ({
        tenant: "",
        message: {
          messageId: `m-${skill}`,
          contextId: "",
          taskId: "",
          role: 1,
          parts: [
            { content: { $case: "text" as const, value: text }, metadata: undefined, filename: "", mediaType: "" }
          ],
          metadata: { skill },
          extensions: [],
          referenceTaskIds: []
        },
        configuration: undefined,
        metadata: undefined
      })
      for (const skill of agentSkillIds) {
        // eslint-disable-next-line typescript/no-explicit-any -- a task or a message
        const task = (await client.sendMessage(asked(skill, "up/m"))) as any
        assert.strictEqual(task.status?.state, 3, `${skill} ${JSON.stringify(task)}`)
        const [part] = task.artifacts[0].parts
        assert.isAbove(String(part.content.value).length, 5, skill)
        const again = await client.getTask({ tenant: "", id: task.id, historyLength: 0 })
        assert.strictEqual(again.id, task.id)
      }
      const seen: Array<string> = []
      for await (const event of client.sendMessageStream(asked("smart-routing", "What is six times seven?"))) {
        seen.push(event.payload?.$case ?? "")
      }
      assert.deepStrictEqual(seen, ["task", "artifactUpdate", "statusUpdate"])
    }
    assert.isAbove(upstream.requests.length, 3)
  })

  scenario("answers the plain form, with what it cost and why", async ({ ask }) => {
    const { result } = await ask("message/send", {
      skill: "smart-routing",
      messages: [{ role: "user", content: "What is six times seven?" }],
      metadata: { model: "up/m" }
    })
    assert.strictEqual(result.task.state, "completed")
    assert.deepStrictEqual(result.artifacts, [{ type: "text", content: "Forty-two." }])
    const {
      cost_envelope: cost,
      policy_verdict: verdict,
      resilience_trace: trace,
      routing_explanation: why
    } = result.metadata
    assert.strictEqual(cost.currency, "USD")
    assert.isTrue(verdict.allowed)
    assert.strictEqual(trace[0].provider, "up")
    assert.strictEqual(trace[0].event, "completed")
    assert.isString(why)
    const again = await ask("tasks/get", { id: result.task.id })
    assert.deepStrictEqual(again.result, result)
    const listed = await ask("message/send", {
      skill: "list-capabilities",
      messages: [{ role: "user", content: "?" }]
    })
    const [{ content }] = listed.result.artifacts
    for (const id of skillIds) assert.include(content, `/skills/${id}/SKILL.md`)
  })

  scenario("says that a request failed, and what was tried", async ({ ask, upstream }) => {
    upstream.always(FakeUpstream.json({ error: { message: "no" } }, { status: 500 }))
    const { result } = await ask("message/send", message("Hello", { metadata: { model: "up/m" } }))
    assert.strictEqual(result.status.state, "failed")
    assert.isAbove(result.status.message.parts[0].text.length, 1)
    assert.isAbove(result.metadata.resilience_trace.length, 0)
    assert.deepStrictEqual(result.artifacts, [])
  })

  scenario("cancels a task that goes on, and forgets none of it", async ({ ask, upstream }) => {
    upstream.always(() => {})
    const begun = await ask("message/send", {
      ...message("up/m hangs", { metadata: { model: "up/m" } }),
      configuration: { blocking: false }
    })
    const { id, status } = begun.result
    assert.include(["submitted", "working"], status.state)
    const cancelled = await ask("tasks/cancel", { id })
    assert.strictEqual(cancelled.result.status.state, "canceled")
    const twice = await ask("tasks/cancel", { id })
    assert.strictEqual(twice.error.code, -32_002)
  })

  scenario(
    "keeps the reports about the gateway from keys that do not manage it",
    async ({ ask, gateway: { manage } }) => {
      const { secret } = await manage("POST", "/api/keys", { name: "plain" })
      const plain = { authorization: `Bearer ${secret}` }
      for (const skill of ["quota-management", "provider-discovery", "health-report"]) {
        const { result } = await ask("message/send", message(skill), plain)
        assert.strictEqual(result.status.state, "rejected", skill)
        assert.isFalse(result.metadata.policy_verdict.allowed)
        assert.match(result.metadata.policy_verdict.reason, /manage/)
      }
      // What a key may not do on the inference routes, it may not have the agent do.
      const limited = await manage("POST", "/api/keys", { name: "limited", allowedEndpoints: ["agents"] })
      const once = await manage("POST", "/api/keys", { name: "once", rateLimits: [{ limit: 1, window: 3_600 }] })
      const stateFor = async (secret: string): Promise<string> => {
        const { result } = await ask("message/send", message("smart-routing"), { authorization: `Bearer ${secret}` })
        return `${result.status.state} ${JSON.stringify(result)}`
      }
      assert.match(await stateFor(limited.secret), /^rejected .*allowedEndpoints/)
      assert.match(await stateFor(once.secret), /^completed/)
      assert.match(await stateFor(once.secret), /^failed .*may send 1 request in 3600 seconds/)
      const own = await ask("message/send", message("cost-analysis"), plain)
      assert.match(own.result.artifacts[0].parts[0].text, /Use of this key/)
      const { result } = await ask("message/send", message("list-capabilities"), plain)
      const foreign = await ask("tasks/get", { id: result.id })
      assert.strictEqual(foreign.error.code, -32_001)
    }
  )

  scenario("refuses what is wrong in the caller's own format", async ({ ask, gateway: { manage, post, url }, rpc }) => {
    const code = async (answer: Promise<Response>): Promise<readonly [number, number]> => {
      const response = await answer
      const { error } = (await response.json()) as { readonly error: { readonly code: number } }
      return [response.status, error.code]
    }
    assert.deepStrictEqual(await code(post("/a2a", "{", admin)), [400, -32_700])
    assert.deepStrictEqual(await code(rpc([])), [400, -32_600])
    const asked = { jsonrpc: "2.0", id: "seven", method: "tasks/get", params: {} }
    for (const [status, asks, headers] of [
      [401, "seven", { authorization: `Bearer ${formatKey(new Uint8Array(32))}` }],
      // A page of another site is refused before its body is read, while no key is required.
      [403, undefined, { ...admin, origin: "https://evil.example" }],
      [415, "seven", { ...admin, "content-type": "text/plain" }]
    ] as const) {
      const response = await post("/a2a", asked, headers)
      const { id } = (await response.json()) as { readonly id: unknown }
      assert.deepStrictEqual([response.status, id], [status, asks])
    }
    assert.deepStrictEqual(await code(rpc({ jsonrpc: "1.0", id: 1, method: "message/send" })), [400, -32_600])
    assert.deepStrictEqual(await code(rpc({ jsonrpc: "2.0", id: 1, method: "tasks/list" })), [200, -32_601])
    assert.strictEqual((await ask("tasks/pushNotificationConfig/set", {})).error.code, -32_003)
    for (const params of [
      {},
      { messages: [] },
      { messages: [{ role: "user" }] },
      { skill: "smart-rooting", messages: [{ role: "user", content: "?" }] },
      { message: "hello" },
      { message: { role: "user", parts: [] } },
      { message: { role: "agent", parts: [{ kind: "text", text: "?" }] } },
      message("hello", { contextId: 7 })
    ]) {
      const { error } = await ask("message/send", params)
      assert.strictEqual(error.code, -32_602, JSON.stringify(params))
      assert.isBelow(error.message.length, 300)
    }
    const file = await ask("message/send", { message: { role: "user", parts: [{ kind: "file", file: { uri: "x" } }] } })
    assert.strictEqual(file.error.code, -32_005)
    // Notifications are taken and not acted on; a batch is answered in its order.
    assert.strictEqual((await rpc({ jsonrpc: "2.0", method: "message/send", params: message("hello") })).status, 202)
    const batch = (await (
      await rpc([
        { jsonrpc: "2.0", id: 1, method: "tasks/get", params: { id: "none" } },
        { jsonrpc: "2.0", method: "tasks/get", params: {} },
        { jsonrpc: "2.0", id: 2, method: "message/send", params: message("list-capabilities") },
        { jsonrpc: "2.0", id: 3, method: "message/stream", params: message("list-capabilities") }
      ])
    ).json()) as ReadonlyArray<{ readonly id: number; readonly error?: { readonly code: number } }>
    assert.deepStrictEqual(
      batch.map(({ error, id }) => [id, error?.code ?? 0]),
      [
        [1, -32_001],
        [2, 0],
        [3, -32_004]
      ]
    )
    const huge = await fetch(`${url}/a2a`, {
      method: "POST",
      headers: { ...admin, "content-type": "application/json" },
      body: JSON.stringify({ jsonrpc: "2.0", id: 1, method: "message/send", params: message("x".repeat(5_000_000)) })
    })
    assert.strictEqual(huge.status, 413)
    const foreign = { ...admin, origin: "https://evil.example" }
    assert.strictEqual((await rpc({ jsonrpc: "2.0", id: 1, method: "tasks/get" }, foreign)).status, 403)
    await manage("PATCH", "/api/settings", { a2aEnabled: false })
    assert.deepStrictEqual(await code(rpc({ jsonrpc: "2.0", id: 1, method: "tasks/get" })), [503, -32_000])
  })

  scenario("shows its card under the address that was asked", async ({ gateway: { manage, url } }) => {
    for (const path of ["/.well-known/agent-card.json", "/.well-known/agent.json"]) {
      const answer = await fetch(url + path)
      assert.strictEqual(answer.headers.get("cache-control"), "public, max-age=3600")
      const card = (await answer.json()) as {
        readonly url: string
        readonly skills: ReadonlyArray<{ readonly id: string }>
      }
      assert.strictEqual(card.url, `${url}/a2a`)
      assert.deepStrictEqual(
        card.skills.map(({ id }) => id),
        [...agentSkillIds]
      )
    }
    const status = await manage("GET", "/api/a2a/status")
    assert.isTrue(status.enabled)
    assert.strictEqual(status.tasks.working, 0)
  })
})
