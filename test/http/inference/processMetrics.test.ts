/** What `/metrics` says of the process: streams that are open, timers, fibers and the event loop. */
import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import { eventually } from "../../support/eventually.ts"
import * as Fake from "../../support/FakeUpstream.ts"
import * as TestGateway from "../../support/TestGateway.ts"
import * as Ws from "../ws/support.ts"

const setUp = Effect.gen(function* () {
  const gateway = yield* TestGateway.start()
  const upstream = yield* Fake.start
  yield* Effect.promise(() => gateway.connect("up", upstream, "chat"))
  const figure = async (name: string): Promise<number> => {
    const page = await (await fetch(`${gateway.url}/metrics`)).text()
    const value = new RegExp(`^${name} (\\S+)$`, "m").exec(page)?.[1]
    return value === undefined ? assert.fail(`${name} is not on the page`) : Number(value)
  }
  const openStreams = () => figure("gateway_open_streams")
  return {
    gateway,
    upstream,
    figure,
    openStreams,
    /** Sockets close a little after the client has what it wanted. */
    quiet: () => eventually("all streams to be closed", openStreams, (open) => open === 0)
  }
})

type Scene = Effect.Effect.Success<typeof setUp>
const scene = (name: string, play: (scene: Scene) => Promise<void>) =>
  it.scopedLive(name, () => Effect.flatMap(setUp, (given) => Effect.promise(() => play(given))))

/** A stream that has begun and waits. */
const held = () => {
  const latch = Fake.makeLatch()
  const [head, first, ...rest] = Fake.chatStream(["Well", "!"])
  return { latch, answer: Fake.sse([head ?? "", first ?? "", latch, ...rest]) }
}

const ask = (stream: boolean) => ({ model: "up/m", stream, messages: [{ role: "user", content: "Hi" }] })
const path = "/v1/chat/completions"

describe("open streams", () => {
  scene("from the first piece to the last", async ({ gateway, openStreams, quiet, upstream }) => {
    const { answer, latch } = held()
    upstream.always(answer)
    assert.strictEqual(await openStreams(), 0)
    const answers = await Promise.all([gateway.post(path, ask(true)), gateway.post(path, ask(true))])
    assert.strictEqual(await openStreams(), 2)
    latch.open()
    for (const one of answers) assert.include(await one.text(), "[DONE]")
    await quiet()
  })

  scene("until the client leaves", async ({ gateway, openStreams, quiet, upstream }) => {
    upstream.always(held().answer)
    const leaving = new AbortController()
    await gateway.post(path, ask(true), {}, leaving.signal)
    assert.strictEqual(await openStreams(), 1)
    leaving.abort()
    await quiet()
  })

  scene("a whole answer is none", async ({ gateway, openStreams, upstream }) => {
    const arrived = Fake.makeLatch()
    const looked = Fake.makeLatch()
    upstream.always(async (response, request) => {
      arrived.open()
      await looked.opened
      await Fake.json(Fake.chatCompletion({ text: "Hello" }))(response, request)
    })
    const answer = gateway.post(path, ask(false))
    await arrived.opened
    assert.strictEqual(await openStreams(), 0)
    looked.open()
    assert.strictEqual((await answer).status, 200)
    assert.strictEqual(await openStreams(), 0)
  })

  it.scopedLive("over a socket, too", () =>
    Effect.gen(function* () {
      const { gateway, openStreams, quiet, upstream } = yield* setUp
      const { answer, latch } = held()
      upstream.always(answer)
      const client = yield* Ws.open(gateway)
      yield* Effect.promise(async () => {
        assert.strictEqual(await openStreams(), 0)
        client.send(Ws.create())
        await client.next()
        assert.strictEqual(await openStreams(), 1)
        latch.open()
        await client.turn()
        await quiet()
        upstream.always(held().answer)
        client.send(Ws.create())
        await client.next()
        assert.strictEqual(await openStreams(), 1)
        client.socket.terminate()
        await quiet()
      })
    })
  )
})

describe("the process", () => {
  scene("timers of a request live as long as it does", async ({ figure, gateway, quiet, upstream }) => {
    const { answer, latch } = held()
    upstream.always(answer)
    const base = await figure("gateway_live_timers")
    const open = await gateway.post(path, ask(true))
    assert.isAbove(await figure("gateway_live_timers"), base)
    latch.open()
    await open.text()
    await quiet()
    // The log is written a moment after the request is over.
    await eventually(
      "the timers of the request to be gone",
      () => figure("gateway_live_timers"),
      (live) => live <= base
    )
  })

  scene("fibers, resources and the event loop are there", async ({ figure }) => {
    assert.isAbove(await figure("gateway_fibers"), 0)
    assert.isAbove(await figure(String.raw`gateway_active_resources\{type="TCPServerWrap"\}`), 0)
    await eventually(
      "the delay of the event loop to be measured",
      () => figure("gateway_event_loop_delay_seconds").catch(() => null),
      (delay) => delay !== null
    )
  })
})
