import { assert, describe, it } from "@effect/vitest"
import { Listeners } from "../../../src/kernel/collections/Listeners.ts"
import type { Exchange } from "../../../src/plane/request/Exchange.ts"
import { type Landed, SearchFlight } from "../../../src/plane/search/SearchFlight.ts"

/** What a flight looks at of an exchange. */
const client = () => {
  const leaving = new Listeners()
  let closed = false
  const reply = { onClose: (listener: () => void) => leaving.add(listener), isClosed: () => closed }
  return {
    exchange: { reply } as unknown as Exchange,
    leave: () => {
      closed = true
      leaving.tell()
    }
  }
}

const flight = () => {
  const landed: Array<Landed | null> = []
  let abandoned = 0
  let left = 0
  const made = new SearchFlight(
    (answer) => void landed.push(answer),
    () => (abandoned += 1)
  )
  made.reply.onClose(() => (left += 1))
  return { made, landed, state: () => ({ abandoned, left }) }
}

describe("a search that several wait for", () => {
  it("goes on when the one who began it leaves", () => {
    const { landed, made, state } = flight()
    const [leader, follower] = [client(), client()]
    made.join(leader.exchange)
    made.join(follower.exchange)
    leader.leave()
    assert.deepStrictEqual(state(), { abandoned: 0, left: 0 })
    made.reply.head(200, ["A", "b"])
    made.reply.write(Buffer.from("{"))
    made.reply.end("}")
    assert.deepStrictEqual(landed, [{ status: 200, headers: ["A", "b"], body: "{}" }])
    assert.deepStrictEqual(made.take(), [follower.exchange])
  })

  it("ends when all have left, and is then no answer any more", () => {
    const { landed, made, state } = flight()
    const [one, two] = [client(), client()]
    made.join(one.exchange)
    made.join(two.exchange)
    one.leave()
    two.leave()
    assert.deepStrictEqual(state(), { abandoned: 1, left: 1 })
    made.reply.end("late")
    assert.deepStrictEqual(landed, [])
  })

  it("ends at once for a client that has left before it joined", () => {
    const { made, state } = flight()
    const gone = client()
    gone.leave()
    made.join(gone.exchange)
    assert.deepStrictEqual(state(), { abandoned: 1, left: 1 })
  })

  it("tells once that its answer was cut", () => {
    const { landed, made } = flight()
    made.join(client().exchange)
    made.reply.cut()
    made.reply.cut()
    made.reply.end("late")
    assert.deepStrictEqual(landed, [null])
  })
})
