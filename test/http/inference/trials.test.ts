/** Decisions, simulations and replays of a combo that is not stored; comparisons; and long ones as a stream of events. */
import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import { createConnection } from "node:net"
import * as Fake from "../../support/FakeUpstream.ts"
import * as TestGateway from "../../support/TestGateway.ts"

type Json = Record<string, any> // eslint-disable-line typescript/no-explicit-any -- tests read into answers as they please

const draft = {
  name: "tried",
  strategy: "weighted",
  targets: [
    { model: "one/m", weight: 3 },
    { model: "two/m", weight: 1 }
  ]
}

const setUp = Effect.gen(function* () {
  const gateway = yield* TestGateway.start()
  const upstreams = [yield* Fake.start, yield* Fake.start]
  yield* Effect.promise(async () => {
    for (const [index, name] of ["one", "two"].entries()) {
      const upstream = upstreams[index]
      if (upstream === undefined) continue
      upstream.always(Fake.json(Fake.chatCompletion({ text: name })))
      await gateway.connect(name, upstream, "chat")
    }
  })
  const post = async (path: string, body: unknown, headers: Record<string, string> = {}) => {
    const response = await fetch(`${gateway.url}${path}`, {
      method: "POST",
      headers: { authorization: `Bearer ${TestGateway.adminKey}`, "content-type": "application/json", ...headers },
      body: JSON.stringify(body)
    })
    const text = await response.text()
    const isJson = (response.headers.get("content-type") ?? "").startsWith("application/json")
    return {
      status: response.status,
      type: response.headers.get("content-type"),
      text,
      json: isJson ? (JSON.parse(text) as Json) : {}
    }
  }
  const tryIt = (path: string, body: unknown, headers: Record<string, string> = {}) =>
    post(`/api/routing/${path}`, body, headers)
  const ask = async (model: string) => {
    const answer = await post("/v1/chat/completions", { model, messages: [{ role: "user", content: "Hi" }] })
    assert.strictEqual(answer.status, 200, answer.text)
  }
  return { gateway, post, tryIt, ask }
})

type Scene = Effect.Effect.Success<typeof setUp>
const scene = (name: string, play: (scene: Scene) => Promise<void>) =>
  it.scopedLive(name, () => Effect.flatMap(setUp, (given) => Effect.promise(() => play(given))), 60_000)

const events = (text: string): ReadonlyArray<readonly [string, Json]> =>
  text
    .split("\n\n")
    .filter((block) => block !== "")
    .map((block) => {
      const [, name = "", data = "{}"] = /^event: (.*)\ndata: (.*)$/.exec(block) ?? []
      return [name, JSON.parse(data)] as const
    })

const simulation = { requests: 500, seed: 3, errors: { one: 0.1 }, latency: { "*": [300, 900] } }

describe("a combo that is not stored", () => {
  scene("has the same figures before as after it is stored", async ({ ask, gateway, post, tryIt }) => {
    for (let count = 0; count < 30; count += 1) await ask("one/m")
    const explained = { body: { messages: [{ role: "user", content: "Hi" }] }, seed: 42 }
    const replayed = { sinceMs: 3_600_000, seed: 5 }
    const of = async (which: Json) => ({
      decision: (await tryIt("explain", { ...which, ...explained })).json["decision"],
      simulation: (await tryIt("simulate", { ...which, ...simulation })).json["simulation"],
      replay: (await tryIt("replay", { ...which, ...replayed })).json["replay"]
    })
    const before = await of({ combo: draft })
    const missing = await tryIt("simulate", { model: "tried", ...simulation })
    assert.strictEqual(missing.status, 404, "nothing was stored")
    const stored = await post("/api/combos", draft)
    assert.strictEqual(stored.status, 201, stored.text)
    const after = await of({ model: "tried" })
    assert.strictEqual(before.simulation.served, 500)
    assert.strictEqual(before.replay.replayed, 30)
    assert.isAbove(before.replay.moved, 0)
    assert.deepStrictEqual(after.simulation, before.simulation)
    assert.deepStrictEqual(after.replay, before.replay)
    // Of a decision the id of the request and of the combo are new each time.
    const steady = ({ combo: _combo, requestId: _id, ...decision }: Json) => decision
    assert.deepStrictEqual(steady(after.decision), steady(before.decision))

    // A change of what is stored: by its name, and by its id.
    const changed = { ...draft, strategy: "priority" }
    const { id } = stored.json["combo"]
    const changes = [
      { combo: changed },
      { combo: { ...changed, id } },
      { combo: { id, name: "tried", strategy: "priority" } }
    ]
    const first = (await tryIt("simulate", { ...changes[0], ...simulation })).json["simulation"]
    assert.notDeepEqual(first, after.simulation)
    for (const change of changes) {
      assert.deepStrictEqual((await tryIt("simulate", { ...change, ...simulation })).json["simulation"], first)
    }
    await gateway.manage("PUT", `/api/combos/${id}`, changed)
    assert.deepStrictEqual((await tryIt("simulate", { model: "tried", ...simulation })).json["simulation"], first)
  })

  scene("may be reached by another id, and refers to what is stored", async ({ gateway, tryIt }) => {
    await gateway.manage("POST", "/api/combos", { name: "inner", targets: [{ model: "two/m" }] })
    await gateway.manage("POST", "/api/combos", { name: "outer", targets: [{ model: "combo:inner" }] })
    const change = { name: "inner", targets: [{ model: "one/m" }] }
    const outer = await tryIt("simulate", { model: "outer", combo: change, requests: 10 })
    assert.strictEqual(outer.status, 200, outer.text)
    assert.strictEqual(outer.json["simulation"].targets[0].provider, "one")
    const wrapping = await tryIt("simulate", {
      combo: { name: "w", targets: [{ model: "combo:inner" }] },
      requests: 10
    })
    assert.strictEqual(wrapping.json["simulation"].targets[0].provider, "two")
  })

  scene("is refused for what would refuse it when it is stored, with its field", async ({ gateway, post, tryIt }) => {
    await gateway.manage("POST", "/api/combos", { name: "there", targets: [{ model: "one/m" }] })
    const wrong: ReadonlyArray<Json> = [
      { name: "w", strategy: "best" },
      { name: "w", targets: [{ model: "nobody/m" }] },
      { name: "w", targets: [{ model: "combo:none" }] },
      { name: "w", targets: [{ model: "combo:w" }] },
      { name: "auto", targets: [{ model: "one/m" }] },
      { name: "w", targets: [{ model: "one/m", weight: -1 }] },
      { name: "w", targets: [{ model: "one/m" }], config: { explorationRate: 7 } },
      { name: "w", target: [] },
      { targets: [{ model: "one/m" }] },
      { name: "there", targets: [{ model: "combo:there" }] }
    ]
    for (const combo of wrong) {
      const exists = combo["name"] === "there"
      const id = exists ? (await gateway.manage("GET", "/api/combos")).combos[0].id : ""
      const stored = exists
        ? await fetch(`${gateway.url}/api/combos/${id}`, {
            method: "PUT",
            headers: { authorization: `Bearer ${TestGateway.adminKey}`, "content-type": "application/json" },
            body: JSON.stringify(combo)
          })
        : { status: (await post("/api/combos", combo)).status }
      for (const path of ["explain", "simulate", "replay"]) {
        const tried = await tryIt(path, { combo, ...(path === "replay" ? { sinceMs: 1_000 } : {}) })
        assert.strictEqual(tried.status, stored.status, `${path} ${JSON.stringify(combo)}: ${tried.text}`)
        assert.isAtLeast(tried.status, 400)
        if (tried.status === 400) assert.match(String(tried.json["error"].param), /^combo\b/, tried.text)
      }
    }
    const nothing = await tryIt("simulate", {})
    assert.deepStrictEqual([nothing.status, nothing.json["error"].param], [400, "model"])
    const list = await gateway.manage("GET", "/api/combos")
    assert.deepStrictEqual(
      list.combos.map(({ name }: { readonly name: string }) => name),
      ["there"]
    )
  })
})

describe("a comparison", () => {
  scene("does the same with another one that is stored, and says the difference", async ({ ask, gateway, tryIt }) => {
    for (let count = 0; count < 10; count += 1) await ask("two/m")
    await gateway.manage("POST", "/api/combos", { ...draft, strategy: "priority" })
    const alone = (await tryIt("simulate", { model: "tried", ...simulation })).json["simulation"]
    const both = await tryIt("simulate", { combo: draft, compareWith: "tried", ...simulation })
    assert.strictEqual(both.status, 200, both.text)
    const { comparison, simulation: own } = both.json
    assert.deepStrictEqual(comparison.simulation, alone, "what is stored is compared, not what is tried")
    for (const name of ["served", "failed", "fallbacks", "calls", "p50Ms", "p95Ms", "costUsd"]) {
      assert.strictEqual(comparison.difference[name], own[name] - alone[name], name)
    }
    const replayed = await tryIt("replay", { model: "one/m", compareWith: "two/m", sinceMs: 3_600_000 })
    const { moved, replayed: count } = replayed.json["replay"]
    assert.deepStrictEqual([moved, count, replayed.json["comparison"].replay.moved], [10, 10, 0])
    assert.strictEqual(replayed.json["comparison"].difference.moved, 10)
    const unknown = await tryIt("simulate", { model: "tried", compareWith: "nobody", requests: 1 })
    assert.strictEqual(unknown.status, 404)
  })
})

const asEvents = { accept: "text/event-stream" }

describe("as a stream", () => {
  scene("says how far it is, and then the same as without one", async ({ ask, tryIt }) => {
    await ask("one/m")
    const asked = { combo: draft, ...simulation, requests: 20_000, burst: 1_000 }
    const whole = await tryIt("simulate", asked)
    const streamed = await tryIt("simulate", asked, asEvents)
    assert.deepStrictEqual([streamed.status, streamed.type], [200, "text/event-stream"])
    const told = events(streamed.text)
    assert.deepStrictEqual(told.at(-1), ["result", whole.json])
    assert.isAtLeast(told.length, 2)
    let before = -1
    for (const [name, { done, total }] of told.slice(0, -1)) {
      assert.deepStrictEqual([name, total], ["progress", 20_000])
      assert.isAtLeast(done, before)
      before = done
    }
    const replayed = events((await tryIt("replay", { combo: draft, sinceMs: 3_600_000 }, asEvents)).text)
    assert.deepStrictEqual(
      replayed.map(([name]) => name),
      ["progress", "result"]
    )
    assert.strictEqual(replayed.at(-1)?.[1]["replay"].replayed, 1)
  })

  scene("has the status of what stands in its way", async ({ tryIt }) => {
    for (const [body, status] of [
      [{ model: "nobody" }, 404],
      [{ combo: { name: "w", targets: [{ model: "nobody/m" }] } }, 400],
      [{ model: "one/m", errors: { nobody: 1 } }, 400],
      [{ model: "one/m", requests: 1_000_000 }, 400]
    ] as const) {
      const refused = await tryIt("simulate", body, asEvents)
      assert.strictEqual(refused.status, status, refused.text)
      assert.match(String(refused.type), /^application\/json/)
    }
  })

  scene("ends when its client leaves, so that the next one has its turn", async ({ gateway, tryIt }) => {
    const long = JSON.stringify({ combo: draft, requests: 100_000, errors: { "*": 0.5 }, burst: 1_000 })
    const startedMs = performance.now()
    for (const accept of ["text/event-stream", "application/json"]) {
      const { hostname, port } = new URL(gateway.url)
      const socket = createConnection(Number(port), hostname)
      const first = new Promise<void>((resolve) => void socket.once("data", () => resolve()))
      socket.write(
        `POST /api/routing/simulate HTTP/1.1\r\nhost: ${hostname}:${port}\r\nauthorization: Bearer ${TestGateway.adminKey}\r\n` +
          `content-type: application/json\r\naccept: ${accept}\r\ncontent-length: ${Buffer.byteLength(long)}\r\n\r\n${long}`
      )
      if (accept === "text/event-stream") await first
      else await new Promise((done) => setTimeout(done, 50))
      socket.destroy()
    }
    // One runs at a time: this one waits for what is not left.
    const next = await tryIt("simulate", { combo: draft, requests: 10 })
    assert.strictEqual(next.status, 200)
    const tookMs = performance.now() - startedMs
    const wholeMs = performance.now()
    await tryIt("simulate", JSON.parse(long))
    assert.isBelow(tookMs, (performance.now() - wholeMs) / 2)
  })
})
